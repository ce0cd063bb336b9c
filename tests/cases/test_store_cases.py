"""Cases D20, K06, R04 and Y07 over a store: what is in it, and what it says of a run, also of one under way."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from proctor import AgentReply, Eval, Item, Message, Store, Text, checks, resume, run_evals, scorer, start_evals
from proctor.data.cached_call import CachedCall
from proctor.data.judge import JudgeRecord
from proctor.data.outcome import Outcomes, RunSnapshot
from proctor.data.reply import ItemResult, Reply
from proctor.data.usage import Cost, Usage
from proctor.judging.cache import answered
from proctor.judging.request import CallRequest
from proctor.running.plan import make_plan
from proctor.running.record import Event
from proctor.storage.address import address_of
from proctor.storage.engine import make_engine, reading
from proctor.storage.schema import METADATA
from tests.cases.test_secret_cases import CONTEXT, SAID, SECRETS, options, shows_none
from tests.running.graded import until_done
from tests.storage.recorder_contract import ASKED, FAILED, JUDGED_OUTCOME


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


# ── K06 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def all_of(where):
    """Everything that a store holds: each cell of each table, and of a file its bytes, those of its log too."""
    address = address_of(where)
    engine = make_engine(address)
    async with reading(engine) as connection:
        rows = {table.name: (await connection.execute(select(table))).all() for table in METADATA.sorted_tables}
    await engine.dispose()
    assert [name for name, found in rows.items() if not found] == []
    files = [] if address.path is None else address.path.parent.glob(f"{address.path.name}*")
    return repr(rows) + "".join(file.read_bytes().decode("latin-1") for file in files)


@scorer(id="asks", version="1")
async def asks(run):
    """Sends a model all it knows, and is told it again."""

    async def ask():
        return CachedCall(raw_output=SAID, output={"headers": CONTEXT["headers"], "said": SAID}, finish_reason="stop")

    question = [{"role": "user", "content": f"Is this fair? {run.input} {run.text} {SECRETS['key']}"}]
    await answered(run.calls, CallRequest(model="judge", messages=question), call=ask)
    return 1.0


async def keep_a_judged_row(store):
    """A row of which each text that a judge's call has holds a secret."""
    asked = replace(ASKED, prompt=f"Rate this: {SAID}", raw_output=SAID, output={"said": SAID, **CONTEXT})
    failed = replace(FAILED, prompt=SAID, error={"message": f"401 for {CONTEXT!r}"})
    evidence = RunSnapshot(prompts={"analyze": SAID}, judge={"analyze": JudgeRecord((asked, failed))}, reason=SAID)
    judged = Outcomes([replace(JUDGED_OUTCOME, evidence=evidence, reason=SAID)])
    row = ItemResult(item=Item("x", id="judged"), item_id="judged", replies=(Reply(SAID),), scorers=judged)
    recorder = store.recorder()
    await recorder.start(make_plan(Eval(**options())))
    await recorder.put(Event(("judged", 0), row))
    await recorder.flush()


async def test_k06_a_store_holds_no_secret(where):
    given = options(name=f"with {SECRETS['key']}", target_options={"headers": CONTEXT["headers"]})
    given["scorers"].append(asks)
    result = await run_evals(**given, store=where)
    assert result.items[0].scorers["asks"].score == 1.0
    store = Store(where)
    await store.threads().append("t", [Message("user", (Text(f"{SAID} {SECRETS['jwt']}"),))])
    await keep_a_judged_row(store)
    held = await all_of(where)
    assert [name for name, secret in SECRETS.items() if secret in held or secret.encode().hex() in held] == []
    assert held.count("secret removed: ") > 40
    async with store:
        shown = f"{await store.runs()} {await store.result(result.run)} {await store.row(result.run, 'raises')}"
    assert shows_none(shown)


# ── R04 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class Paid:
    """An agent whose answers cost something; it fails loudly when it is asked what it was asked before."""

    def __init__(self):
        self.asked = []

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        text = messages[-1].text
        assert text not in self.asked
        self.asked.append(text)
        return AgentReply(f"answer {text}", Usage(input_tokens=10, output_tokens=1), Cost(amount=0.25))


async def test_r04_tokens_cost_time_and_start_are_of_all_sittings(where):
    agent = Paid()
    evaluation = Eval(
        target=agent,
        data=[Item(f"q{n}", id=f"i{n}") for n in range(12)],
        scorers=[checks.includes("answer")],
        concurrency=1,
        store=where,
    )
    run = start_evals(evaluation)
    await until_done(run, 3)
    run.cancel()
    first = await run
    assert 3 <= len(first.items) < 12
    whole = await resume("latest", evaluation)
    assert sorted(agent.asked) == sorted(f"q{n}" for n in range(12))
    assert (whole.summary.tokens, whole.summary.cost.amount) == (132, 3.0)
    assert whole.summary.started_at == first.summary.started_at
    assert whole.summary.duration_ms > first.summary.duration_ms > 0
    async with Store(where) as store:
        info, kept = await store.run("latest"), await store.result("latest")
    assert (info.sittings, info.status, info.started_at) == (2, "complete", first.summary.started_at)
    assert info.spent_ms == pytest.approx(whole.summary.duration_ms)
    assert (kept.summary, kept.means) == (whole.summary, whole.means)


# ── Y07 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_y07_a_kept_run_says_where_it_comes_from(where):
    result = await run_evals(
        target=Paid(),
        data=[Item("x", id="a"), Item("y", id="b")],
        scorers=[(scorer(lambda run: 1, id="own", version="3"), 0.5)],
        target_options={"seed": 7, "api_key": SECRETS["key"]},
        store=where,
    )
    async with Store(where) as store:
        found = (await store.result("latest")).summary.provenance
    assert found == result.summary.provenance
    assert list(found) == [
        "proctor", "python", "platform", "packages", "git", "target", "scorers", "data", "options", "seeds",
    ]  # fmt: skip
    assert found["scorers"]["own"]["version"] == "3"
    assert (found["data"]["item_ids"], found["seeds"]) == (["a", "b"], {"target_options.seed": 7})


# ── D20 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def slowly(given):
    await asyncio.sleep(0.002)
    return given


async def test_d20_of_a_run_under_way_rows_that_ended_are_seen_whole(where):
    async def one(run):
        await asyncio.sleep(0.002)
        return 1.0

    run = start_evals(
        target=slowly,
        data=[Item(f"q{n}", id=f"i{n}") for n in range(100)],
        gates=[checks.includes("q")],
        scorers=[scorer(one, id=f"s{n}", version="1") for n in range(2)],
        concurrency=4,
        store=where,
    )
    await until_done(run, 10)
    ended, looks = 0, 0
    async with Store(where) as store:
        while ended < 100:
            page = await store.rows("latest", limit=100)
            before, ended = ended, sum(row.status == "done" for row in page.rows)
            assert ended >= before
            for found in [row for row in page.rows if row.status == "done"][-2:]:
                row = await store.row("latest", found.item_id)
                assert (row.status, len(row.replies), len(row.outcomes)) == ("done", 1, 3)
                looks += 1
    assert looks > 2
    assert (await run).status == "complete"
