"""Floor 1, prebuilt scorers under the documents' ids; those in `code/` need no model, those in `judged/` ask one.

Rule of the folder: one idea a file, a scorer imports no other, and what several of them need stands beside `code/`. A
scorer says `not_scorable` when there is nothing to compare with; it never gives 0 for what it could not measure.
"""

from proctor.scorers.code.completeness import completeness
from proctor.scorers.code.content_similarity import content_similarity
from proctor.scorers.code.edit_distance import edit_distance
from proctor.scorers.code.embedding_similarity import embedding_similarity
from proctor.scorers.code.exact_match import exact_match
from proctor.scorers.code.json_diff import json_diff
from proctor.scorers.code.keyword_coverage import keyword_coverage
from proctor.scorers.code.numeric_closeness import numeric_closeness
from proctor.scorers.code.rouge_l import rouge_l
from proctor.scorers.code.textual_difference import textual_difference
from proctor.scorers.code.token_f1 import token_f1
from proctor.scorers.code.tone import tone
from proctor.scorers.code.tool_call_accuracy import tool_call_accuracy
from proctor.scorers.judged.answer_relevancy import answer_relevancy
from proctor.scorers.judged.answer_similarity import answer_similarity
from proctor.scorers.judged.bias import bias
from proctor.scorers.judged.context_precision import context_precision
from proctor.scorers.judged.context_recall import context_recall
from proctor.scorers.judged.context_relevance import context_relevance
from proctor.scorers.judged.faithfulness import faithfulness
from proctor.scorers.judged.graded_rubric import graded_rubric
from proctor.scorers.judged.hallucination import hallucination
from proctor.scorers.judged.multi_turn_judge import multi_turn_judge
from proctor.scorers.judged.noise_sensitivity import noise_sensitivity
from proctor.scorers.judged.pairwise import PairwiseCounts, pairwise, pairwise_counts
from proctor.scorers.judged.panel import panel
from proctor.scorers.judged.pass_criteria import pass_criteria
from proctor.scorers.judged.prompt_alignment import prompt_alignment
from proctor.scorers.judged.rubric import rubric
from proctor.scorers.judged.summarization import summarization
from proctor.scorers.judged.tool_call_accuracy_llm import tool_call_accuracy_llm
from proctor.scorers.judged.toxicity import toxicity
from proctor.scorers.judged.trajectory_accuracy_llm import trajectory_accuracy_llm
from proctor.scorers.material import tool_results
from proctor.scoring.classifier import create_classifier_scorer
from proctor.scoring.classifier_parts import Classifier, ClassifierAnswer, ClassifierQuestion

__all__ = [
    "Classifier",
    "ClassifierAnswer",
    "ClassifierQuestion",
    "PairwiseCounts",
    "answer_relevancy",
    "answer_similarity",
    "bias",
    "completeness",
    "content_similarity",
    "context_precision",
    "context_recall",
    "context_relevance",
    "create_classifier_scorer",
    "edit_distance",
    "embedding_similarity",
    "exact_match",
    "faithfulness",
    "graded_rubric",
    "hallucination",
    "json_diff",
    "keyword_coverage",
    "multi_turn_judge",
    "noise_sensitivity",
    "numeric_closeness",
    "pairwise",
    "pairwise_counts",
    "panel",
    "pass_criteria",
    "prompt_alignment",
    "rouge_l",
    "rubric",
    "summarization",
    "textual_difference",
    "token_f1",
    "tone",
    "tool_call_accuracy",
    "tool_call_accuracy_llm",
    "tool_results",
    "toxicity",
    "trajectory_accuracy_llm",
]
