"""What keeps a client from working is loud, once: a warning that says what to do, and counters."""

import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest

import rankduel as rd
from client import servers
from client.servers import DUEL, Behaviour, serving
from client.service import running
from fences import ROOT
from rankduel.client import Client, outbox
from rankduel.client.problems import KINDS, REPEAT_SECONDS, ProblemLog, problem_in
from rankduel.client.response import Answer
from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live import storage_at
from rankduel.live.rules.signals import Shown, Signal
from rankduel.service import new_key
from rankduel.service.problems import PROBLEMS

PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=3, seed=1)
OTHER_METHOD = rd.interleaving.BalancedInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=3, seed=1)
CLICK = Signal("q-1", "click", "d4", 2, 1_800_000_000.0, None, "e-1")


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts of the outbox follow each other quickly."""
    monkeypatch.setattr(outbox, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(outbox, "_MAX_PAUSE_SECONDS", 0.05)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, logger="rankduel"):
        yield caplog


def warnings(log: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in log.records if each.levelno == logging.WARNING and each.name == "rankduel"]


def infos(log: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in log.records if each.levelno == logging.INFO and each.name == "rankduel"]


# The rules


def test_kinds_are_those_of_the_service() -> None:
    """A problem of a call that a client makes has the service's title, and advice."""
    foreign = {"session-over", "unknown-ranker", "tournament-exists", "wrong-state"}  # of calls that it never makes
    for name, kind in PROBLEMS.items():
        assert name in foreign or KINDS[name].title == kind.title, name
    assert all(advice and not advice.endswith(".") for _, advice, _ in KINDS.values())


def test_the_page_has_the_kinds_of_the_client() -> None:
    page = (ROOT / "docs" / "client.md").read_text()
    assert [kind for kind in KINDS if kind not in PROBLEMS and f"`{kind}`" not in page] == []


def test_a_kind_is_logged_at_once_and_then_every_hour_with_its_count() -> None:
    log = ProblemLog("http://host", "search", None)
    lines = [
        log.failed("ask", "wrong-key", "revoked", now=7.0 + second) for second in range(int(2 * REPEAT_SECONDS) + 1)
    ]
    said = [(second, line.text) for second, line in enumerate(lines) if line is not None]
    assert [second for second, _ in said] == [0, 3600, 7200]
    assert "wrong-key, once;" in said[0][1]
    assert "wrong-key, 3,600 times since the last warning;" in said[1][1]
    assert log.counts() == {"wrong-key": 7201}
    assert log.last is not None
    assert (log.last.count, log.last.when, log.last.over) == (7201, 7207.0, False)


def test_a_clock_that_is_set_back_does_not_silence_it() -> None:
    log = ProblemLog("http://host", "search", None)
    assert log.failed("ask", "wrong-key", "", now=1e9) is not None
    assert log.failed("ask", "wrong-key", "", now=1e9 - 86_400) is not None


def test_the_end_is_logged_once_for_each_warning() -> None:
    log = ProblemLog("http://host", "search", None)
    assert log.succeeded("ask", now=0.0) == []
    for minute in range(60):
        log.failed("ask", "storage", "", now=60.0 * minute)
        ends = log.succeeded("ask", now=60.0 * minute + 1)
        assert len(ends) == (minute == 0)
        assert log.last is not None
        assert log.last.over
    assert log.failing == set()


def test_calls_have_their_own_problems() -> None:
    """A key without `ingest` is found although the same key lacks `tell` too; asks that work end neither."""
    log = ProblemLog("http://host", "search", None)
    assert log.failed("tell", "wrong-scope", "", now=0.0) is not None
    assert log.failed("observe", "wrong-scope", "", now=0.0) is not None
    assert log.succeeded("ask", now=1.0) == []
    assert log.failing == {"tell", "observe"}
    assert log.counts() == {"wrong-scope": 2}


def test_one_late_response_is_counted_and_not_logged() -> None:
    log = ProblemLog("http://host", "search", None)
    for number in range(99):
        assert log.failed("ask", "no-response", "", now=float(number)) is None
        log.succeeded("ask", now=float(number))
    assert log.failed("ask", "no-response", "", now=99.0) is not None  # the hundredth
    assert log.counts() == {"no-response": 100}


