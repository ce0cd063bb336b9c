"""Floor 1, scoring: given what happened, say what it is worth. Knows no runs, no stores, no screens."""

__all__: list[str] = []
