"""A PostgreSQL of the tests' own: made in a temporary folder, reached on the loopback address, gone when they end.

Run as a program, says where the server's programs are; exits with 1 when there are none of version 15 or newer.
"""

import asyncio
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OLDEST = 15
USER = "proctor"
PROGRAMS = ("initdb", "pg_ctl")
SETTINGS = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
full_page_writes = off
autovacuum = off
shared_buffers = 32MB
max_connections = 100
log_min_messages = fatal
"""


def programs():
    """The folder of the newest server's programs; None when there is none, or none that is new enough."""
    on_path = [shutil.which(name) for name in PROGRAMS[:1]]
    folders = {Path(found).resolve().parent for found in on_path if found}
    folders.update(Path("/usr/lib/postgresql").glob("*/bin"))
    whole = [folder for folder in folders if all((folder / name).exists() for name in PROGRAMS)]
    newest = max(whole, key=version, default=None)
    return newest if newest and version(newest) >= OLDEST else None


def version(folder):
    """`initdb (PostgreSQL) 15.18 (Debian ...)` is 15."""
    said = subprocess.run([folder / "initdb", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"\) (\d+)", said)
    return int(found[1]) if found else 0


class Postgres:
    """A server with one user, whose password is asked for. `url(name)`: the address of a database."""

    def __init__(self, folder):
        self._programs = folder
        self._home = Path(tempfile.mkdtemp(prefix="proctor-postgres-"))
        self._data = self._home / "data"
        self._databases = 0
        self.password = secrets.token_urlsafe(12)
        self.port = free_port()
        self.running = False
        self._who = other_user()
        try:
            self._make()
            self.start()
        except BaseException:
            self.remove()
            raise

    def _make(self):
        password = self._home / "password"
        password.write_text(self.password, encoding="ascii")
        if self._who:
            for path in (self._home, password):
                shutil.chown(path, **self._who)
        access = ["--username", USER, "--auth", "scram-sha-256", "--pwfile", password]
        self._run("initdb", "--pgdata", self._data, *access, "--encoding", "UTF8", "--locale", "C", "--no-sync")
        with (self._data / "postgresql.conf").open("a", encoding="ascii") as file:
            file.write(SETTINGS)

    def start(self):
        """Start the server, or nothing when it runs: it has the same port and the same data as before."""
        if self.running:
            return
        log = self._home / "log"
        options = ["--pgdata", self._data, "--log", log, "--options", f"-p {self.port}", "--wait", "--silent"]
        try:
            self._run("pg_ctl", "start", *options)
        except RuntimeError as error:
            said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            raise RuntimeError(f"{error}\n{said}") from None
        self.running = True

    def stop(self, mode="fast"):
        """Stop the server. *mode*: `fast` ends its connections; `immediate` is as if it had crashed."""
        if self.running:
            self._run("pg_ctl", "stop", "--pgdata", self._data, "--mode", mode, "--wait", "--silent")
            self.running = False

    def url(self, database="postgres", *, scheme="postgresql"):
        return f"{scheme}://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def database(self, like="template0"):
        """The name of a new database: an empty one, or a copy of another, to which nobody may be connected."""
        self._databases += 1
        name = f"test_{self._databases}"
        self._tell(f'CREATE DATABASE "{name}" TEMPLATE "{like}" STRATEGY FILE_COPY')  # several times as fast
        return name

    def drop(self, database):
        """Take a database away, whoever is connected to it."""
        self.start()
        self._tell(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')

    def remove(self):
        """Stop the server, and leave nothing."""
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self._home, ignore_errors=True)

    def _tell(self, command):
        """In a thread, since whoever asks may be in a loop; over a connection, which is sooner there than a program."""
        import asyncpg  # which this file does without as a program

        async def execute():
            connection = await asyncpg.connect(self.url())
            try:
                await connection.execute(command)
            finally:
                await connection.close()

        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, execute()).result()

    def _run(self, program, *arguments):
        """Into a file, not a pipe: the server that `pg_ctl` leaves behind would keep a pipe open."""
        with tempfile.TemporaryFile() as said:
            ended = subprocess.run(
                [self._programs / program, *arguments],
                cwd=self._home,
                env={**os.environ, "PGPASSWORD": self.password, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=False,
                **({**self._who, "extra_groups": []} if self._who else {}),
            )
            if ended.returncode:
                said.seek(0)
                raise RuntimeError(f"{program} failed: {said.read().decode(errors='replace').strip()}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def other_user():
    """Whom to be instead of root, for whom the server does not run; None for everyone else."""
    if os.geteuid() != 0:
        return None
    import grp
    import pwd

    users = {user.pw_name: user for user in pwd.getpwall()}
    user = users.get("postgres") or users["nobody"]
    return {"user": user.pw_name, "group": grp.getgrgid(user.pw_gid).gr_name}


if __name__ == "__main__":
    print(programs() or f"no PostgreSQL {OLDEST} or newer")
    sys.exit(programs() is None)
