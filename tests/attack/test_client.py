"""A hostile or broken service: `Client` serves the baseline, raises nothing, and stays small."""

import json
import logging
import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attack.hostile_answers import HUGE, VALUES, damage, damaged, json_text, responses
from client import servers
from client.servers import DUEL, Behaviour, Server, serving, well
from rankduel.client import Client, Counters, outbox, transport
from rankduel.client.problems import KINDS, ProblemLog
from rankduel.client.transport import Transport
from rankduel.client.wire import duel_from
from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live import LiveDuel
from rankduel.live.rules.signals import Shown, Signal
from rankduel.types import Outcome

PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=3, seed=1)
CLICK = Signal("q-1", "click", "d4", 2, 1_800_000_000.0, None, "e-1")
KEY = "rd_5f1c0a9b2d3e_a-Secret_of_43_characters"
REASONS = ("deadline", "unreachable", "refused", "resting")


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts of the outbox follow each other quickly."""
    monkeypatch.setattr(outbox, "_FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(outbox, "_MAX_PAUSE_SECONDS", 0.001)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server whose behaviour each example sets."""
    with serving(well) as server:
        yield server


@pytest.fixture(scope="module")
def short_pauses() -> Iterator[None]:
    """A pause that a server asks for is short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transport, "_MAX_RETRY_AFTER_SECONDS", 0.001)
        yield


@contextmanager
def asking(url: str, **settings: Any) -> Iterator[Client]:
    client = Client(url, "search", baseline="bm25", **{"deadline": 10.0, **settings})
    try:
        yield client
    finally:
        client.close(0)


def adds_up(counters: Counters) -> bool:
    """Each ask ended in one way, and each item that was queued is accounted for."""
    asked = counters.answered + counters.late + counters.failed + counters.refused + counters.rested
    return counters.asks == asked and counters.queued == counters.sent + counters.rejected


def search(client: Client) -> LiveDuel:
    """One search of a user, with all that an application does for it; nothing of it may raise."""
    duel = client.ask("q-1", "somebody")
    if duel.serve == "baseline" and duel.why in REASONS:
        assert (duel.id, duel.first, duel.second, duel.ticket) == (None, "bm25", "bm25", None)
    assert duel.first.isprintable()
    assert duel.second.isprintable()
    assert math.isfinite(duel.expires)
    assert duel.expires >= 0
    page = duel.interleave(["a", "b", "c"], ["c", "d"], k=3)
    assert client.tell(duel, Outcome.FIRST)
    assert client.tell(duel, clicks=[page.documents[0]])
    assert client.show(duel)
    assert client.observe([CLICK, Shown("q-1", PAGE)])
    return duel


# `Client`: whatever is answered


@given(content=responses())
@example(content=b"HTTP/1.1 200 OK\r\n\r\n" + damage(DUEL, ("expires",), HUGE))
def test_no_answer_raises_in_the_path_of_a_request(server: Server, content: bytes) -> None:
    """Any bytes as the answer to an ask: users get a sound duel or the baseline."""
    server.behaves = servers.text(content)
    with asking(server.url) as client:
        search(client)
        assert client.counters.asks == 1


@given(text=damaged(DUEL))
def test_a_damaged_duel_is_the_baseline_or_sound(server: Server, text: bytes) -> None:
    """A duel with any one value replaced or missing: users get a sound duel or the baseline."""
    server.behaves = json_text(text)
    with asking(server.url) as client:
        search(client)
        assert client.counters.answered + client.counters.failed == 1


def parsed(text: bytes) -> Any:
    """What the client makes of a text; None if it is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


@given(value=VALUES | damaged(DUEL).map(parsed))
def test_an_answer_is_a_duel_or_a_value_error(value: Any) -> None:
    """`duel_from` has one way to say no, for any value."""
    with suppress(ValueError):
        duel_from(value)


