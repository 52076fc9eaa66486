"""Several processes on one PostgreSQL: durable counters are the same in each, counters of a process are added up."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest

import rankduel as rd
from postgres.server import Server as Postgres
from rankduel.live import LocalTournament
from service.metrics.scrapes import Scrape, scrape
from service.servers import Client, Server, at, serving
from service.test_processes import children

STORED = ("rankduel_duels_issued_total", "rankduel_duels_finished_total", "rankduel_duels_late_total")


def wait_for(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def play(client: Client, duels: int) -> None:
    """Ask and tell some duels in a batch."""
    asked = client.post(at("t", "/ask"), {"n": duels}).body["duels"]
    told = client.post(at("t", "/tell"), [{"ticket": duel["ticket"], "outcome": "tie"} for duel in asked])
    assert {receipt["status"] for receipt in told.body["receipts"]} == {"accepted"}


def stored(found: Scrape) -> dict[tuple[str, object], float]:
    return {(name, labels): value for name in STORED for labels, value in found.all(name).items()}


@pytest.fixture
def two(postgres: Postgres) -> Iterator[tuple[Server, Server]]:
    """Two processes, each on a port of its own, and a tournament."""
    url = postgres.empty()
    with ExitStack() as running:
        one = running.enter_context(serving(url))
        with one.client as client:
            assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b", "c"], "seed": 1}).status == 201
        yield one, running.enter_context(serving(url))


def test_what_is_stored_is_the_same_and_what_is_counted_adds_up(two: tuple[Server, Server], postgres: Postgres) -> None:
    with two[0].client as first, two[1].client as second:
        play(first, 7)
        play(second, 5)
        first.post(at("t", ":pause"), {})
        first.post(at("t", "/ask"), {"n": 3})
        wait_for(lambda: all(scrape(one).one(STORED[0]) == 12 for one in (first, second)))
        found = [scrape(first), scrape(second)]
        assert stored(found[0]) == stored(found[1])
        assert [one.one("rankduel_duels_finished_total", state="resolved") for one in found] == [12, 12]
        wait_for(lambda: scrape(second).all("rankduel_tournament_status", status="paused") != {})
        assert [one.total("rankduel_asks_total", serve="duel") for one in found] == [7, 5]
        assert [one.total("rankduel_asks_total", why="paused") for one in found] == [3, 0]
        assert [one.total("rankduel_tells_total", status="accepted") for one in found] == [7, 5]
    two[1].kill()
    with serving(postgres.url("postgres")) as again, again.client as client:
        found = [scrape(client)]
        assert stored(found[0])[STORED[0], (("tournament", "t"),)] == 12  # as before the kill, from the first scrape on
        assert found[0].total("rankduel_asks_total") == 0  # this process has answered none


def test_stored_counters_never_go_back_while_two_processes_write(two: tuple[Server, Server]) -> None:
    """A counter that goes back looks to Prometheus like a restart: its rate jumps by everything counted so far."""
    batches, size = 25, 20
    seen: list[list[dict[tuple[str, object], float]]] = [[], []]
    done = threading.Event()

    def watch(server: Server, into: list[dict[tuple[str, object], float]]) -> None:
        with server.client as client:
            while not done.is_set():
                into.append(stored(scrape(client)))

    def work(server: Server) -> None:
        with server.client as client:
            for _ in range(batches):
                play(client, size)

    watchers = [threading.Thread(target=watch, args=pair) for pair in zip(two, seen, strict=True)]
    workers = [threading.Thread(target=work, args=(server,)) for server in two]
    for thread in (*watchers, *workers):
        thread.start()
    for worker in workers:
        worker.join()
    with two[0].client as first, two[1].client as second:
        total = 2 * batches * size
        wait_for(lambda: all(scrape(one).one(STORED[0]) == total for one in (first, second)))
    done.set()
    for watcher in watchers:
        watcher.join()
    for found in seen:
        assert len(found) > 10
        for before, after in pairwise(found):
            assert all(after[key] >= value for key, value in before.items())
        assert max(each[STORED[0], (("tournament", "t"),)] for each in found) <= total


def test_a_commit_during_a_read_is_never_counted_twice(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalTournament.create("t", rankers=["a", "b"], storage=postgres.empty(), seed=1) as t:
        t.tell(t.ask(), rd.Outcome.TIE)
        read, resolved = t.storage.counts, []

        def commit_meanwhile(name: str) -> dict[str, int]:
            found = read(name)
            t.tell(t.ask(), rd.Outcome.TIE)
            resolved.append(t.durable_counts.resolved)
            return found

        def commit_before(name: str) -> dict[str, int]:
            t.tell(t.ask(), rd.Outcome.TIE)
            return read(name)

        t.run_maintenance()
        t._runtime.count_again()
        for interrupted in (commit_meanwhile, commit_before, commit_meanwhile):
            with monkeypatch.context() as patched:
                patched.setattr(t.storage, "counts", interrupted)
                t._runtime.count_again()
            resolved.append(t.durable_counts.resolved)
        t._runtime.count_again()
        resolved.append(t.durable_counts.resolved)
    assert resolved == sorted(resolved)
    assert resolved[-1] == 4


@pytest.mark.slow
def test_processes_of_one_server_have_a_port_each(postgres: Postgres, unused_ports: range) -> None:
    """Behind one port, a scrape reaches any process. Each is scraped on its own port, and so is its replacement."""
    with serving(postgres.empty(), processes=2, metrics_port=unused_ports[0]) as server:
        wait_for(lambda: all(map(alive, unused_ports)))
        with server.client as client:
            assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]}).status == 201
        for _ in range(20):
            with server.client as client:  # a new connection, which either process may take
                play(client, 2)
        for port in unused_ports:
            with Client(port) as client:
                play(client, 1)
        wait_for(lambda: [found.one(STORED[0]) for found in scrapes(unused_ports)] == [42, 42])
        asks = [found.total("rankduel_asks_total") for found in scrapes(unused_ports)]
        assert sum(asks) == 42
        assert min(asks) >= 1
        first, _ = children(server.process.pid)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: first not in children(server.process.pid) and all(map(alive, unused_ports)))
        found = scrapes(unused_ports)
        assert sorted(each.total("rankduel_asks_total") for each in found) in ([0, asks[0]], [0, asks[1]])
        assert [each.one(STORED[0]) for each in found] == [42, 42]


def scrapes(ports: Iterable[int]) -> list[Scrape]:
    found = []
    for port in ports:
        with Client(port) as client:
            found.append(scrape(client))
    return found


def alive(port: int) -> bool:
    try:
        with Client(port) as client:
            return client.get("/livez").status == 200
    except OSError:
        return False
