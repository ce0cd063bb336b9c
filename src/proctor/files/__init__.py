"""Floor 3, files: one file for each format data comes in. They do not know each other."""

__all__: list[str] = []