@given(content=responses())
def test_the_outbox_survives_any_answer(server: Server, short_pauses: None, content: bytes) -> None:
    """Any bytes as the answer to a batch: its thread lives on, the next answer is taken, and the counters add up."""
    first = [servers.text(content)]

    def behaves(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        (first.pop() if first else well)(server, connection, line, body)

    server.behaves = behaves
    with asking(server.url) as client:
        client.tell("1-1", Outcome.FIRST)
        client.tell("1-2", Outcome.FIRST)
        assert client.flush(60)
        assert client.counters.queued == 2
        assert adds_up(client.counters)


@pytest.mark.parametrize(
    ("field", "token"),
    [
        *[("expires", token) for token in (HUGE, b"-1", b"NaN", b"Infinity", b"1e999", b'"12"', b"true", b"null")],
        *[("seed", token) for token in (HUGE, b"-1", b"18446744073709551616", b"true", b"1.5", b"NaN", b'"7"')],
        *[("first", token) for token in (b'"\\ud800"', b'"\\u001b[2J"', b'""', b'"' + b"x" * 201 + b'"', b"[]")],
        *[("duel", token) for token in (b'"7"', b'"1-\\u0661"', b'"' + b"1" * 5000 + b'-1"', b'"../x"', b"1")],
        *[("ticket", token) for token in (b'"' + b"x" * 2001 + b'"', b'"\\u0000"', b'"\\udfff"', b"{}")],
        *[("why", token) for token in (b'"\\n"', b"7")],
        *[("interleaving", token) for token in (b'"probabilistic(tau=10**400)"', b'"' + b"(" * 150 + b'"', b'""')],
    ],
)
def test_a_value_out_of_range_is_the_baseline(server: Server, field: str, token: bytes) -> None:
    """A field of a duel with a value that no service sends: the baseline, counted as failed."""
    server.behaves = json_text(damage(DUEL, (field,), token))
    with asking(server.url) as client:
        assert search(client).why == "unreachable"
        assert (client.counters.asks, client.counters.failed) == (1, 1)


@pytest.mark.parametrize(
    "value",
    ["", "-1", "1e9", "nan", "inf", "soon", "9" * 5000, "Wed, 21 Oct 2999 07:28:00 GMT", "\u00b2", "1_0", " 7 "],
)
def test_retry_after_is_bounded(server: Server, value: str) -> None:
    """A server may ask to be left alone for at most a minute; what is no whole number of seconds is ignored."""
    server.behaves = servers.text(f"HTTP/1.1 503 No\r\nRetry-After: {value}\r\n\r\n".encode("latin-1"))
    asked = Transport(server.url).call("GET", "/", due=time.monotonic() + 10).retry_after
    assert asked is None or 0 <= asked <= 60
    with asking(server.url) as client:
        assert search(client).why == "unreachable"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(server: Server, status: int) -> None:
    """Neither asks nor tells go elsewhere, nor does the key."""
    with serving(well) as other:
        server.behaves = servers.status(status, f"Location: {other.url}/v1/tournaments/search/ask\r\n")
        with asking(server.url, key="rd_1_secret") as client:
            assert client.ask().why == "refused"
            client.tell("1-1", Outcome.FIRST)
            assert client.flush(60)
            assert (client.counters.rejected, client.counters.sent) == (1, 0)
        assert other.connections == 0


# `Client`: how much is read, how long that takes, how much is kept


def many_headers(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Six megabytes of headers, and then a sound answer."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n" + (b"X: " + b"y" * 60_000 + b"\r\n") * 99)
    connection.sendall(b"\r\n" + json.dumps(DUEL).encode())
    connection.shutdown(socket.SHUT_RDWR)


def long_chunks(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """A chunk for each byte, with an extension of 60 kB."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not server.ended.is_set():
        connection.sendall(b"1;" + b"x" * 60_000 + b"\r\n \r\n")


def long_trailer(server: Server, connection: socket.socket, line: str, body: bytes) -> None:
    """Headers after the last chunk, without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    while not server.ended.is_set():
        connection.sendall(b"X: y\r\n" * 1000)


@pytest.mark.parametrize(
    "behaves", [many_headers, long_chunks, long_trailer, servers.goes_on, servers.huge, servers.huge_chunks]
)
def test_an_answer_is_bounded_in_bytes(behaves: Behaviour) -> None:
    """Headers, chunks, trailers or a body without end: given up by their size, long before the deadline."""
    with serving(behaves) as server, asking(server.url) as client:
        assert client.ask().why == "unreachable"
        assert (client.counters.failed, client.counters.late) == (1, 0)


def test_a_large_answer_within_the_limit_is_read(server: Server) -> None:
    """The limit of the head is not one of the body, nor is a chunked body cut."""
    text = json.dumps({**DUEL, "more": "x" * 60_000}).encode()
    chunks = b"".join(
        b"%x\r\n%b\r\n" % (len(text[at : at + 999]), text[at : at + 999]) for at in range(0, len(text), 999)
    )
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with asking(server.url) as client:
        for behaves in (json_text(text), servers.text(head + chunks + b"0\r\n\r\n")):
            server.behaves = behaves
            assert client.ask().serve == "duel"


class SlowConnection:
    """A connection by TLS to a server that reads slowly: each record takes a second, and has its own time limit."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limit = 0.0

    def settimeout(self, seconds: float) -> None:
        self.limit = seconds

    def send(self, data: bytes) -> int:
        if self.limit < 1:
            raise TimeoutError
        self.now += 1
        return 1

    def sendall(self, data: bytes) -> None:
        for _ in data:
            self.send(data)

    def fileno(self) -> int:
        return 0


def test_the_deadline_is_for_all_that_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that reads slowly cannot stretch a call: `sendall` by TLS has the whole time limit for each record."""
    connection = SlowConnection()
    monkeypatch.setattr(transport, "monotonic", lambda: connection.now)
    with pytest.raises(TimeoutError):
        transport._Connection(cast("socket.socket", connection)).exchange("POST", b"x" * 1000, due=5.5, largest=1000)
    assert connection.now == 5


def test_the_queue_is_bounded_in_bytes() -> None:
    """Large items fill the queue before there are many; what does not fit is dropped and counted."""
    large = ["x" * 210_000]
    with serving(servers.hangs) as server, asking(server.url, queue_bytes=1_000_000) as client:
        assert [client.tell("1-1", clicks=large, shown=PAGE) for _ in range(6)] == [True] * 4 + [False] * 2
        assert client.tell("1-1", Outcome.FIRST)  # there is room for a small one
        assert (client.counters.queued, client.counters.dropped, client.waiting) == (5, 2, 5)


def test_room_in_the_queue_comes_back(server: Server) -> None:
    """What was sent, or refused for good, takes no more room."""
    with asking(server.url, queue_bytes=500_000) as client:
        for behaves in (well, servers.status(422), well):
            server.behaves = behaves
            assert client.tell("1-1", clicks=["x" * 210_000], shown=PAGE)
            assert client.tell("1-1", clicks=["x" * 210_000], shown=PAGE)
            assert not client.tell("1-1", clicks=["x" * 210_000], shown=PAGE)
            assert client.flush(60)
        assert client.counters == Counters(
            queued=6, dropped=3, sent=4, accepted=4, rejected=2, problems={"queue-full": 3, "refused": 2}
        )


def test_the_queue_is_bounded_in_bytes_by_default() -> None:
    """Without a setting, 210 kB pages take 64 MB, not gigabytes."""
    with serving(servers.hangs) as server, asking(server.url) as client:
        taken = sum(client.tell("1-1", clicks=["x" * 210_000], shown=PAGE) for _ in range(400))
        assert 300 <= taken <= 64_000_000 // 210_000
        assert client.counters.dropped == 400 - taken


@pytest.mark.parametrize("value", [0, 262_143, 1e9, True, None, 2**63])
def test_the_bound_in_bytes_is_checked(value: Any) -> None:
    """Less than one item may have, or no whole number: an error at once."""
    with pytest.raises(ValueError, match="queue_bytes must be a whole number of at least 262144"):
        Client("http://127.0.0.1:9", "search", queue_bytes=value)


@pytest.mark.parametrize("status", ["invalid", "accepted", "conflict"])
def test_more_receipts_than_tells_do_not_count(server: Server, status: str) -> None:
    """A server cannot move the counters by more than what it was sent."""
    server.behaves = servers.told({"receipts": [{"status": status, "outcome": None}] * 1000})
    with asking(server.url) as client:
        client.tell("1-1", Outcome.FIRST)
        assert client.flush(60)
        counters = client.counters
        assert (counters.sent + counters.rejected, counters.accepted + counters.conflict + counters.rejected) == (1, 1)
        assert counters.sent >= 0


# `Client`: what is logged


def answering(value: object, status: int) -> Behaviour:
    """Always this JSON with this status."""
    return lambda server, connection, line, body: servers.answer(connection, value, status)


@given(bodies=st.lists(VALUES | st.dictionaries(st.sampled_from(["type", "title", "detail"]), VALUES), max_size=30))
def test_a_service_cannot_flood_the_log(server: Server, bodies: list[Any]) -> None:
    """Whatever problems it invents: a known kind is logged once, in one short line; an invented one is none."""
    names = [*KINDS, "invented-1", "invented-2", "x" * 10_000, "\n", "../wrong-key"]
    said: list[logging.LogRecord] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record)

    handler, log = Listener(), logging.getLogger("rankduel")
    log.addHandler(handler)
    try:
        with asking(server.url, key=KEY) as client:
            for number, body in enumerate([*bodies, *bodies]):
                detail = f"{KEY}\n\x1b[2J{'z' * 5000} {KEY}"
                problem = {"type": f"/problems/{names[number % len(names)]}", "title": detail, "detail": detail}
                value = {**problem, **body} if isinstance(body, dict) else problem if number % 2 else body
                server.behaves = answering(value, (401, 404, 422, 503, 500, 429)[number % 6])
                client.ask()
            counters = client.counters
    finally:
        log.removeHandler(handler)
    assert len(said) <= len(KINDS)
    assert set(counters.problems) <= set(KINDS)
    for record in said:
        text = record.getMessage()
        assert KEY not in text
        assert "rd_" not in text
        assert text.isprintable()
        assert len(text) < 2_500
    assert KEY not in repr(client.last_problem)


def test_a_key_that_a_service_sends_back_is_not_logged(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """A proxy that shows the headers of a request in its errors; also a key of any other client."""
    detail = f"forbidden: Authorization: Bearer {KEY}, or rd_0123456789ab_anotherSecret-of_somebody"
    body = {"type": "/problems/wrong-scope", "detail": detail, "title": KEY}
    server.behaves = answering(body, 403)
    with asking(server.url, key=KEY) as client:
        client.ask()
        client.tell("1-1", Outcome.FIRST)
        assert client.flush(60)
        assert client.last_problem is not None
        logged = caplog.text + repr(client.last_problem)
        assert "Secret" not in logged
        assert "somebody" not in logged
        assert "forbidden: Authorization: Bearer ***, or ***" in caplog.text


def test_an_hour_of_problems_is_a_few_lines(caplog: pytest.LogCaptureFixture) -> None:
    """Asks that fail and work in turns, a thousand a second: a warning and an end for each kind, not for each ask."""
    log = ProblemLog("http://host", "search", None)
    lines = 0
    for number in range(200_000):
        kind = list(KINDS)[number % len(KINDS)]
        now = number * 3599 / 200_000
        lines += log.failed("ask", kind, "z" * 10_000, now) is not None
        lines += len(log.succeeded("ask", now))
    assert lines <= 2 * len(KINDS)
