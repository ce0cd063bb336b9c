"""Floor 0, values: frozen dataclasses that everything speaks. Stdlib only; no I/O, no clock, no asyncio, no globals."""

__all__: list[str] = []
