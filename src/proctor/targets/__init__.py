"""Floor 3, targets: one file for each kind of thing that can be tested. They do not know each other."""

__all__: list[str] = []
