"""Cases R01 and R02: runs in a store, killed at random moments, pay for nothing twice but what was under way."""

import pytest

from tests.storage.killed import CONCURRENCY
from tests.storage.kills import judge_calls, run_and_kill_many, uninterrupted

pytestmark = pytest.mark.slow
SEEDS = range(30)
UNDER_WAY = 3 * CONCURRENCY  # the judges of each row at work: a call is over when its commit has been told


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return uninterrupted(tmp_path_factory.mktemp("whole"))


def test_r01_r02_thirty_killed_runs_in_files(whole, tmp_path):
    runs = run_and_kill_many(lambda seed, folder: f"store:{folder / 'x.db'}", tmp_path, seeds=SEEDS)
    assert len(runs) == len(SEEDS)
    for run in runs:
        judge_calls(run, whole, lost=UNDER_WAY)


def test_r01_r02_thirty_killed_runs_in_postgresql(whole, postgres, tmp_path):
    postgres.start()
    names = {seed: postgres.database() for seed in SEEDS}
    try:
        runs = run_and_kill_many(lambda seed, folder: f"store:{postgres.url(names[seed])}", tmp_path, seeds=SEEDS)
    finally:
        for name in names.values():
            postgres.drop(name)
    assert len(runs) == len(SEEDS)
    for run in runs:
        judge_calls(run, whole, lost=UNDER_WAY)


def test_r01_a_run_that_is_killed_three_times(whole, tmp_path):
    runs = run_and_kill_many(lambda seed, folder: f"store:{folder / 'x.db'}", tmp_path, seeds=range(4), kills=3)
    for run in runs:
        judge_calls(run, whole, lost=UNDER_WAY)
