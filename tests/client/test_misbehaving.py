"""Whatever a server does, an ask is answered in time, without an exception, and users see their results."""

import gc
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from client import servers
from client.servers import DUEL, Behaviour, Server, answer, serving, well
from rankduel.client import Client, Counters
from rankduel.types import Outcome

DEADLINE = 0.025
ALLOWANCE = 0.25  # seconds that a busy machine may keep a thread from running: far below what any server here takes

LATE: dict[str, Behaviour] = {
    "hangs": servers.hangs,
    "slow": servers.slow,
    "slow_header": servers.slow_header,
    "half": servers.half,
}
FAILED: dict[str, Behaviour] = {
    "resets": servers.resets,
    "closes": servers.closes,
    "500": servers.status(500),
    "503": servers.status(503),
    "garbage": servers.text(b"\x00\xff\x16\x03\x01 what is this?\r\n\r\n"),
    "no_json": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<html>hi<"),
    "half_and_closed": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + json.dumps(DUEL).encode()),
    "bad_length": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\n" + b"[" * 100_000),
    "bad_chunks": servers.text(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "deep": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"[" * 60_000),
    "digits": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n" + b"9" * 50_000),
    "empty": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    "latin": servers.text(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\xff\xfe\xfd"),
    "long_header": servers.text(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n"),
    "another": servers.told({"hello": "world"}),
    "list": servers.told([DUEL]),
    "number": servers.told({**DUEL, "first": 7}),
    "serve": servers.told({**DUEL, "serve": "everything"}),
    "seed": servers.told({**DUEL, "seed": -1}),
    "expires": servers.told({**DUEL, "expires": None}),
    "method": servers.told({**DUEL, "interleaving": "__import__('os')"}),
}
EITHER: dict[str, Behaviour] = {  # which comes first, the deadline or the limit, depends on the machine
    "goes_on": servers.goes_on,
    "huge": servers.huge,
    "huge_chunks": servers.huge_chunks,
}
REFUSED: dict[str, Behaviour] = {str(code): servers.status(code) for code in (301, 400, 401, 403, 404, 413, 422, 429)}


@contextmanager
def asking(url: str, deadline: float = DEADLINE) -> Iterator[Client]:
    client = Client(url, "search", baseline="bm25", deadline=deadline)
    try:
        yield client
    finally:
        client.close(0)


def timed(call: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def ask_in_time(client: Client, times: int) -> None:
    """Ask; each answer is the baseline, and comes in time."""
    gc.collect()
    for number in range(times):
        began = time.perf_counter()
        duel = client.ask(query_id=f"q-{number}", client_id="somebody")
        took = time.perf_counter() - began
        assert took < client.deadline + ALLOWANCE, f"ask {number} took {took:.3f} s"
        assert (duel.serve, duel.first, duel.second, duel.id, duel.ticket) == ("baseline", "bm25", "bm25", None, None)
        assert duel.why in ("deadline", "unreachable", "refused", "resting")
        assert client.tell(duel, Outcome.FIRST)  # nothing to tell, and no error


def ask_until(client: Client, why: str | None) -> None:
    """Ask until an answer has this reason; None: until it is a duel."""
    due = time.monotonic() + 30
    while client.ask().why != why:
        assert time.monotonic() < due
        time.sleep(0.005)


def adds_up(counters: Counters) -> bool:
    ends = counters.answered + counters.late + counters.failed + counters.refused + counters.rested
    return counters.asks == ends and counters.queued == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", LATE)
def test_late(name: str) -> None:
    with serving(LATE[name]) as server, asking(server.url) as client:
        ask_in_time(client, 20)
        counters = client.counters
        assert adds_up(counters)
        assert counters.late >= 3
        assert (counters.answered, counters.failed, counters.refused) == (0, 0, 0)
        ask_until(client, "resting")


@pytest.mark.slow
@pytest.mark.parametrize("name", FAILED)
def test_failed(name: str) -> None:
    with serving(FAILED[name]) as server, asking(server.url, deadline=2.0) as client:  # the failure comes first
        ask_in_time(client, 20)
        counters = client.counters
        assert adds_up(counters)
        assert counters.failed >= 3
        assert (counters.answered, counters.late, counters.refused) == (0, 0, 0)
        ask_until(client, "resting")


@pytest.mark.parametrize("name", EITHER)
def test_without_end(name: str) -> None:
    with serving(EITHER[name]) as server, asking(server.url) as client:
        ask_in_time(client, 20)
        counters = client.counters
        assert adds_up(counters)
        assert counters.late + counters.failed >= 3
        assert counters.answered == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with serving(REFUSED[name]) as server, asking(server.url, deadline=2.0) as client:
        ask_in_time(client, 20)
        counters = client.counters
        assert adds_up(counters)
        assert (counters.answered, counters.late, counters.failed) == (0, 0, 0)
        # A refusal of one ask says nothing of the next; one of the client ends in a rest.
        if name in ("400", "413", "422"):
            for _ in range(60):
                assert client.ask().why == "refused"
                time.sleep(0.01)
        else:
            ask_until(client, "resting")


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with asking(f"http://127.0.0.1:{port}", deadline=2.0) as client:
        ask_in_time(client, 20)
        assert client.counters.failed >= 3


def test_a_full_backlog_is_silence() -> None:
    # Connections that nobody accepts: the network as it is when packets are lost.
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        place = listener.getsockname()
        crowd = [socket.socket() for _ in range(8)]
        for each in crowd:
            each.setblocking(False)
            each.connect_ex(place)
        with asking(f"http://127.0.0.1:{place[1]}") as client:
            ask_in_time(client, 10)
            assert client.counters.late >= 3
        for each in crowd:
            each.close()


def test_a_name_service_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def lookup(*_: object, **__: object) -> list[object]:
        ended.wait()
        raise socket.gaierror("no such host")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with asking("http://search.example") as client:
        ask_in_time(client, 10)
        assert client.counters.late >= 3
        ended.set()


def test_a_name_that_is_none() -> None:
    with asking(f"http://{'a' * 70}.example", deadline=2.0) as client:
        ask_in_time(client, 10)
        assert client.counters.failed >= 3


def test_tls_on_a_server_that_speaks_none() -> None:
    with serving(well) as server, asking(server.url.replace("http:", "https:")) as client:
        ask_in_time(client, 5)
        assert client.counters.late + client.counters.failed >= 3


def test_many_threads_at_a_hanging_server() -> None:
    with serving(servers.hangs) as server, asking(server.url) as client:
        slowest: list[float] = []

        def search() -> None:
            slowest.append(max(timed(client.ask) for _ in range(50)))

        threads = [threading.Thread(target=search) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert max(slowest) < DEADLINE + ALLOWANCE
        counters = client.counters
        assert counters.asks == 400
        assert adds_up(counters)
        assert counters.late < 200  # the others were spared


@pytest.mark.slow
def test_a_rest_costs_nothing_and_ends() -> None:
    state = {"well": False}

    def recovers(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        if state["well"]:
            well(server, connection, line, body)
        else:
            servers.status(503)(server, connection, line, body)

    with serving(recovers) as server, asking(server.url, deadline=2.0) as client:
        ask_until(client, "resting")
        sent = len(server.requests)
        ask_in_time(client, 200)
        assert len(server.requests) <= sent + 1
        state["well"] = True
        ask_until(client, None)
        assert [client.ask().first for _ in range(5)] == ["ltr"] * 5


def test_a_pause_that_the_server_asks_for() -> None:
    with serving(servers.status(429, "Retry-After: 30\r\n")) as server, asking(server.url, deadline=2.0) as client:
        ask_until(client, "resting")
        refused = client.counters.refused
        assert len(server.requests) == refused
        until = time.monotonic() + 2  # of 3.75 s at least: half a minute is more than a client waits
        while time.monotonic() < until:
            assert client.ask().why == "resting"
            time.sleep(0.01)
        assert len(server.requests) == refused


def test_a_connection_closed_while_idle_costs_nothing() -> None:
    def once(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        answer(connection, DUEL)
        connection.shutdown(socket.SHUT_RDWR)

    with serving(once) as server, asking(server.url, deadline=2.0) as client:
        for _ in range(10):
            assert client.ask().first == "ltr"
        assert client.counters.answered == server.connections == 10


def test_connections_are_kept() -> None:
    with serving(well) as server, asking(server.url, deadline=2.0) as client:
        for _ in range(50):
            assert client.ask().serve == "duel"
        assert server.connections == 1
        assert client.counters == Counters(asks=50, answered=50)


def test_a_hiccup_keeps_asks_flowing() -> None:
    """Eight threads, and a moment in which all of them are late: the others are not made to rest for it."""
    state = {"answered": 0}
    lock = threading.Lock()

    def hiccups(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        with lock:
            state["answered"] += 1
            late = 300 <= state["answered"] < 308  # one for each thread, in a row
        if late:
            time.sleep(0.7)
        well(server, connection, line, body)

    with serving(hiccups) as server, asking(server.url, deadline=0.5) as client:
        threads = [threading.Thread(target=lambda: [client.ask() for _ in range(250)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counters = client.counters
        assert counters.late >= 8
        assert counters.rested == 0
        assert counters.answered == 2000 - counters.late


def test_a_late_answer_now_and_then_keeps_asks_flowing() -> None:
    """One in a hundred, which is ten times as bad as it gets: each costs one user its duel, and no other."""

    def sometimes(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        if len(server.requests) % 100 == 0:
            time.sleep(0.7)
        well(server, connection, line, body)

    with serving(sometimes) as server, asking(server.url, deadline=0.5) as client:
        threads = [threading.Thread(target=lambda: [client.ask() for _ in range(250)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        counters = client.counters
        assert counters.rested == 0
        assert 10 <= counters.late <= 40
        assert counters.problems == {"no-response": counters.late}
