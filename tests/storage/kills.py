"""Runs that are killed and gone on with, and what must hold of them: only what was under way is paid for twice."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic, sleep

from proctor.data.result import EvalResult
from tests.storage.killed import AT_MOST_S, CONCURRENCY, SIGNED, attempts
from tests.support import ROOT

AT_ONCE = 2


@dataclass(kw_only=True)
class KilledRun:
    """A run that came to its end after so many kills. *lines*: of its log, `[sitting, word, ...]`."""

    where: str
    kills: int
    lines: list
    result: EvalResult


class Server:
    """Forks a process for each sitting."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.storage.killed"],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self):
        assert self._process.stdout.readline() == "ready\n"

    def start(self, **sitting):
        self._process.stdin.write(json.dumps(sitting) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def ended(self):
        """Wait for the process: its exit code, or minus the signal."""
        self._process.stdin.write("wait\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@contextmanager
def serving():
    server = Server()
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.close()


def run_and_kill(server, where, folder, *, seed, kills=1):
    """Kill a run at random moments, so many times, and let it come to its end.

    A moment is a number of lines of the log and some microseconds: it falls within the run on any machine.
    """
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    log, said, result = folder / "log", folder / "log.said", folder / "result.json"
    left, before = 200, 0
    for number in range(kills + 1):
        sitting = {"where": where, "number": number, "log": str(log), "result": str(result)}
        if number < kills:
            after = chance.randrange(1, max(left - 60, 2))
            process = server.start(**sitting, last=after + 30)
            until = monotonic() + AT_MOST_S
            while lines_in(log) - before < after and not lines_in(said) and monotonic() < until:
                sleep(0.0005)
            sleep(chance.random() * 0.003)
            os.kill(process, signal.SIGKILL)
        else:
            server.start(**sitting)
        code, expected = server.ended(), -signal.SIGKILL if number < kills else 0
        assert code == expected, f"sitting {number} ended with {code}: {said.read_text(encoding='utf-8')}"
        left, before = left - (lines_in(log) - before), lines_in(log)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    text = result.read_text(encoding="utf-8")
    return KilledRun(where=where, kills=kills, lines=lines, result=EvalResult.from_json(text))


def run_and_kill_many(where, folder, *, seeds, kills=1):
    """One run for each seed, some at a time. *where*: of a seed and its folder, where the run is kept."""

    def work(mine):
        with serving() as server:
            done = []
            for seed in mine:
                place = folder / f"seed{seed}"
                place.mkdir(parents=True)
                done.append(run_and_kill(server, where(seed, place), place, seed=seed, kills=kills))
            return done

    seeds = list(seeds)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [run for runs in pool.map(work, [seeds[n::AT_ONCE] for n in range(AT_ONCE)]) for run in runs]


def uninterrupted(folder):
    """The same evaluation, kept nowhere and left alone."""
    with serving() as server:
        return run_and_kill(server, "nothing:", folder, seed=0, kills=0)


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


# ── what must hold ─────────────────────────────────────────────────────────────────────────────────────────────────


def judge_calls(run, whole, *, lost=1, begun_anew=True):
    """Fail unless nothing is missing, nothing is there twice, and no call was made again but those under way at a kill.

    *whole*: the uninterrupted run. *lost*: how many calls that had ended may be made again after each kill, since their
    end was not recorded yet. *begun_anew*: conversations that broke off are begun anew, whatever they had paid for.
    """
    assert facts(run.result) == facts(whole.result)
    used = [call for row in run.result.items for call in calls_of(row)]
    twice = [call for call, times in Counter(used).items() if times > 1]
    assert not twice, f"one call stands for several: {twice}"
    begun = {line[2]: Call(line[0], *line[2:]) for line in run.lines if line[1] == "begin"}
    assert not set(used) - begun.keys(), "the result has what no call made"
    assert len(used) == sum(line[1] == "begin" for line in whole.lines), "calls are missing"
    ended = {line[2] for line in run.lines if line[1] == "end"}
    kept = {attempt for row in run.result.items for attempt in attempts(row)}
    scored = {call.attempt for call in begun.values() if call.what != "ask"}
    done = set()
    for sitting in range(run.kills + 1):
        done.update(*[line[2:] for line in run.lines if line[:2] == [sitting, "done"]])
        calls = [call for call in begun.values() if call.sitting == sitting]
        wasted = [call for call in calls if call.id not in used]
        assert not wasted or sitting < run.kills, f"the last sitting wasted {wasted}"
        under_way = {call.attempt for call in calls} - done
        assert len(under_way) <= (CONCURRENCY if sitting < run.kills else 0), f"more rows at once: {under_way}"
        assert not [call for call in wasted if call.attempt not in under_way], "a row that had ended was done again"
        dropped = [call for call in wasted if call.attempt not in kept and call.is_single and call.attempt in scored]
        assert not dropped, f"replies that were scored already were asked for again: {dropped}"
        needless = [
            call for call in wasted if call.id in ended and not (begun_anew and call.is_of_another_thread(kept))
        ]
        assert len(needless) <= lost, f"made again though they had ended: {needless}"


@dataclass(frozen=True)
class Call:
    """*of*: the questions it is about, `i3/0+i3/1`."""

    sitting: int
    id: str
    attempt: str
    what: str
    of: str

    @property
    def is_single(self):
        """Of a single question: its attempt is called after the agent's call, a conversation's after the thread."""
        return "." in self.attempt

    def is_of_another_thread(self, kept):
        return not self.is_single and self.attempt not in kept


def calls_of(row):
    """The paid calls that a row is made of."""
    for reply in row.replies:
        yield SIGNED.search(str(reply.error or reply.output))[2]
    for outcome in row.outcomes:
        if outcome.status != "not_run" and not outcome.key.startswith("check-"):
            signed = SIGNED.search(
                str(outcome.reason or getattr(outcome.cause, "message", None) or outcome.cause.reason)
            )
            assert signed[1] in attempts(row), f"{outcome.column} of {row} is a score of another reply: {signed}"
            yield signed[2]


def facts(result):
    """What is the same however often a run was interrupted: all but durations, and which calls it is made of."""
    summary = result.summary
    return {
        "status": (result.status, result.verdict, unsigned(result.sentence)),
        "summary": (
            *(summary.items, summary.errors, summary.failures, summary.outcome_errors),
            *(dict(summary.not_scorable.by_column), summary.usage, summary.cost),
        ),
        "means": [mean_facts(mean, unsigned(mean.sentence)) for mean in result.means],
        "tags": [[mean_facts(mean, "") for mean in tag.means] for tag in result.tags],
        "rows": [
            (row.item_id, row.repeat, row.index, row.status, [reply.usage for reply in row.replies], outcomes(row))
            for row in result.items
        ],
    }


def mean_facts(mean, sentence):
    declines = Counter()
    for reason, count in mean.declines:
        declines[unsigned(reason)] += count
    return replace(mean, duration_ms=None, sentence=sentence, declines=tuple(sorted(declines.items())))


def outcomes(row):
    return [(outcome.column, outcome.status, outcome.score, outcome.label) for outcome in row.outcomes]


def unsigned(text):
    return SIGNED.sub("[signed]", text)
