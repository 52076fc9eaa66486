"""A hostile or broken service: `RemoteTournament` raises rankduel's own errors and nothing else."""

import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankduel as rd
from attack.hostile_answers import damaged, json_text, responses
from client import servers
from client.servers import DUEL, Server, answer, serving, well
from rankduel.client import RemoteTournament, names_at
from rankduel.interleaving import TeamDraftInterleaving
from rankduel.live.rules.signals import Signal
from rankduel.types import Outcome

PAGE = TeamDraftInterleaving().interleave(["a", "b", "c"], ["c", "d"], k=3, seed=1)
CLICK = Signal("q-1", "click", "d4", 2, 1_800_000_000.0, None, "e-1")
COUNTS = dict.fromkeys(("issued", "shown", "resolved", "no_signal", "expired", "late", "void", "failed"), 3)
SETTINGS = {
    "bandit": "CertifiedSparring(delta=0.05)",
    "interleaving": "TeamDraftInterleaving()",
    "expires_after": 86400.0,
    "baseline": None,
    "external_baseline": False,
    "share": 1.0,
    "shadow": False,
    "after_decision": "winner",
    "daily_cap": None,
    "in_flight_cap": 7,
    "guardrails": [],
    "attribution": {"window": 60.0},
}
MEETING = {"first": "ltr", "second": "neural", "wins": 1, "losses": 2, "ties": 0}
HEALTH = {
    **{
        "duels": COUNTS,
        "served": {"paused": 1},
        "told_again": 0,
        "conflicts": 0,
        "unknown": 0,
        "signals": {"click": 2},
    },
    **{"signals_again": 0, "signals_dropped": 0, "maintenance": None},
    **{"orphans": 0, "late_signals": 0, "outcomes": {"first": 1}, "delays": {"10": 2}},
    **{"failure": None, "clock": None},
}
DECISION = {
    **{"winner": None, "tied": [], "champion": "ltr", "left": ["ltr", "neural"], "eliminated": []},
    **{"delta": 0.05, "tolerance": None, "tried": 2, "retired": 0, "resolved": 7, "p_best_exists": 1.0},
    **{"copeland": [], "stopped": False, "headline": "No decision yet.", "meaning": "None."},
}
KNOWN = {
    **{"duel": "1-1", "query_id": None, "first": "ltr", "second": "neural", "state": "issued", "outcome": None},
    **{"issued": 1e9, "expires": 2e9},
}
SOUND: dict[str, Any] = {  # by the end of the address
    "/ask": {"duels": [DUEL]},
    "/tell": {"receipts": [{"status": "accepted", "outcome": "first"}]},
    "/show": {"statuses": ["accepted"]},
    "/events": {"statuses": ["accepted"], "errors": []},
    "/decision": DECISION,
    "/health": HEALTH,
    "/rankers": {"rankers": [{"ranker": "ltr"}, {"ranker": "neural"}], "next": None},
    "/leaderboard": {
        "standings": [{"ranker": "ltr", "state": "left", "wins": 1, "losses": 0, "ties": 0}],
        "next": None,
    },
    "/timeline": {
        "departures": [{"ranker": "ltr", "resolved": 9, "by": None, "evidence": 2.5, "left": 1, "state": "eliminated"}],
        "next": None,
    },
    "/preferences": {"pairs": [MEETING], "next": None},
    "/duels": {"duels": [KNOWN], "next": None},
    "/journal": {
        "events": [{"number": 1, "time": 1e9, "kind": "created", "body": {"rankers": ["ltr", "neural"]}}],
        "next": None,
    },
    "/search": {"status": "running", "champion": "ltr", "winner": None, "duels": COUNTS, "settings": SETTINGS},
    "/tournaments": {"tournaments": [{"name": "search"}], "next": None},
}
CALLS: dict[str, list[Callable[[RemoteTournament], object]]] = {
    "/ask": [lambda t: t.ask_many([("q", None)])],
    "/tell": [lambda t: t.tell("1-1", Outcome.FIRST), lambda t: t.tell_soon([("1-1", Outcome.TIE)]).result()],
    "/show": [lambda t: t.show("1-1", PAGE)],
    "/events": [lambda t: t.observe([CLICK])],
    "/decision": [lambda t: t.decision()],
    "/health": [lambda t: (t.health(), t.health().joined)],
    "/rankers": [lambda t: t.rankers],
    "/leaderboard": [lambda t: [(line, line.rate) for line in t.leaderboard()]],
    "/timeline": [lambda t: t.timeline()],
    "/preferences": [lambda t: t.preferences()],
    "/duels": [lambda t: t.duels(2500)],
    "/journal": [lambda t: list(t.journal()), lambda t: t.settings],
    "/search": [
        *[lambda t: t.status, lambda t: t.champion, lambda t: t.winner, lambda t: (t.counts, t.counts.in_flight)],
        *[lambda t: t.settings, lambda t: t.attribution],
    ],
    "/tournaments": [lambda t: names_at(t._calls.url)],
}
PROBLEM = {
    **{"type": "/problems/bad-value", "title": "Invalid value", "status": 422, "detail": "share must be below 1"},
    **{"value": 7, "at": "share"},
}


