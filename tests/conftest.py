import asyncio
import os
import platform
import signal
import threading
from collections.abc import Iterator

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.golden.replay import replayed
from tests.postgres import Postgres, programs
from tests.support import ROOT, missing, shared_root

# A loaded machine is slow, not wrong.
settings.register_profile("proctor", deadline=None)
settings.load_profile("proctor")


# Started in the background of a script it has Ctrl-C ignored, and so has every process that a test starts.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MOST_WORKERS = 6


def pytest_report_header() -> str:
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    without = f"not found: tests that need it {'fail' if os.environ.get('CI') == 'true' else 'are skipped'}"
    shared, postgres = shared_root(), programs()
    return f"proctor: {machine}; shared data {'found' if shared else without}; PostgreSQL {postgres or without}"


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, as the next but one
def pytest_xdist_auto_num_workers() -> int:
    """What `-n auto` is: a single core is shared with nobody, and many would wait for each other's databases."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS) if cores > 1 else 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    if is_worker(session.config):
        session.config.workeroutput["replayed"] = replayed


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    replayed.extend(getattr(node, "workeroutput", {}).get("replayed", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if replayed:
        terminalreporter.section("replayed cases of the reference")
        for line in sorted(replayed):
            terminalreporter.line(line)


def is_worker(config: pytest.Config) -> bool:
    """Whether this is one of several processes that share the tests."""
    return hasattr(config, "workerinput")


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, of this process alone; a test that stops it need not start it again."""
    found = programs()
    if found is None:
        missing("PostgreSQL")
    server = Postgres(found)
    yield server
    server.remove()


@pytest.fixture
def postgres_url(postgres):
    """The address of a new and empty database, with a password in it."""
    postgres.start()
    database = postgres.database()
    yield postgres.url(database)
    postgres.drop(database)


@pytest.fixture(scope="session")
def postgres_store(postgres):
    """The name of a database with the tables of a store, to be copied: sooner there than made for every test."""
    postgres.start()
    database = postgres.database()
    asyncio.run(make_tables(postgres.url(database)))
    return database


async def make_tables(url):
    from proctor.storage.address import address_of
    from proctor.storage.engine import make_engine
    from proctor.storage.migrations import migrate

    engine = make_engine(address_of(url))
    await migrate(engine, where=url)
    await engine.dispose()


@pytest.fixture
def store_url(postgres, postgres_store):
    """The address of a new store in PostgreSQL, with a password in it."""
    postgres.start()
    database = postgres.database(like=postgres_store)
    yield postgres.url(database)
    postgres.drop(database)


@pytest.fixture(autouse=True, scope="session")
def _no_runs_are_kept() -> Iterator[None]:
    """`proctor run` leaves nothing behind in the folder of a test, but where that is what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROCTOR_STORE", "none")
        yield


@pytest.hookimpl(tryfirst=True)  # before pytest looks at -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)
    if is_worker(config):
        items.sort(key=lambda item: LONGEST.get(place_of(item), len(LONGEST)))


def place_of(item: pytest.Item) -> str:
    """`storage/test_faults.py` of the tests, `docs/store.md`."""
    return item.path.relative_to(ROOT).as_posix().removeprefix("tests/")


# The files that take longest, which several processes begin with: none is left alone with one of them at the end.
LONGEST = {
    place: at
    for at, place in enumerate([
        "real/test_judges_local.py", "injection/test_every_judge.py", "injection/test_forged_verdicts.py",
        "storage/test_store_kills.py", "test_tutorials.py", "storage/test_faults.py", "cases/test_code_scorer_cases.py",
        "storage/test_recorders.py", "docs/store.md", "docs/cli.md", "storage/test_memory.py",
        "cli/test_store_looking.py", "cli/test_progress.py", "storage/test_cache.py", "real/test_bfcl.py",
        "storage/test_jsonl_kills.py", "house/test_import_budget.py",
    ])
}  # fmt: skip


# These wait, for time limits, threads and loops to end, or run whole programs.
WAITING = {
    "cases", "checks/test_pattern.py", "checks/test_schema.py", "cli/test_run.py", "cli/test_run_options.py",
    "cli/test_store_runs.py", "cli/test_store_looking.py",
    "cli/test_score.py", "files/test_round_trips.py", "scoring/test_pipeline.py", "running/test_doors.py",
    "running/test_errors.py", "running/test_handle.py",
    "running/test_record.py", "running/test_retry.py", "running/test_stopping.py", "running/test_stream.py",
    "running/test_stream_ends.py", "running/test_timeouts.py", "running/test_going_on.py", "scorers/test_door.py",
    "stats", "test_bridge.py", "storage/test_address.py", "storage/test_cache.py", "storage/test_failing.py",
    "running/test_calls.py", "running/test_broken_conversations.py", "running/test_provenance.py",
    "running/test_environment.py", "running/test_listen.py", "running/test_tags.py", "cli", "storage", "files",
    "targets", "testing", "test_bridge_processes.py", "house/test_imports.py", "data/test_secrets.py",
}  # fmt: skip
# These take much to work on, or the database server.
MANY = ("linear", "megabytes", "backtracks", "long", "five_mb", "postgres")
# These start processes.
NEEDING = {"start_proctor", "postgres", "postgres_url", "store_url"}


def is_slow(item: pytest.Item) -> bool:
    """Whether `./check fast` leaves it out without being told: it tries many values or cases, or starts a process."""
    place = item.path.relative_to(ROOT)
    below_tests = place_of(item)
    return (
        place.suffix == ".md"
        or below_tests in WAITING
        or below_tests.partition("/")[0] in WAITING
        or any(word in item.name for word in MANY)
        or place.parts[:2] in {("tests", "golden"), ("tests", "real")}
        or not NEEDING.isdisjoint(getattr(item, "fixturenames", ()))
        or is_hypothesis_test(getattr(item, "obj", None))
    )
