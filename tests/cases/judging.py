"""What the cases of judges have in common: a verdict, a scorer that asks for it, and a judge over HTTP."""

from typing import Literal

from pydantic import BaseModel

from proctor import Judge, Prompt, create_scorer


class Verdict(BaseModel):
    reason: str
    verdict: Literal["pass", "fail"]


def says(verdict, reason="So it is."):
    return {"reason": reason, "verdict": verdict}


def over_http(server, **options):
    """A judge whose model is this server."""
    return Judge("openai-chat:m", base_url=server.url, **({"instructions": "Was it polite?"} | options))


def verdict_scorer(judge, *, output=Verdict, create=lambda ctx: ctx.fence(ctx.run.text, "answer"), id="polite"):
    """Asks for a verdict in analyze; what there is to judge comes out of preprocess."""
    return (
        create_scorer(id=id, judge=judge)
        .preprocess(lambda ctx: {"length": len(ctx.run.text)})
        .analyze(Prompt("Judges it", output=output, create=create))
        .generate_score(lambda ctx: ctx.analyze.verdict == "pass")
        .generate_reason(lambda ctx: ctx.analyze.reason)
    )


def saved(*outputs):
    return [{"id": f"item-{n}", "output": output} for n, output in enumerate(outputs, 1)]


def only(result):
    """The one outcome of a result."""
    (row,) = result.items
    (outcome,) = row.outcomes
    return outcome


def execution(outcome, step="analyze"):
    (found,) = outcome.judge[step].executions
    return found


def by_answer(replies):
    """A script that replies by a piece of anything that was asked, so that a second request gets the first reply."""

    def reply(request):
        asked = " ".join(str(message["content"]) for message in request.body["messages"])
        return next((given for piece, given in replies.items() if piece in asked), replies.get("*"))

    return reply
