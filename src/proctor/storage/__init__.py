"""Floor 3, storage: where what was done is kept. Running knows the `Recorder` protocol only, and none of these."""

__all__: list[str] = []
