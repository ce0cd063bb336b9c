"""Floor 1, judging: how a model is asked for a judgement. Knows no provider; calls go through what is handed in."""

__all__: list[str] = []