class Sound:
    """A service that answers as it should, but for one address; after 40 requests it refuses all."""

    def __init__(self, place: str = "", text: bytes = b"", status: int = 200) -> None:
        self.place, self.damaged = place, json_text(text, status)
        self.requests = 0

    def __call__(self, server: Server, connection: socket.socket, line: str, body: bytes) -> None:
        """The answer to a request."""
        self.requests += 1
        place = "/" + line.partition("?")[0].rpartition("/")[2]
        if self.requests > 40:
            answer(connection, {"title": "no"}, 500)
        elif place == self.place:
            self.damaged(server, connection, line, body)
        else:
            answer(connection, SOUND[place])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server whose behaviour each example sets."""
    with serving(well) as server:
        yield server


@pytest.fixture(scope="module")
def remote(server: Server) -> Iterator[RemoteTournament]:
    with RemoteTournament("search", server.url) as t:
        yield t


@pytest.mark.parametrize("place", CALLS)
def test_sound_answers_are_read(server: Server, remote: RemoteTournament, place: str) -> None:
    """The answers that the other tests damage are what a service sends."""
    server.behaves = Sound()
    for call in CALLS[place]:
        call(remote)


def result_of(call: Callable[[RemoteTournament], object], t: RemoteTournament) -> object:
    """What a call returns or raises."""
    try:
        return call(t)
    except Exception as error:
        return error


@pytest.mark.parametrize("place", CALLS)
@given(data=st.data())
def test_a_damaged_answer_is_an_error_of_ours(
    server: Server, remote: RemoteTournament, data: st.DataObject, place: str
) -> None:
    """An answer with any one value replaced or missing: a value that can be printed, or a RankduelError."""
    text = data.draw(damaged(SOUND[place]))
    for call in CALLS[place]:
        server.behaves = Sound(place, text)
        result = result_of(call, remote)
        if type(result) is ValueError:  # signals that the service has refused are wrong arguments
            assert place == "/events"
            assert json.loads(text)["errors"]
        elif isinstance(result, Exception):
            assert isinstance(result, rd.RankduelError)
            assert len(str(result)) < 2500
        str(result).encode()


@given(text=damaged(PROBLEM), status=st.integers(300, 999))
def test_a_damaged_problem_is_an_error_of_ours(
    server: Server, remote: RemoteTournament, text: bytes, status: int
) -> None:
    """A refusal of any shape is a RankduelError, or the ValueError of a wrong argument that the service names."""
    server.behaves = Sound("/decision", text, status)
    with pytest.raises((rd.RankduelError, ValueError)) as caught:
        remote.decision()
    assert len(str(caught.value)) < 2500
    str(caught.value).encode()
    if not isinstance(caught.value, rd.RankduelError):
        assert json.loads(text)["type"] == "/problems/bad-value"


@given(content=responses())
def test_no_answer_but_an_error_of_ours(server: Server, remote: RemoteTournament, content: bytes) -> None:
    """Any bytes as an answer: a RankduelError."""
    server.behaves = servers.text(content)
    with pytest.raises(rd.RankduelError):
        remote.decision()


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("/rankers", b'{"rankers": [], "next": 5}'),
        ("/journal", b'{"events": [], "next": 5}'),
        ("/duels", b'{"duels": [], "next": "1-1"}'),
        ("/tournaments", b'{"tournaments": [], "next": "a"}'),
    ],
)
def test_empty_pages_without_end_end(server: Server, remote: RemoteTournament, place: str, text: bytes) -> None:
    """A page without lines that is not the last one is an error, not a loop."""
    server.behaves = sound = Sound(place, text)
    with pytest.raises(rd.StorageError, match="is not the last one"):
        CALLS[place][0](remote)
    assert sound.requests <= 2


def test_a_message_of_a_service_cannot_write_to_a_terminal(server: Server, remote: RemoteTournament) -> None:
    """Control characters of a refusal are escaped, and a long one is cut."""
    server.behaves = Sound("/decision", json.dumps({"detail": "\x1b[2J" + "x" * 100_000}).encode(), 500)
    with pytest.raises(rd.StorageError) as caught:
        remote.decision()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1500
