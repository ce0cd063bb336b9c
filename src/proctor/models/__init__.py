"""Floor 3, models: what is foreign becomes a `JudgeModel` here, and is imported when it is asked for, not before.

An adapter: it imports no sibling floor, and no face. Nothing here tries a call again: that is one floor's work, below.
"""

__all__: list[str] = []
