"""Floor 1, prebuilt scorers under the documents' ids; those in `code/` need no model.

Rule of the folder: one idea a file, a scorer imports no other, and what several of them need stands beside `code/`. A
scorer says `not_scorable` when there is nothing to compare with; it never gives 0 for what it could not measure.
"""

from proctor.scorers.code.completeness import completeness
from proctor.scorers.code.content_similarity import content_similarity
from proctor.scorers.code.edit_distance import edit_distance
from proctor.scorers.code.exact_match import exact_match
from proctor.scorers.code.json_diff import json_diff
from proctor.scorers.code.keyword_coverage import keyword_coverage
from proctor.scorers.code.numeric_closeness import numeric_closeness
from proctor.scorers.code.rouge_l import rouge_l
from proctor.scorers.code.textual_difference import textual_difference
from proctor.scorers.code.token_f1 import token_f1
from proctor.scorers.code.tone import tone
from proctor.scorers.code.tool_call_accuracy import tool_call_accuracy

__all__ = [
    "completeness",
    "content_similarity",
    "edit_distance",
    "exact_match",
    "json_diff",
    "keyword_coverage",
    "numeric_closeness",
    "rouge_l",
    "textual_difference",
    "token_f1",
    "tone",
    "tool_call_accuracy",
]