def test_late_responses_are_logged_when_nothing_else_comes() -> None:
    log = ProblemLog("http://host", "search", None)
    assert [log.failed("ask", "no-response", "", now=time) is None for time in (0.0, 0.3, 0.6, 0.9, 1.2)] == [
        *[True] * 4,
        False,
    ]
    assert ProblemLog("", "", None).failed("ask", "no-response", "", now=0.0, urgent=True) is not None


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"type": "/problems/wrong-key"}, "wrong-key"),
        (404, {"type": "/problems/unknown-tournament"}, "unknown-tournament"),
        (404, None, "refused"),
        (404, ["not", "ours"], "refused"),
        (404, {"type": "about:blank"}, "refused"),
        (403, {"type": "/problems/queue-full-of-news"}, "refused"),
        (301, {"type": "/problems/wrong-key"}, "redirect"),
        (502, None, "server-error"),
        (503, {"type": "/problems/storage"}, "storage"),
        (204, None, "invalid-response"),
        (999, {"type": "/problems/wrong-key"}, "invalid-response"),
        (500, {"type": []}, "server-error"),
    ],
)
def test_kinds_of_responses(status: int, body: Any, kind: str) -> None:
    assert problem_in(Answer(status, body))[0] == kind


# Against the service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """A service with keys, and a tournament."""
    url = f"sqlite:///{tmp_path_factory.mktemp('service')}/duels.db"
    storage = storage_at(url)
    scopes = {"admin": ["admin"], "all": ["ask", "tell", "ingest"], "tells": ["tell"], "asks": ["ask"]}
    keys = {name: new_key(storage, name, each)[1] for name, each in scopes.items()}
    storage.close()
    with running(url) as address:
        rd.Tournament.create("search", storage=address, rankers=["a", "b"], key=keys["admin"]).close()
        yield address, keys


