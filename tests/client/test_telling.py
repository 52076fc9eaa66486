"""What an application tells goes out in the background: in batches, again if need be, bounded, and counted."""

import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from client import servers
from client.servers import Server, answer, serving, well
from rankduel.client import Client, Counters, outbox
from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live import LiveDuel
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.ubi import read_events
from rankduel.types import Outcome

CLICK = Signal("q-1", "click", "d4", 2, 1_800_000_000.0, None, "e-1")
PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=3, seed=1)


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow each other quickly."""
    monkeypatch.setattr(outbox, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(outbox, "_MAX_PAUSE_SECONDS", 0.05)


@pytest.fixture
def service() -> Iterator[Server]:
    with serving(well) as server:
        yield server


def told(server: Server) -> list[dict[str, Any]]:
    """All items that a server was told, with those it was told twice."""
    return [item for line, body in server.requests if line.endswith("/tell") for item in json.loads(body)]


def until(happened: Callable[[], bool]) -> None:
    due = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < due
        time.sleep(0.002)


def test_what_is_sent(service: Server) -> None:
    with Client(f"{service.url}/duels/", "home/search", key="rd_1_secret", deadline=5) as client:
        duel = client.ask("q-1", "somebody")
        assert duel == LiveDuel("1-1", "ltr", "neural", 7, 2e9, duel.method)
        assert duel.interleave(["a", "b"], ["b", "c"], k=2).method == "team_draft"
        client.tell(duel, Outcome.SECOND)
        client.tell("3-17", Outcome.TIE)
        client.tell("a-ticket", clicks=iter(["a"]), shown=PAGE)
        client.tell(duel, clicks=[])
        client.show(duel)
        client.show("3-17", PAGE)
        assert client.flush()
        assert service.requests[0] == (
            "POST /duels/v1/tournaments/home%2Fsearch/ask",
            b'{"query_id":"q-1","client_id":"somebody"}',
        )
        assert all(b"\r\nAuthorization: Bearer rd_1_secret\r\n" in head for head in service.heads)
        assert "secret" not in repr(client)
        page = json.loads(json.dumps(PAGE.to_dict()))
        own = json.loads(json.dumps(duel.interleave(["a", "b"], ["b", "c"], k=2).to_dict()))
        assert told(service) == [
            {"ticket": "signed", "outcome": "second"},
            {"duel": "3-17", "outcome": "tie"},
            {"ticket": "a-ticket", "clicks": ["a"], "shown": page},
            {"ticket": "signed", "clicks": [], "shown": own},
        ]
        shown = [page for line, body in service.requests if line.endswith("/show") for page in json.loads(body)]
        assert shown == [{"ticket": "signed", "shown": own}, {"duel": "3-17", "shown": page}]
        assert client.counters == Counters(asks=1, answered=1, queued=6, sent=6, accepted=6)


def test_signals() -> None:
    def ingests(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        answer(connection, {"statuses": ["accepted", "duplicate", "invalid"][: len(json.loads(body))], "errors": []})

    with serving(ingests) as server, Client(server.url, "home search") as client:
        assert client.observe(
            [CLICK, CLICK._replace(object=None, position=None, dwell=3.5, key=""), Shown("q-1", PAGE)]
        )
        assert client.flush()
        ((line, body),) = server.requests
        assert line == "POST /v1/events?tournament=home+search"
        click, dwelt, shown = json.loads(body)
        assert click == {
            "query_id": "q-1",
            "action_name": "click",
            "timestamp": 1_800_000_000_000,
            "event_attributes": {"object": {"object_id": "d4"}, "position": {"ordinal": 2}},
            "event_id": "e-1",
        }
        assert (dwelt["event_attributes"], "event_id" in dwelt) == ({"dwell": 3.5}, False)
        assert shown["action_name"] == "impression"
        signals = read_events(body)
        assert isinstance(signals[0], Signal)
        assert signals[0][:-1] == CLICK[:-1]
        assert signals[2] == Shown("q-1", PAGE)
        assert client.counters == Counters(
            queued=3, sent=2, accepted=1, duplicate=1, rejected=1, problems={"bad-value": 1}
        )


def test_the_key_of_the_environment(service: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKDUEL_KEY", "rd_2_theirs")
    with Client(service.url, "search", deadline=5) as client:
        client.ask()
    assert b"Bearer rd_2_theirs\r\n" in service.heads[0]


def test_batches(service: Server) -> None:
    with Client(service.url, "search") as client:
        for number in range(2000):
            assert client.tell(f"1-{number}", Outcome.FIRST)
        assert client.flush()
        assert client.waiting == 0
        assert client.counters == Counters(queued=2000, sent=2000, accepted=2000)
    assert [item["duel"] for item in told(service)] == [f"1-{number}" for number in range(2000)]
    assert 4 <= len(service.requests) < 20


def test_kinds_that_alternate_make_batches_too(service: Server) -> None:
    with Client(service.url, "search") as client:
        for number in range(200):
            client.show(f"1-{number}", PAGE)
            client.tell(f"1-{number}", Outcome.FIRST)
            client.observe([CLICK._replace(key=f"e-{number}")])
        assert client.flush()
        assert client.counters.sent == 600
    assert [item["duel"] for item in told(service)] == [f"1-{number}" for number in range(200)]
    assert len(service.requests) < 20


def test_large_items_make_small_batches(service: Server) -> None:
    with Client(service.url, "search") as client:
        for number in range(10):
            client.tell(f"1-{number}", clicks=["x" * 200_000], shown=PAGE)
        assert client.flush()
    assert max(len(body) for _, body in service.requests) < 600_000
    assert len(told(service)) == 10


def test_again_and_again_until_it_is_taken() -> None:
    state = {"left": 6}
    wrong = [servers.resets, servers.status(503), servers.status(429, "Retry-After: 0\r\n"), servers.closes]

    def recovers(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        if state["left"]:
            state["left"] -= 1
            wrong[state["left"] % len(wrong)](server, connection, line, body)
        else:
            well(server, connection, line, body)

    with serving(recovers) as server, Client(server.url, "search") as client:
        client.tell("1-1", Outcome.FIRST)
        client.tell("1-2", Outcome.FIRST)
        assert client.flush(30)
        assert len(server.requests) == 7
        assert client.counters.retries >= 4  # a connection that was cut while it was kept is replaced at once
        assert (client.counters.sent, client.counters.accepted) == (2, 2)
        assert (client.counters.dropped, client.counters.rejected) == (0, 0)


def test_a_full_queue_drops_and_counts() -> None:
    with serving(servers.hangs) as server:
        client = Client(server.url, "search", queue=5)
        assert [client.tell("1-1", Outcome.FIRST) for _ in range(8)] == [True] * 5 + [False] * 3
        assert not client.flush(0.05)
        assert client.waiting == 5
        assert client.counters == Counters(queued=5, dropped=3, problems={"queue-full": 3})
        began = time.monotonic()
        client.close(0.1)
        assert time.monotonic() - began < 2
        assert not client.tell("1-1", Outcome.FIRST)
        server.close()
        until(lambda: client.counters.dropped == 9)
        problems = client.counters.problems
        assert (problems["queue-full"], problems["closed"], problems["unsent"]) == (3, 1, 5)


def test_one_bad_item_costs_no_other() -> None:
    for code in (422, 500):

        def picky(server: Server, connection: socket.socket, line: str, body: bytes, code: int = code) -> None:
            if b'"1-13"' in body:
                answer(connection, {"title": "no"}, code)
            else:
                well(server, connection, line, body)

        with serving(picky) as server, Client(server.url, "search") as client:
            for number in range(40):
                client.tell(f"1-{number}", Outcome.FIRST)
            assert client.flush(30)
            counters = client.counters
            assert (counters.sent, counters.accepted, counters.rejected) == (39, 39, 1)


def test_a_refused_key_is_not_tried_item_by_item() -> None:
    with serving(servers.status(401)) as server, Client(server.url, "search") as client:
        for number in range(40):
            client.tell(f"1-{number}", Outcome.FIRST)
        assert client.flush()
        assert client.counters == Counters(queued=40, rejected=40, problems={"refused": 40})
        assert len(server.requests) <= 2


def test_every_status_is_counted() -> None:
    words = ["accepted", "duplicate", "conflict", "late", "unknown", "strange"]

    def says(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        answer(connection, {"receipts": [{"status": word, "outcome": None} for word in words]})

    with serving(says) as server, Client(server.url, "search") as client:
        for number in range(6):
            client.tell(f"1-{number}", Outcome.FIRST)
        assert client.flush()
        assert client.counters == Counters(
            queued=6,
            sent=6,
            accepted=1,
            duplicate=1,
            conflict=1,
            told_late=1,
            unknown=1,
            problems={"conflict": 1, "late": 1, "unknown-duel": 1, "invalid-response": 1},
        )


@pytest.mark.parametrize("value", [None, [], {"receipts": 3}, {"receipts": [3, None, {"status": []}]}, "ok"])
def test_an_answer_without_sense_is_an_answer_and_a_problem(value: object) -> None:
    with serving(servers.told(value)) as server, Client(server.url, "search") as client:
        client.tell("1-1", Outcome.FIRST)
        assert client.flush()
        assert client.counters == Counters(queued=1, sent=1, problems={"invalid-response": 1})


def test_closing_sends_what_is_left(service: Server) -> None:
    client = Client(service.url, "search")
    for number in range(100):
        client.tell(f"1-{number}", Outcome.FIRST)
    client.close()
    assert len(told(service)) == 100
    client.close()
    assert client.ask().why == "resting"
    assert client.counters.rested == 1


def test_a_client_that_nobody_has_sends_what_is_left_and_ends(service: Server) -> None:
    def threads() -> int:
        return sum(thread.name == "rankduel outbox" for thread in threading.enumerate())

    before = threads()
    client = Client(service.url, "search")
    client.tell("1-1", Outcome.FIRST)
    del client
    gc.collect()
    until(lambda: len(told(service)) == 1)
    until(lambda: threads() == before)


def test_a_fork(service: Server) -> None:
    # What the parent has queued is the parent's to send; the child has a thread and connections of its own.
    code = f"""
