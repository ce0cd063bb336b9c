"""Scorers that are arithmetic: the same run gives the same score, offline, in milliseconds."""

__all__: list[str] = []
