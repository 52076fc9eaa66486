"""A disk that hangs and a lock that another process holds keep nobody waiting who need not wait for them."""

import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

import rankduel as rd
from postgres.server import Server as Postgres
from rankduel.live import LocalTournament, Receipt
from service.servers import Client, Server, serving

FIRST = rd.Outcome.FIRST
SOON = 5.0  # seconds: much less than what a hanging disk or a lock takes, on a busy machine
_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void hang(void) { while (access(getenv("HANG_FILE"), F_OK) == 0) usleep(10000); }

int fsync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { hang(); return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"""


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Server, Path]]:
    """A service whose disk hangs for as long as a file is there. It has a duel of the query "old", asked long ago."""
    source, shim, file = tmp_path / "shim.c", tmp_path / "shim.so", tmp_path / "hang"
    source.write_text(_SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], check=True)
    url = f"sqlite:///{tmp_path}/duels.db"
    with rd.Tournament.create("earlier", rankers=["a", "b"], baseline="a", storage=url, seed=1) as t:
        t.ask("old")
    monkeypatch.setenv("HANG_FILE", str(file))
    monkeypatch.setenv("LD_PRELOAD", str(shim))
    with serving(url) as server:
        monkeypatch.delenv("LD_PRELOAD")
        yield server, file
        file.unlink(missing_ok=True)


def test_a_hanging_disk_stops_neither_asks_nor_livez(hanging: tuple[Server, Path]) -> None:
    """The queue fills up, users see the baseline, /livez answers; nothing is lost when the disk is back."""
    server, file = hanging
    with Client(server.port) as client, Client(server.port) as monitor:
        body = {"name": "search", "rankers": ["a", "b"], "baseline": "a", "seed": 1}
        assert client.post("/v1/tournaments", body).status == 201
        duel = client.post("/v1/tournaments/search/ask", {}).body
        assert client.post("/v1/tournaments/search/tell", {"ticket": duel["ticket"], "outcome": "first"}).status == 200
        file.touch()
        told: list[int] = []
        with Client(server.port) as other:  # somebody waits for the disk
            ticket = client.post("/v1/tournaments/search/ask", {}).body["ticket"]
            tell = {"ticket": ticket, "outcome": "second"}
            waiting = threading.Thread(
                target=lambda: told.append(other.post("/v1/tournaments/search/tell", tell).status)
            )
            waiting.start()
            slowest, why = 0.0, None
            for _ in range(130):  # more than the queue holds
                began = time.monotonic()
                answer = client.post("/v1/tournaments/search/ask", {"n": 1000})
                assert monitor.get("/livez").status == 200
                slowest = max(slowest, time.monotonic() - began)
                why = answer.body["duels"][-1]["why"]
            assert slowest < SOON
            assert why == "storage"
            assert answer.body["duels"][-1]["first"] == "a"
            file.unlink()
            waiting.join()
        assert told[0] in (200, 503)  # 503: the deadline was over; it may be told again
        until = time.monotonic() + 60
        while (again := client.post("/v1/tournaments/search/tell", tell)).status == 503 and time.monotonic() < until:
            time.sleep(0.1)  # while the queue is still full
        assert again.body["status"] in ("accepted", "duplicate")
        while (duel := client.post("/v1/tournaments/search/ask", {}).body)["why"] and time.monotonic() < until:
            time.sleep(0.1)
        assert client.post("/v1/tournaments/search/tell", {"ticket": duel["ticket"], "outcome": "first"}).status == 200
        assert client.get("/v1/tournaments/search").body["duels"]["resolved"] == 3


def test_stuck_writes_keep_neither_asks_nor_readyz_waiting(hanging: tuple[Server, Path]) -> None:
    """With more events stuck than there are threads, asks of earlier queries and /readyz are answered at once."""
    server, file = hanging
    path = "/v1/tournaments/earlier/ask"
    event = {"query_id": "old", "action_name": "click", "timestamp": 1_800_000_000_000}
    answers: list[int] = []

    def report(number: int) -> None:
        with Client(server.port) as client:
            answers.append(client.post("/v1/events?tournament=earlier", event | {"event_id": f"{number}"}).status)

    with Client(server.port) as client:
        file.touch()
        stuck = [threading.Thread(target=report, args=(number,)) for number in range(40)]
        for thread in stuck:
            thread.start()
        time.sleep(1)
        slowest, ready = 0.0, []
        until = time.monotonic() + 7  # past the time after which a commit counts as stalled
        while time.monotonic() < until:
            began = time.monotonic()
            duel = client.post(path, {"query_id": "old"})
            ready.append(client.get("/readyz"))
            slowest = max(slowest, time.monotonic() - began)
            assert duel.status == 200
            assert duel.body["why"] in (None, "storage")
            time.sleep(0.05)
        assert not answers
        assert slowest < 2
        assert {answer.status for answer in ready} == {200}
        assert ready[-1].raw == b"degraded: the storage does not keep up with writes, asks get the baseline\n"
        began = time.monotonic()
        assert b"rankduel_storage_failing 1.0" in client.get("/metrics").raw
        assert time.monotonic() - began < 2
        file.unlink()
        for thread in stuck:
            thread.join()
        assert set(answers) <= {200, 503}
        assert client.post(path, {"query_id": "old"}).status == 200


# PostgreSQL: locks of other processes


@pytest.fixture
def both(postgres: Postgres) -> Iterator[tuple[str, rd.Tournament, rd.Tournament]]:
    url = postgres.empty()
    with (
        rd.Tournament.create("one", rankers=["a", "b"], baseline="a", storage=url) as one,
        rd.Tournament.create("two", rankers=["a", "b"], baseline="a", storage=url) as two,
    ):
        yield url, one, two


def timed(t: rd.Tournament, query: str) -> tuple[float, str | None]:
    """How long an ask takes, and why it has no duel."""
    began = time.monotonic()
    duel = t.ask(query)
    return time.monotonic() - began, duel.why


def test_a_locked_tournament_keeps_no_other_one_waiting(both: tuple[str, rd.Tournament, rd.Tournament]) -> None:
    """While a session holds the row of one, the other is asked and told; its own asks get the baseline soon."""
    url, one, two = both
    waiting: list[Receipt] = []
    duel = one.ask("before")
    with psycopg.connect(url) as lock:
        lock.execute("SELECT 1 FROM rankduel.tournaments WHERE name = 'one' FOR UPDATE")
        thread = threading.Thread(target=lambda: waiting.append(one.tell(duel, FIRST)))
        thread.start()
        seconds, why = timed(one, "locked")
        assert why == "storage"
        assert seconds < SOON
        for number in range(5):
            seconds, why = timed(two, f"q{number}")
            assert seconds < SOON
            assert why is None
            assert two.tell(two.ask(f"q{number}"), FIRST).status == "accepted"
        assert not waiting
        lock.rollback()
    thread.join()
    assert [receipt.status for receipt in waiting] == ["accepted"]
    assert timed(one, "after")[1] is None
    assert (one.counts.resolved, two.counts.resolved) == (1, 5)


def test_a_table_lock_keeps_no_ask_waiting(both: tuple[str, rd.Tournament, rd.Tournament]) -> None:
    """While a session locks the whole table of duels, users soon see the baseline."""
    url, one, two = both
    with psycopg.connect(url) as lock:
        lock.execute("LOCK TABLE rankduel.duels IN ACCESS EXCLUSIVE MODE")
        for t in (one, two):
            seconds, why = timed(t, "q")
            assert why == "storage"
            assert seconds < SOON
        lock.rollback()
    until = time.monotonic() + 30
    while timed(one, "q")[1] and time.monotonic() < until:
        time.sleep(0.1)
    assert one.tell(one.ask("q"), FIRST).status == "accepted"


def test_many_locked_tournaments_keep_a_free_one_waiting_once(postgres: Postgres) -> None:
    """While 20 are locked and all have entries to write, the free one waits for one of them at a time."""
    url = postgres.empty()
    names = [f"t{number:02}" for number in range(21)]
    with ExitStack() as stack:
        every = [stack.enter_context(rd.Tournament.create(name, rankers=["a", "b"], storage=url)) for name in names]
        duels = [t.ask("before") for t in every]
        more = [every[-1].ask(f"q{number}") for number in range(5)]
        with psycopg.connect(url) as lock:
            lock.execute("SELECT 1 FROM rankduel.tournaments WHERE name <> 't20' FOR UPDATE")
            waiting = [t.tell_soon([(duel, FIRST)]) for t, duel in zip(every, duels, strict=True)]
            for duel in more:
                began = time.monotonic()
                assert every[-1].tell(duel, FIRST).status == "accepted"
                assert time.monotonic() - began < 2.0
            assert waiting.pop().result(2.0)[0].status == "accepted"
            assert not any(future.done() for future in waiting)
            lock.rollback()
        assert [future.result(30.0)[0].status for future in waiting] == ["accepted"] * 20
        assert all(t.counts.resolved == 1 for t in every[:-1])


def test_a_storage_that_hangs_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries that are in memory keep their duel, all others get the baseline without a look at the storage."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("search", rankers=["a", "b"], storage=url) as t:
        t.tell(t.ask("old"), FIRST)
    with LocalTournament.open("search", storage=url) as t:
        new = t.ask("new")
        assert t.ask_now([("old", None)]) is None  # only the storage knows its duel
        monkeypatch.setattr("rankduel.live.storage.writer.Writer.stalled", True)
        monkeypatch.setattr(t.storage, "duels_of", lambda *_: 1 / 0)
        again, old, third = t.ask_now([("new", None), ("old", None), ("third", None)]) or []
        assert again == new
        assert (old.why, third.why) == ("storage", "storage")
