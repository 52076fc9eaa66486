"""A PostgreSQL server of the tests' own, in a temporary folder and on a free port."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

__all__ = ["Server", "running"]

_number = count(1)


class Server:
    """It syncs its disk, and lets everybody in."""

    def __init__(self, programs: Path, folder: Path, user: str | None) -> None:
        self.programs = programs
        self.folder = folder
        self.user = user
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C")
        self.start()

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """At once, as a crash."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def empty(self) -> str:
        """The address of a database without tables; whoever used it is cut off."""
        url = self.url("postgres")
        self.cut(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS rankduel CASCADE")
        return url

    def database(self, options: str = "") -> str:
        """The address of a new one, for tests that change its settings."""
        name = f"test{next(_number)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} {options}".encode())
        return self.url(name)

    def cut(self, database: str) -> int:
        """Cut all connections to a database; how many."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            found = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                (database.rpartition("/")[2],),
            )
            return len(found.fetchall())

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), "-D", str(self.folder / "data"), *arguments]
        who: dict[str, Any] = {} if self.user is None else {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid}
        with (self.folder / "said").open("w") as said:
            done = subprocess.run(
                command, stdout=said, stderr=said, cwd=self.folder, timeout=120, check=False, **who,
                extra_groups=[] if who else None,
            )  # fmt: skip
        assert done.returncode == 0, (self.folder / "said").read_text()


@contextmanager
def running() -> Iterator[Server]:
    """A server, or skip the test and say why."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    found = [path for path in [shutil.which("initdb"), *reversed(debian)] if path is not None]
    if not found:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    user = None
    if os.getuid() == 0:  # it refuses to run as root
        known = {entry.pw_name for entry in pwd.getpwall()}
        user = "postgres" if "postgres" in known else "nobody"
    folder = Path(tempfile.mkdtemp(prefix="rankduel-"))  # pytest's own are closed to others
    if user is not None:
        shutil.chown(folder, user)
    try:
        server = Server(Path(found[0]).resolve().parent, folder, user)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)
