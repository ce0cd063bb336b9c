"""Floor 0, numbers: pure functions of numbers and texts. No I/O, no clock, no asyncio; heavy parts import inside."""

__all__: list[str] = []
