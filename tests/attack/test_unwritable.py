"""A storage that can be read but not written: a service does not start with it, and says so when it happens later."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from postgres.server import Server as Postgres
from postgres.server import running
from rankduel.cli import main
from rankduel.live import LocalTournament, storage_at
from service.servers import Client, Server, serving

SETTINGS = {"rankers": ["a", "b"], "baseline": "a", "seed": 1}
# Runs a command without the right of root to write whatever it wants.
_AS_USER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
os.execv(sys.executable, [sys.executable, "-m", "rankduel", *sys.argv[1:]])
"""


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A storage with a tournament."""
    path = tmp_path / "folder" / "duels.db"
    path.parent.mkdir()
    LocalTournament.create("t", storage=f"sqlite:///{path}", **SETTINGS).close()  # type: ignore[arg-type]
    yield path
    path.parent.chmod(0o700)


def refused(*arguments: str) -> str:
    """What a command says that must fail, as a user that is not root."""
    ran = subprocess.run(
        [sys.executable, "-c", _AS_USER, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode != 0, ran
    assert "Traceback" not in ran.stderr
    return ran.stdout + ran.stderr


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("empty", [False, True])
def test_a_file_without_the_right_to_write_is_not_served(path: Path, empty: bool) -> None:
    """Also without any tournament: nothing else would try to write."""
    if empty:
        path = path.with_name("empty.db")
        storage_at(f"sqlite:///{path}").close()
    path.chmod(0o400)
    said = refused("serve", "--storage", f"sqlite:///{path}", "--port", "0")
    assert f"cannot write to {path}: attempt to write a readonly database; the file, its folder" in said
    assert f"error    storage: this user cannot write {path}" in refused("doctor", "--storage", f"sqlite:///{path}")


def test_a_folder_without_the_right_to_write_is_not_served(path: Path) -> None:
    path.with_name("duels.db.lock").unlink()
    path.parent.chmod(0o500)
    said = refused("serve", "--storage", f"sqlite:///{path}", "--port", "0")
    assert f"cannot open {path}.lock: Permission denied" in said


@pytest.mark.parametrize("tournaments", [[], ["t"]])
def test_a_disk_that_fills_up_is_noticed_when_nobody_writes(tmp_path: Path, tournaments: list[str]) -> None:
    """/readyz, the health light and the log say so, without a path; all of them recover."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with serving(url) as server, server.client as client:
        for name in tournaments:
            assert client.post("/v1/tournaments", {"name": name} | SETTINGS).status == 201
        full = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        until(lambda: client.get("/readyz").status == 503)
        answer = client.get("/readyz")
        assert answer.problem == "storage"
        assert answer.body["detail"] == "the storage cannot be written: asks get the baseline, and tells are refused"
        for name in tournaments:
            light = client.get(f"/v1/tournaments/{name}/overview").body["light"]
            assert light["state"] == "bad"
            assert "the storage" in light["reasons"][0]
            assert client.post(f"/v1/tournaments/{name}/ask", {}).body["why"] == "storage"
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, full)
        assert b"rankduel_storage_failing 1.0" in client.get("/metrics").raw
        until(lambda: client.get("/readyz").raw == b"ok\n")
        assert b"rankduel_storage_failing 0.0" in client.get("/metrics").raw
        for name in tournaments:
            assert client.get(f"/v1/tournaments/{name}/overview").body["light"]["state"] == "good"
            assert client.post(f"/v1/tournaments/{name}/ask", {}).body["serve"] == "duel"
        assert sum("the storage cannot be written:" in line for line in server.lines) == 1
        assert sum("the storage can be written again" in line for line in server.lines) == 1


# PostgreSQL


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    """A server of our own: others share one."""
    with running() as server:
        yield server


def read_only(database: Postgres, value: str) -> None:
    with psycopg.connect(database.url("postgres"), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")


def test_a_database_that_becomes_read_only(database: Postgres, capsys: pytest.CaptureFixture[str]) -> None:
    """As when its disk fills up, or when an operator protects it."""
    url = database.database()
    with serving(url) as server, server.client as client:
        assert client.get("/readyz").raw == b"ok\n"
        read_only(database, "on")
        try:
            until(lambda: client.get("/readyz").status == 503)
            assert "cannot be written" in client.get("/readyz").body["detail"]
            assert client.get("/livez").status == 200
            for more in ("", "?target_session_attrs=any"):
                assert main(["doctor", "--storage", url + more]) == 1
                assert "read-only" in capsys.readouterr().out
        finally:
            read_only(database, "off")
        until(lambda: client.get("/readyz").raw == b"ok\n")


def test_a_standby(database: Postgres) -> None:
    """A server in recovery: a running service is not ready, and another one does not start."""
    url = database.database()
    standby = database.folder / "data" / "standby.signal"
    with serving(url) as server, server.client as client:
        database.stop()
        standby.touch()
        standby.chmod(0o666)
        database.start()
        try:
            until(lambda: client.get("/readyz").status == 503)
            assert client.get("/readyz").problem == "storage"
            for more in ("", "?target_session_attrs=any"):
                other = Server(url + more)
                assert other.wait() != 0
                assert "read-only" in "".join(other.lines)
        finally:
            database.stop()
            standby.unlink()
            database.start()
        until(lambda: ready(server))


def ready(server: Server) -> bool:
    with Client(server.port) as client:
        return client.get("/readyz").raw == b"ok\n"