@pytest.mark.parametrize(
    ("settings", "kind", "advice"),
    [
        ({"key": "rd_000000000000_wrong"}, "wrong-key", "the setting `key`"),
        ({"key": None}, "no-key", "RANKDUEL_KEY"),
        ({"key": "tells"}, "wrong-scope", "rankduel keys create"),
        ({"tournament": "sale"}, "unknown-tournament", "the setting `tournament`"),
        ({"host": "127.1"}, "bad-host", "its setting `hosts`"),
        ({"path": "/duels"}, "not-found", "path in the setting `url`"),
    ],
)
def test_a_wrong_setting_is_a_warning(
    service: tuple[str, dict[str, str]],
    log: pytest.LogCaptureFixture,
    settings: dict[str, str],
    kind: str,
    advice: str,
) -> None:
    """Users see the baseline, and the log says why, once, without the key."""
    address, keys = service
    key = settings.get("key", "all")
    secret = keys.get(key, key)
    url = address.replace("127.0.0.1", settings.get("host", "127.0.0.1")) + settings.get("path", "")
    tournament = settings.get("tournament", "search")
    with Client(url, tournament, key=secret, baseline="a", deadline=5) as client:
        for _ in range(5):
            assert client.ask().serve == "baseline"
        problem = client.last_problem
        assert problem is not None
        assert (problem.kind, problem.call, problem.count, problem.over) == (kind, "ask", 5, False)
        assert problem.title == KINDS[kind].title
        assert client.counters.problems == {kind: 5}
        (warning,) = warnings(log)
        assert problem.title in warning
        assert advice in warning
        assert repr(tournament) in warning
        assert secret is None or secret not in log.text + repr(problem)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:{free}", "unreachable"),
        ("http://no-such-host.invalid", "unknown-host"),
        ("https://127.0.0.1:{port}", "tls"),
    ],
)
def test_a_wrong_address_is_a_warning(
    service: tuple[str, dict[str, str]], log: pytest.LogCaptureFixture, url: str, kind: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    with Client(url.format(free=free, port=service[0].rpartition(":")[2]), "search", deadline=5) as client:
        for _ in range(3):
            client.ask()
        assert client.counters.problems == {kind: 3}
    (warning,) = warnings(log)
    assert KINDS[kind].title in warning
    assert "`url`" in warning


@pytest.mark.parametrize(
    ("behaves", "kind"),
    [
        (servers.told({"hello": "world"}), "invalid-response"),  # another service
        (servers.told({**DUEL, "serve": "compare"}), "invalid-response"),  # another version
        (servers.told({**DUEL, "interleaving": "of_the_future"}), "invalid-response"),
        (servers.text(b"HTTP/1.1 404 No\r\nContent-Length: 6\r\n\r\n<html>"), "refused"),  # a web server
        (servers.text(b"HTTP/1.1 502 No\r\nContent-Length: 6\r\n\r\n<html>"), "server-error"),  # a proxy
        (servers.status(301, "Location: https://elsewhere/\r\n"), "redirect"),
    ],
)
def test_another_service_is_a_warning(log: pytest.LogCaptureFixture, behaves: Behaviour, kind: str) -> None:
    with serving(behaves) as server, Client(server.url, "search", deadline=5) as client:
        for _ in range(3):
            assert client.ask().serve == "baseline"
        assert client.counters.problems == {kind: 3}
        (warning,) = warnings(log)
        assert KINDS[kind].title in warning


def test_a_problem_that_is_over(service: tuple[str, dict[str, str]], log: pytest.LogCaptureFixture) -> None:
    """One INFO when asks work again."""
    address, keys = service
    with Client(address, "soon", key=keys["all"], deadline=5) as client:
        for _ in range(3):
            assert client.ask().why == "refused"
        rd.Tournament.create("soon", storage=address, rankers=["a", "b"], key=keys["admin"]).close()
        for _ in range(3):
            assert client.ask().serve == "duel"
        problem = client.last_problem
        assert problem is not None
        assert (problem.kind, problem.over) == ("unknown-tournament", True)
    (end,) = infos(log)
    assert end.startswith("ask works again: Unknown tournament is over, after 3 times (tournament 'soon'")
    assert len(warnings(log)) == 1


def test_items_that_are_dropped_later(service: tuple[str, dict[str, str]], log: pytest.LogCaptureFixture) -> None:
    """A conflict, an unknown duel, a page of another method: the caller is long gone, so the log says it."""
    address, keys = service
    rd.Tournament.create("shop", storage=address, rankers=["a", "b"], key=keys["admin"]).close()
    with Client(address, "shop", key=keys["all"], deadline=5) as client:
        duel = client.ask()
        client.tell(duel, rd.Outcome.FIRST)
        client.flush()
        client.tell(duel, rd.Outcome.SECOND)
        client.tell("9-99", rd.Outcome.FIRST)
        client.tell(client.ask(), clicks=["a"], shown=OTHER_METHOD)
        assert client.flush()
        assert client.counters.problems == {"conflict": 1, "unknown-duel": 1, "bad-value": 1}
        assert len(warnings(log)) == 3
        assert "the page was made by 'balanced', but the tournament of its query uses 'team_draft'" in log.text
        assert "client.page_view" in log.text


def test_keys_that_may_not_tell_or_ingest(service: tuple[str, dict[str, str]], log: pytest.LogCaptureFixture) -> None:
    address, keys = service
    with Client(address, "search", key=keys["asks"], deadline=5) as client:
        client.tell(client.ask(), rd.Outcome.FIRST)
        client.observe([CLICK])
        assert client.flush()
        assert client.counters.problems == {"wrong-scope": 2}
        assert client.counters.rejected == 2
    assert sorted(warning.partition(":")[0] for warning in warnings(log)) == ["observe failed", "tell failed"]


def test_invalid_events_are_a_warning_and_unknown_queries_are_not(
    service: tuple[str, dict[str, str]], log: pytest.LogCaptureFixture
) -> None:
    """With a share of 5 %, most clicks belong to no duel: that is as it should be."""
    address, keys = service
    with Client(address, "search", key=keys["all"], deadline=5) as client:
        client.observe([CLICK, CLICK._replace(key="e-2")])
        assert client.flush()
        assert (client.counters.unknown, client.counters.problems) == (2, {})
        client.observe([CLICK, Shown("q-1", OTHER_METHOD)])
        assert client.flush()
        assert client.counters.problems == {"bad-value": 1}
    (warning,) = warnings(log)
    assert warning.startswith("observe failed: Invalid value: event ")


def test_a_queue_that_is_full_and_a_client_that_is_closed(log: pytest.LogCaptureFixture) -> None:
    with serving(servers.hangs) as server:
        client = Client(server.url, "search", queue=2)
        assert [client.tell("1-1", rd.Outcome.FIRST) for _ in range(5)] == [True] * 2 + [False] * 3
        client.close(0.05)
        assert not client.tell("1-1", rd.Outcome.FIRST)
        problems = client.counters.problems
        assert (problems["queue-full"], problems["unsent"], problems["closed"]) == (3, 2, 1)
        assert len(warnings(log)) == 3


def test_an_outage_is_one_warning_of_each_call(log: pytest.LogCaptureFixture) -> None:
    """However many asks and attempts fail."""
    with serving(servers.status(503)) as server, Client(server.url, "search", deadline=5) as client:
        client.tell("1-1", rd.Outcome.FIRST)
        for _ in range(300):
            client.ask()
        client.flush(0.5)
        client.close(0)
        assert sorted(each.partition(":")[0] for each in warnings(log) if "server-error" in each) == [
            "ask failed",
            "tell failed",
        ]


def test_a_handler_that_fails_does_not_reach_a_request() -> None:
    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise RuntimeError("no disk space")

    logger, handler = logging.getLogger("rankduel"), Broken()
    logger.addHandler(handler)
    try:
        with serving(servers.status(401)) as server, Client(server.url, "search", deadline=5) as client:
            assert client.ask().why == "refused"
            assert client.counters.problems == {"refused": 1}
    finally:
        logger.removeHandler(handler)
