"""Floor 1, scorers that ask a judge: one idea a file, its prompts in the Markdown beside it.

Rule of the folder: what others wrote reaches the judge only through `ctx.fence`; lists are numbered, and an answer must
speak of each number once; with nothing to judge a scorer declines before anybody is asked. The arithmetic is a pure
function `formula(analysis, options)` of what the judge said, which never makes a number of what is missing.
"""

__all__: list[str] = []