import os, sys
from rankduel.client import Client
from rankduel.types import Outcome
client = Client({service.url!r}, "search", deadline=5)
assert client.ask().serve == "duel"
for number in range(50):
    client.tell(f"1-{{number}}", Outcome.FIRST)
child = os.fork()
if child == 0:
    assert client.waiting == 0 and client.counters.asks == 0
    assert client.ask().serve == "duel"
    client.tell("2-1", Outcome.SECOND)
    ok = client.flush(10) and client.counters.sent == 1
    os._exit(0 if ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert client.ask().serve == "duel" and client.flush(10) and client.counters.sent == 50
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    assert sorted(item["duel"] for item in told(service)) == sorted([f"1-{n}" for n in range(50)] + ["2-1"])


def test_numpy_is_all_that_an_application_needs(service: Server) -> None:
    others = ["msgspec", "starlette", "uvicorn", "uvloop", "httptools", "psycopg", "scipy", "pandas", "pyarrow", "rich"]
    code = f"""
import sys
for other in {others!r}:
    sys.modules[other] = None
import rankduel as rd
with rd.Client({service.url!r}, "search", deadline=5) as client:
    duel = client.ask("q")
    client.tell(duel, clicks=[duel.interleave(["a"], ["b"], k=2).documents[0]])
    assert client.flush(10) and client.counters.accepted == 1
assert "sqlite3" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


SCRIPT = """
import time
from rankduel.client import Client
from rankduel.types import Outcome
client = Client({url!r}, "search", exit_timeout=0.5)
for number in range(50):
    client.tell(f"1-{{number}}", Outcome.FIRST)
print(time.time(), flush=True)
"""


def test_the_end_of_a_program_sends_what_is_left(service: Server) -> None:
    subprocess.run([sys.executable, "-c", SCRIPT.format(url=service.url)], check=True, timeout=60)
    assert len(told(service)) == 50


@pytest.mark.slow
def test_the_end_of_a_program_waits_for_the_slowest_client_only(service: Server) -> None:
    with serving(servers.hangs) as hanging:
        code = f"""
from rankduel.client import Client
from rankduel.types import Outcome
clients = [Client(url, "search", exit_timeout=1) for url in [{hanging.url!r}] * 4 + [{service.url!r}] * 4]
for client in clients:
    client.tell("1-1", Outcome.FIRST)
"""
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
        assert len(told(service)) == 4


@pytest.mark.slow
def test_the_end_of_a_program_does_not_wait_for_ever() -> None:
    with serving(servers.hangs) as server:
        script = SCRIPT.format(url=server.url)
        ran = subprocess.run([sys.executable, "-c", script], check=True, timeout=60, capture_output=True, text=True)
        assert time.time() - float(ran.stdout) < 5
        (warning,) = ran.stderr.splitlines()
        assert warning.startswith("tell failed: Items not sent in time.")
        assert "unsent, 50 times" in warning


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: c.ask(7), ValueError, "query_id must be 1 to 200 printable characters, got 7"),
        (lambda c: c.ask("q" * 201), ValueError, "query_id must be 1 to 200 printable characters"),
        (lambda c: c.ask("q", "a\nb"), ValueError, "client_id must be 1 to 200 printable characters"),
        (lambda c: c.tell("1-1"), TypeError, "outcome must be Outcome.FIRST"),
        (lambda c: c.tell("1-1", True), TypeError, "outcome must be Outcome.FIRST"),
        (lambda c: c.tell(None, Outcome.TIE), TypeError, "duel must be what ask"),
        (lambda c: c.tell("1-1", Outcome.TIE, clicks=[]), ValueError, "pass either outcome or clicks, not both"),
        (lambda c: c.tell("1-1", clicks="doc-7"), TypeError, "clicks must be a list, got 'doc-7'"),
        (
            lambda c: c.tell("1-1", clicks=["a"]),
            ValueError,
            "no page given; call duel.interleave.. first, or pass shown=",
        ),
        (lambda c: c.tell("1-1", clicks=[{"a"}], shown=PAGE), TypeError, "not JSON serializable"),
        (
            lambda c: c.tell("1-1", clicks=["x" * 300_000], shown=PAGE),
            ValueError,
            "an item must have at most 262144 bytes as JSON",
        ),
        (lambda c: c.show("1-1"), ValueError, "no page given; call duel.interleave.. first, or pass page="),
        (lambda c: c.show("1-1", {"documents": []}), TypeError, "a page must be what duel.interleave"),
        (lambda c: c.observe(CLICK), TypeError, "seen must contain only Signal and Shown"),
        (lambda c: c.observe([{"action": "click"}]), TypeError, "seen must contain only Signal and Shown"),
        (lambda c: c.observe([CLICK, CLICK._replace(query_id="")]), ValueError, "query_id must be 1 to 200"),
        (lambda c: c.flush("soon"), ValueError, "timeout must be a number of seconds"),
    ],
)
def test_a_wrong_argument_raises_at_once(
    service: Server, call: Callable[[Client], object], error: type[Exception], message: str
) -> None:
    with Client(service.url, "search") as client:
        with pytest.raises(error, match=message):
            call(client)
        assert client.counters == Counters()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://host"}, "url must be http://HOST:PORT or https://HOST, got 'ftp://host'"),
        ({"url": "http://host:99999"}, "url must be"),
        ({"url": "http://"}, "url must be"),
        ({"url": "http://a b"}, "url must be"),
        ({"url": "http://host/\r\nX: y"}, "url must be"),
        ({"url": "http://me:secret@host"}, "url must be"),
        ({"url": "http://host?x=1"}, "url must be"),
        ({"tournament": ""}, "tournament must be 1 to 200 printable characters"),
        ({"key": "a\r\nX: y"}, "key must be printable ASCII without spaces"),
        ({"deadline": 0}, "deadline must be a number of seconds from 0.001 to 10, got 0"),
        ({"deadline": float("nan")}, "deadline must be a number"),
        ({"queue": 0}, "queue must be a whole number of at least 1, got 0"),
        ({"baseline": ""}, "baseline must be 1 to 200"),
        ({"exit_timeout": -1}, "exit_timeout must be"),
    ],
)
def test_a_wrong_setting_raises_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Client(**{"url": "http://127.0.0.1:9", "tournament": "search", **options})
