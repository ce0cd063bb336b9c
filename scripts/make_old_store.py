# ruff: noqa: INP001, S608 - a program; the tables are named here
"""Write a store of this version's schema, for the tests of all later versions: `python scripts/make_old_store.py`.

The file is made once for each schema, when it is final, and never again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]


def main() -> None:
    """Run the old evaluation twice: as far as it goes, and until it is stopped."""
    from proctor import run_evals_sync
    from proctor.storage.migrations import VERSION
    from tests.storage.old_stores import FOLDER, Agent, evaluation, stopped

    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"schema-{VERSION}.db"
    path.unlink(missing_ok=True)
    run_evals_sync(**evaluation(Agent()), store=path)
    asyncio.run(stopped(path))
    database = sqlite3.connect(path)
    database.execute("UPDATE proctor_eval SET name = 'old-whole-1' WHERE status = 'complete'")
    database.execute("UPDATE proctor_eval SET name = 'old-stopped-1' WHERE status <> 'complete'")
    database.execute("UPDATE proctor_sitting SET host = 'somewhere', pid = 1, pulse_at = '2026-01-01T00:00:00+00:00'")
    for table in ("reply", "outcome", "item"):
        for folder, shown in ((ROOT, "/proctor"), (Path(sys.base_prefix), "/python"), (Path(sys.prefix), "/python")):
            database.execute(f"UPDATE proctor_{table} SET body = replace(body, ?, ?)", (str(folder), shown))
    database.execute("UPDATE proctor_item SET error = replace(error, ?, '/proctor')", (str(ROOT),))
    database.execute("UPDATE proctor_eval SET result = replace(result, ?, '/proctor')", (str(ROOT),))
    database.commit()
    database.execute("PRAGMA page_size=1024")
    database.execute("PRAGMA journal_mode=DELETE")  # one file
    database.execute("VACUUM")
    database.close()
    sys.stdout.write(f"{path}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
