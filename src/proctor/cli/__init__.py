"""Floor 4, the command line: parse, call one function of a floor below, show.

Rule of the folder: no decisions. What is found, what a run comes to and with which code the process ends is decided
below, so that pytest and scripts agree with the command. Only `main.py` imports the others, each when it is called.
"""

__all__: list[str] = []
