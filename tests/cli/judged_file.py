"""An evals file with a judge that writes down each call, for tests of the command line."""

JUDGED = """
    from pathlib import Path

    from proctor import create_scorer
    from proctor.data.usage import Cost
    from proctor.judging.judge import Judge
    from proctor.judging.model import Price
    from proctor.scoring.steps import Prompt
    from proctor.testing import ScriptedModel
    from proctor.testing.replies import ScriptedReply

    CALLS = Path(__file__).with_name("calls")

    def reply(call):
        with CALLS.open("a") as file:
            file.write("judge\\n")
        return ScriptedReply(json={"score": 1}, cost=Cost(amount=0.5))

    def target(text):
        with CALLS.open("a") as file:
            file.write("target\\n")
        return text

    PRICE = Price(input_token=1e-6, output_token=4e-6, source="prices 1")
    model = ScriptedModel(reply, name="judge", price=PRICE, address="here")
    fair = create_scorer(id="fair", judge=Judge(model, instructions="Be exact.")).generate_score(
        Prompt("whether it is fair", create=lambda ctx: f"Judge {ctx.run.output!r}.")
    )
    desk = Eval(
        name="desk", data=[{"id": name, "output": name} for name in "abcd"], scorers=[(fair, 0.5)]
    )
    live = Eval(
        name="live", data=[{"id": name, "input": name} for name in "ab"], target=target, repeats=2, scorers=[fair],
        budget={"tokens": 9000},
    )
"""
