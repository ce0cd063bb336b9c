"""Floor 2, running: produce, score, decide. Knows protocols, never what implements them."""

__all__: list[str] = []
