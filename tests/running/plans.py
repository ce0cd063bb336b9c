"""Plans for tests that speak to a recorder without a run."""

from proctor import Eval
from proctor.running.columns import read_cells
from proctor.running.plan import Plan, make_plan
from proctor.running.rows import RowMaker


def plan_of(evaluation: Eval | None = None) -> Plan:
    """The plan of an evaluation; of one without anything to score, which no run would take, the empty plan."""
    evaluation = evaluation or Eval(data=[])
    gates = read_cells(evaluation.gates, "gate", where="gates")
    scorers = read_cells(evaluation.scorers, "scorer", where="scorers")
    if isinstance(evaluation.data, list) and not evaluation.data:
        return Plan(evaluation, RowMaker(gates, scorers, has_target=evaluation.target is not None), None)
    return make_plan(evaluation)
