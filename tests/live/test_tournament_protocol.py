"""One suite for `Tournament`: the local one on SQLite and the remote one of a served HTTP service both pass it."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import is_dataclass
from time import time
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

import rankduel as rd
from client.service import running
from rankduel.client import RemoteTournament
from rankduel.interleaving import Interleaved
from rankduel.live import (
    Attribution,
    Clicks,
    Counts,
    Departure,
    DuelRow,
    Event,
    Guardrail,
    LiveDuel,
    LocalTournament,
    Receipt,
    Rollout,
    Shown,
    Signal,
    Status,
    Tournament,
)

FIRST, SECOND, TIE = rd.Outcome.FIRST, rd.Outcome.SECOND, rd.Outcome.TIE
RANKERS = ["bm25", "ltr", "neural", "a/b c:d?é"]
LISTS = ["d1", "d2", "d3", "d4"], ["d4", "d1", "d5", "d2"]


class Place:
    """Where a suite keeps its tournaments: an address, the class that opens it, and names that are not taken yet."""

    def __init__(self, storage: str, kind: type[Tournament]) -> None:
        self.storage, self.kind = storage, kind
        self._names = iter(f"t {number}" for number in range(10**6))

    def create(self, **settings: Any) -> Tournament:
        given: dict[str, Any] = {"rankers": RANKERS, "seed": 7, "baseline": "bm25"} | settings
        return Tournament.create(next(self._names), storage=self.storage, **given)


@pytest.fixture(scope="module", params=["local", "remote"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    url = f"sqlite:///{tmp_path_factory.mktemp('protocol')}/duels.db"
    if request.param == "local":
        yield Place(url, LocalTournament)
        return
    with running(url) as service:
        yield Place(service, RemoteTournament)


@pytest.fixture
def t(place: Place) -> Iterator[Tournament]:
    with place.create() as tournament:
        yield tournament


def page_of(duel: LiveDuel) -> Interleaved:
    return duel.interleave(*LISTS, k=3)


# The interface


def test_the_interface_is_covered() -> None:
    """Each public member of the interface is used below, by name."""
    members = {name for name in vars(Tournament) if not name.startswith("_")} | {"name"}
    source = inspect.getsource(inspect.getmodule(test_the_interface_is_covered) or pytest)
    assert {name for name in members if f".{name}" not in source} == set()


@pytest.mark.parametrize("kind", [LocalTournament, RemoteTournament])
def test_signatures_are_those_of_the_interface(kind: type[Tournament]) -> None:
    """Also the defaults and return types, which mypy does not compare exactly."""
    for name, member in vars(Tournament).items():
        found = getattr(kind, name, None)
        if name.startswith("_") or name in ("create", "open", "delete"):
            continue
        if isinstance(member, property):
            assert isinstance(found, property)
            assert get_type_hints(found.fget) == get_type_hints(member.fget), name
        else:
            assert inspect.signature(found) == inspect.signature(member), name  # type: ignore[arg-type]
    for name in ("create", "open", "delete"):
        expected, signature = inspect.signature(getattr(Tournament, name)), inspect.signature(getattr(kind, name))
        assert list(signature.parameters.values()) == list(expected.parameters.values())


def test_an_address_decides_the_class(place: Place) -> None:
    with place.create() as t:
        assert type(t) is place.kind
        assert isinstance(t, Tournament)
        name = t.name
    with Tournament.open(name, storage=place.storage) as t:
        assert type(t) is place.kind
        assert t.name == name
        assert name in repr(t)


def of_type(value: Any, kind: Any) -> bool:
    """Whether a value is exactly what its annotation says, inner values included."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if kind is Any:
        return True
    if origin in (list, tuple) and isinstance(value, origin):
        return all(of_type(each, inner[0] if inner else Any) for each in value)
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return all(of_type(key, inner[0]) and of_type(each, inner[1]) for key, each in value.items())
    if inner:
        return any(value is None if each is NoneType else of_type(value, each) for each in inner)
    if type(value) is not kind:
        return kind is float and type(value) is int
    has_fields = kind is not LiveDuel and (is_dataclass(kind) or hasattr(kind, "_fields"))
    hints = get_type_hints(kind) if has_fields else {}
    return all(of_type(getattr(value, name), hint) for name, hint in hints.items())


def test_results_are_of_the_types_that_the_interface_names(t: Tournament) -> None:
    """Not only equal to them: a list of tuples, or a status that is a string, would pass other tests."""
    duels = [t.ask(f"q {number}") for number in range(30)]
    t.tell_many([(duel, FIRST) for duel in duels[:20]])
    t.retire("neural")
    for name, member in vars(Tournament).items():
        if isinstance(member, property):
            assert of_type(getattr(t, name), get_type_hints(member.fget)["return"]), name
    calls: dict[str, tuple[Any, ...]] = {
        **{"ask": (), "ask_many": ([(None, None)],), "tell": (duels[20], TIE), "tell_many": ([(duels[21], TIE)],)},
        **{"show": (duels[22], page_of(duels[22])), "show_many": ([(duels[23], page_of(duels[23]))],)},
        "observe": ([Signal("q 22", "click", "d1", 1, time(), None, "e")],),
        **dict.fromkeys(("decision", "leaderboard", "timeline", "preferences", "duels", "health"), ()),
    }
    for name, given in calls.items():
        assert of_type(getattr(t, name)(*given), get_type_hints(getattr(Tournament, name))["return"]), name
    assert all(type(event) is Event and of_type(event, Event) for event in t.journal())


# Create, open, close


def test_create_and_open(place: Place) -> None:
    with place.create(exist_ok=True, delta=0.05, interleaving="probabilistic(tau=2)", expires_after=60) as t:
        settings = t.settings
        assert (settings.rankers, settings.expires_after) == (tuple(RANKERS), 60.0)
        assert settings.bandit.startswith("CertifiedSparring(delta=0.05")
        assert settings.interleaving == "ProbabilisticInterleaving(tau=2.0)"
        with pytest.raises(rd.TournamentExists):
            place.kind.create(t.name, rankers=RANKERS, storage=place.storage)
        name = t.name
    again: dict[str, Any] = {"rankers": RANKERS, "seed": 7, "storage": place.storage, "exist_ok": True}
    rules: dict[str, Any] = {
        "baseline": "bm25",
        "delta": 0.05,
        "interleaving": "probabilistic(tau=2)",
        "expires_after": 60,
    }
    with place.kind.create(name, **again, **rules) as t:
        assert t.rankers == RANKERS
    with pytest.raises(rd.TournamentExists, match="expires_after"):
        place.kind.create(name, **again, **rules | {"expires_after": 61})


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"rankers": "ab"}, TypeError, "rankers must be a list"),
        ({"rankers": []}, ValueError, "ranker"),
        ({"rankers": ["a", "a"]}, ValueError, "duplicate ranker 'a'"),
        ({"rankers": ["a", ""]}, ValueError, "1 to 200|length"),
        ({"bandit": "Nobody"}, ValueError, "unknown bandit 'Nobody'"),
        ({"interleaving": "none"}, ValueError, "unknown interleaving 'none'"),
        ({"delta": 2}, ValueError, "delta"),
        ({"share": 7}, ValueError, "share must be a number from 0 to 1, got 7"),
        ({"shadow": 1}, ValueError, "shadow must be True or False"),
        ({"attribution": {"window": -1}}, ValueError, "window"),
        ({"colour": "red"}, TypeError, "unknown setting 'colour'"),
        ({"expires_after": 0}, ValueError, "expires_after"),
    ],
)
def test_wrong_settings(place: Place, wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        place.create(**wrong)
    assert type(caught.value) is error


def test_wrong_names(place: Place) -> None:
    with pytest.raises(rd.UnknownTournament, match="nowhere"):
        Tournament.open("nowhere", storage=place.storage)
    for name in ("", "a\nb", "x" * 201, 7):
        with pytest.raises(ValueError, match="the name of a tournament must be 1 to 200 printable characters"):
            Tournament.open(name, storage=place.storage)  # type: ignore[arg-type] # 7
        with pytest.raises(ValueError, match="the name of a tournament must be 1 to 200 printable characters"):
            Tournament.create(name, rankers=RANKERS, storage=place.storage)  # type: ignore[arg-type]


def test_nothing_works_when_closed(place: Place) -> None:
    t = place.create()
    duel = t.ask()
    t.close()
    t.close()
    calls: list[Callable[[], object]] = [
        t.ask,
        lambda: t.tell(duel, FIRST),
        lambda: t.show(duel, page_of(duel)),
        lambda: t.observe([]) and t.counts,
        lambda: t.counts,
        t.pause,
        lambda: t.configure(share=0.5),
        lambda: t.void(duel),
    ]
    for number, call in enumerate(calls):
        if number != 3:  # an empty list needs no storage
            with pytest.raises(rd.StorageError, match="closed"):
                call()
    with pytest.raises(rd.StorageError, match="closed"):
        t.tell_soon([(duel, FIRST)]).result()


# Ask


def test_ask(t: Tournament) -> None:
    duel = t.ask("q 1", "somebody")
    assert (duel.serve, duel.why, duel.id) == ("duel", None, "1-1")
    assert {duel.first, duel.second} <= set(RANKERS)
    assert duel.expires > time()
    assert t.ask("q 1") == t.ask("q 1", "somebody else") == duel
    many = t.ask_many([("q 1", None), (None, None), ("q 2", "somebody"), ("q 2", None)])
    assert [many[0], many[2]] == [duel, many[3]]
    assert len({one.id for one in many}) == 3
    assert t.ask_many([]) == []
    assert t.counts == Counts(issued=3)


def test_many_asks(t: Tournament) -> None:
    duels = t.ask_many([(f"q {number}", None) for number in range(1_001)])
    assert len({duel.id for duel in duels}) == 1_001
    assert {receipt.status for receipt in t.tell_many([(duel, TIE) for duel in duels])} == {Status.ACCEPTED}


@pytest.mark.parametrize("wrong", ["", "a\nb", "x" * 201, 7])
def test_wrong_ids(t: Tournament, wrong: Any) -> None:
    with pytest.raises(ValueError, match="query_id must be 1 to 200 printable characters"):
        t.ask(wrong)
    with pytest.raises(ValueError, match="client_id must be 1 to 200 printable characters"):
        t.ask_many([("q", None), ("q 2", wrong)])
    with pytest.raises(TypeError, match="asked must be a list"):
        t.ask_many("q")  # type: ignore[arg-type]
    assert t.counts.issued == 0


# Tell


def test_tell(t: Tournament) -> None:
    duels = [t.ask() for _ in range(6)]
    assert t.tell(duels[0], FIRST) == Receipt(Status.ACCEPTED, FIRST)
    assert t.tell(duels[0].id or "", FIRST) == Receipt(Status.DUPLICATE, FIRST)
    assert t.tell(duels[0].ticket or "", TIE) == Receipt(Status.CONFLICT, FIRST)
    assert t.tell("99-99", TIE) == t.tell("no ticket", TIE) == Receipt(Status.UNKNOWN, None)
    told: list[tuple[LiveDuel | str, rd.Outcome | Clicks]]
    told = [(duels[1], SECOND), ("99-99", SECOND), (duels[2].ticket or "", TIE), (duels[1], SECOND)]
    expected = [Receipt(Status.ACCEPTED, SECOND), Receipt(Status.UNKNOWN, None), Receipt(Status.ACCEPTED, TIE)]
    assert t.tell_many(told) == [*expected, Receipt(Status.DUPLICATE, SECOND)]
    assert t.tell_many([]) == []
    assert t.counts == Counts(issued=6, resolved=3)


def test_tell_soon_gives_receipts(t: Tournament) -> None:
    duels = [t.ask() for _ in range(3)]
    page = page_of(duels[2])
    soon = t.tell_soon([(duels[0], FIRST), ("99-99", TIE), (duels[1], SECOND), (duels[2], Clicks((), page))])
    assert isinstance(soon, Future)
    receipts = soon.result(30)
    expected = [(Status.ACCEPTED, FIRST), (Status.UNKNOWN, None), (Status.ACCEPTED, SECOND), (Status.ACCEPTED, None)]
    assert receipts == [Receipt(*each) for each in expected]
    assert all(type(receipt) is Receipt for receipt in receipts)
    assert not soon.cancel()
    heard: list[list[Receipt]] = []
    t.tell_soon([(duels[0], FIRST)]).add_done_callback(lambda done: heard.append(done.result()))
    assert t.tell(duels[0], FIRST).status == "duplicate"
    t.close()
    assert heard == [[Receipt(Status.DUPLICATE, FIRST)]]


def test_tell_clicks(t: Tournament) -> None:
    duels = [t.ask() for _ in range(5)]
    pages = [page_of(duel) for duel in duels]
    for duel, page in zip(duels[:3], pages, strict=False):
        clicked = [page.documents[0]]
        assert t.tell(duel, clicks=clicked).outcome in (duel.method.outcome(page, clicked), None)
        assert t.tell(duel.id or "", clicks=clicked, shown=page).status == "duplicate"
    assert t.tell(duels[3], clicks=[]) == Receipt(Status.ACCEPTED, None)
    (receipt,) = t.tell_many([(duels[4], Clicks((pages[4].documents[0],), pages[4]))])
    assert receipt.status == Status.ACCEPTED


def test_wrong_tells(t: Tournament) -> None:
    duel, other = t.ask(), t.ask()
    page = page_of(other)
    foreign = rd.interleaving.BalancedInterleaving().interleave(*LISTS, k=3, seed=1)
    wrong: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: t.tell(duel), TypeError, "outcome must be Outcome.FIRST"),
        (lambda: t.tell(duel, True), TypeError, "outcome must be Outcome.FIRST"),  # type: ignore[arg-type]
        (lambda: t.tell_many([(duel, "first")]), TypeError, "outcome must be"),  # type: ignore[list-item]
        (lambda: t.tell_soon([(duel, None)]), TypeError, "outcome must be Outcome.FIRST"),  # type: ignore[list-item]
        (lambda: t.tell(7, FIRST), TypeError, "duel must be what ask"),  # type: ignore[arg-type]
        (lambda: t.tell(duel, FIRST, clicks=[]), ValueError, "pass either outcome or clicks, not both"),
        (lambda: t.tell(duel, clicks="d1", shown=page), TypeError, "clicks must be a list"),
        (
            lambda: t.tell(duel, clicks=["d1"]),
            ValueError,
            "no page given; call duel.interleave.. first, or pass shown=",
        ),
        (
            lambda: t.tell("1-1", clicks=["d1"]),
            ValueError,
            "no page given; call duel.interleave.. first, or pass shown=",
        ),
        (lambda: t.tell(duel, clicks=["d1"], shown=7), TypeError, "a page must be what"),  # type: ignore[arg-type]
        (lambda: t.tell(duel, clicks=["nowhere"], shown=page), ValueError, "clicked but is not on the list"),
        (lambda: t.tell(duel, clicks=["d1"], shown=foreign), ValueError, "balanced"),
        (lambda: t.show(duel), ValueError, "no page given; call duel.interleave.. first, or pass page="),
        (lambda: t.show("1-1"), ValueError, "no page given; call duel.interleave.. first, or pass page="),
        (lambda: t.show(duel, {"documents": []}), TypeError, "a page must be what"),  # type: ignore[arg-type]
        (lambda: t.show(duel, foreign), ValueError, "balanced"),
        (lambda: t.show(7, page), TypeError, "duel must be what ask"),  # type: ignore[arg-type]
        (lambda: t.observe("q"), TypeError, "seen must be a list"),  # type: ignore[arg-type]
        (lambda: t.observe([{"action": "click"}]), TypeError, "Signal and Shown"),  # type: ignore[list-item]
        (lambda: t.observe([Shown("q", foreign)]), ValueError, "balanced"),
    ]
    for number, (call, error, message) in enumerate(wrong):
        with pytest.raises(error, match=message) as caught:
            call()
        assert type(caught.value) is error, number
    assert t.counts == Counts(issued=2)


def test_show(t: Tournament) -> None:
    duels = [t.ask() for _ in range(4)]
    pages = [page_of(duel) for duel in duels]
    assert t.show(duels[0]) == Status.ACCEPTED
    assert t.show(duels[0]) == Status.DUPLICATE
    assert t.show(duels[1].id or "", pages[1]) == Status.ACCEPTED
    assert t.show_many([(duels[2], None), (duels[3].ticket or "", pages[3])]) == [Status.ACCEPTED] * 2
    assert t.show_many([("99-99", pages[3])]) == [Status.UNKNOWN]
    assert t.show_many([]) == []
    assert t.counts.shown == 4


def test_observe(t: Tournament) -> None:
    duels = [t.ask(f"q {number}") for number in range(2)]
    page = page_of(duels[0])
    click = Signal("q 0", "click", str(page.documents[0]), 1, time(), 2.5, "e-1")
    seen: list[Signal | Shown] = [
        Shown("q 0", page),
        click,
        click,
        click._replace(key="e-2"),
        click._replace(query_id="nobody's"),
    ]
    assert t.observe(seen) == ["accepted", "accepted", "duplicate", "accepted", "unknown"]
    assert all(type(status) is Status for status in t.observe(seen))
    assert t.observe([]) == []
    assert t.health().signals == {"click": 2}
    assert t.health().orphans == 2


def test_where_there_is_no_duel_there_is_nothing_to_tell(t: Tournament) -> None:
    t.pause()
    none = t.ask("q")
    assert (none.id, none.ticket, none.serve, none.why, none.first, none.second) == (
        *(None, None, "baseline", "paused"),
        *("bm25", "bm25"),
    )
    unknown = Receipt(Status.UNKNOWN, None)
    assert t.tell(none, FIRST) == t.tell(none, clicks=["d1"]) == unknown
    assert t.tell_many([(none, FIRST)]) == t.tell_soon([(none, TIE)]).result(30) == [unknown]
    assert t.show(none) == Status.UNKNOWN
    assert t.show_many([(none, None)]) == [Status.UNKNOWN]
    page_of(none)
    assert t.tell(none, clicks=["d1"]) == unknown
    assert t.show(none) == Status.UNKNOWN
    with pytest.raises(rd.UnknownDuel):
        t.void(none)
    assert t.counts == Counts()


def test_erase_client(t: Tournament) -> None:
    duels = [t.ask(f"q {number}", f"client {number % 3}") for number in range(9)]
    t.tell_many([(duel, FIRST) for duel in duels[:5]])
    t.show(duels[5], page_of(duels[5]))
    assert t.erase_client("client 2", "asked for it", "anna") == 3
    assert t.erase_client("client 2") == t.erase_client("nobody") == 0
    assert t.counts == Counts(issued=9, shown=1, resolved=5, void=2)
    (erased,) = (event for event in t.journal() if event.kind == "erased")
    assert erased.body["duels"] == 3
    assert "asked for it" in erased.body["reason"]
    assert "anna" in erased.body["by"] + erased.body["reason"]
    assert "client 2" not in str(erased)
    assert [row.query for row in t.duels() if row.query is None] == [None] * 3
    assert t.tell(duels[5], FIRST).status == "late"
    for wrong in ("", "x" * 201):
        with pytest.raises(ValueError, match="client_id must be 1 to 200 printable characters"):
            t.erase_client(wrong)


# Read


def test_read(t: Tournament) -> None:
    assert (t.status, t.rankers, t.winner, t.champion in RANKERS) == ("running", RANKERS, None, True)
    assert t.attribution == Attribution()
    duels = [t.ask(f"q {number}") for number in range(40)]
    t.tell_many([(duel, FIRST) for duel in duels[:30]])
    assert t.counts == Counts(issued=40, resolved=30)
    board, pairs, decision, health = t.leaderboard(), t.preferences(), t.decision(), t.health()
    assert sorted(line.ranker for line in board) == sorted(RANKERS)
    assert board[0].ranker == t.champion == decision.champion
    assert sum(line.wins for line in board) == 30
    assert sum(pair.wins + pair.losses for pair in pairs if pair.first != pair.second) <= 30
    assert (decision.winner, set(decision.left), decision.eliminated) == (None, set(RANKERS), ())
    assert decision.headline == (
        f"No decision yet: {len(RANKERS)} of {len(RANKERS)} rankers are left, and {t.champion} leads (30 duels)."
    )
    assert "will have at least 99 % confidence" in decision.meaning
    assert (health.counts, health.outcomes, health.failure, health.maintenance) == (t.counts, {"first": 30}, None, None)
    assert t.timeline() == []


def test_a_tournament_that_is_stopped_before_a_decision(place: Place) -> None:
    with place.create(rankers=RANKERS) as t:
        t.tell(t.ask(), FIRST)
        assert not t.decision().stopped
        t.stop()
        decided, n = t.decision(), len(RANKERS)
        assert decided.stopped
        assert (
            decided.headline
            == f"Stopped before a decision: {n} of {n} rankers are left, and {t.champion} leads (1 duel)."
        )
        assert decided.meaning.startswith(
            "No confidence is claimed: a decision would have had at least 99 % confidence"
        )


def test_the_timeline_has_retired_rankers(place: Place) -> None:
    with place.create(rankers=["bm25", "ltr", "neural"], delta=0.2) as t:
        t.tell_many([(duel, TIE) for duel in t.ask_many([(None, None)] * 7)])
        t.retire("neural")
        for _ in range(30):
            duels = t.ask_many([(None, None)] * 20)
            t.tell_many([(duel, FIRST if duel.first == "ltr" else SECOND) for duel in duels if duel.id is not None])
        gone = [(one.ranker, one.state, one.by, one.left) for one in t.timeline()]
        assert gone == [("neural", "retired", None, 2), ("bm25", "eliminated", "ltr", 1)]
        assert t.timeline()[0].resolved == 7
        assert [line.state for line in t.leaderboard()] == ["champion", "eliminated", "retired"]


def test_a_winner(place: Place) -> None:
    with place.create(rankers=["bm25", "ltr"], delta=0.2) as t:
        for _ in range(30):
            duels = t.ask_many([(None, None)] * 20)
            t.tell_many([(duel, FIRST if duel.first == "ltr" else SECOND) for duel in duels if duel.id is not None])
            if t.winner is not None:
                break
        decided = t.decision()
        assert (t.winner, t.champion, decided.winner, decided.eliminated) == ("ltr", "ltr", "ltr", ("bm25",))
        assert decided.headline == (
            f"ltr is the best of 2 rankers, with at least 80 % confidence ({decided.resolved} duels)."
        )
        assert decided.resolved <= t.counts.resolved  # later outcomes do not change the decision
        assert str(decided) == f"{decided.headline}\n{decided.meaning}"
        assert [(one.ranker, one.by, one.left) for one in t.timeline()] == [("bm25", "ltr", 1)]
        assert of_type(t.timeline(), list[Departure])
        over = t.ask()
        assert (over.serve, over.why, over.first) == ("winner", "decided", "ltr")


def test_read_duels(t: Tournament) -> None:
    duels = [t.ask(f"q {number}") for number in range(12)]
    t.tell(duels[3], SECOND)
    assert t.counts.issued == 12  # and all of them are written
    rows = t.duels()
    assert [row.id for row in rows] == [duel.id for duel in reversed(duels)]
    told = rows[-4]
    assert (told.query, told.state, told.outcome) == ("q 3", "resolved", "second")
    assert [t.rankers[told.first], t.rankers[told.second]] == [duels[3].first, duels[3].second]
    assert all(type(row) is DuelRow for row in rows)
    assert t.duels(5) == rows[:5]
    assert t.duels(2, before="1-9") == [rows[4], rows[5]]
    assert t.duels(2, before="1-1") == t.duels(0) == []
    with pytest.raises(ValueError, match="before must be the id of a duel such as 3-17, got 'x'"):
        t.duels(before="x")


def test_journal(t: Tournament) -> None:
    t.tell_many([(t.ask(), FIRST), (t.ask(), TIE)])
    t.pause("a release")
    events = list(t.journal())
    assert [(event.number, event.kind) for event in events] == [
        *((1, "created"), (2, "resolved")),
        *((3, "resolved"), (4, "paused")),
    ]
    assert events[-1].body["reason"] == "a release"
    assert list(t.journal(since=3)) == events[3:]
    assert list(t.journal(since=99)) == []


# Operate


def test_operate(t: Tournament) -> None:
    t.pause("a release", by="anna")
    assert (t.status, t.ask().why) == ("paused", "paused")
    t.start()
    assert (t.status, t.ask().serve) == ("running", "duel")
    t.add_rankers(["new", "newer"], "fresh")
    t.add_rankers([])
    t.pause_ranker("new")
    assert {line.ranker: line.state for line in t.leaderboard()}["new"] == "paused"
    t.start_ranker("new")
    t.retire(RANKERS[3], "too slow")
    assert t.rankers == [*RANKERS, "new", "newer"]
    assert set(t.decision().left) == {*RANKERS[:3], "new", "newer"}
    rail = Guardrail("error", bound=0.1)
    t.configure(share=0.5, daily_cap=3, guardrails=[rail], attribution=Attribution(window=60), reason="careful")
    settings = t.settings
    assert (settings.share, settings.daily_cap, settings.guardrails) == (0.5, 3, (rail.to_dict(),))
    assert (t.attribution.window, t.attribution.version) == (60.0, 2)
    t.stop("done")
    assert (t.status, t.ask().why) == ("stopped", "stopped")


def test_the_life_of_a_tournament(place: Place) -> None:
    with place.create(rankers=["bm25", "ltr"], delta=0.2, draft=True) as t:
        assert (t.status, t.ask().why, t.rollout) == ("draft", "draft", None)
        assert t.users_see == "All users see the baseline `bm25`."
        t.start()
        assert t.effects()["stop"] == "All users will see the baseline `bm25`."
        t.retire("bm25")
        assert (t.status, t.ask().first, t.users_see) == ("decided", "ltr", "All users see the winner `ltr`.")
        t.roll_out(0.25, reason="carefully")
        assert (t.status, t.rollout) == ("rolled_out", Rollout("ltr", 0.25))
        t.roll_out(1.0, "ltr")
        assert (t.rollout, t.ask().why) == (Rollout("ltr", 1.0), "rolled_out")
        t.roll_back("too slow")
        assert (t.status, t.rollout, t.settings.after_decision, t.ask().first) == ("decided", None, "baseline", "bm25")
        t.configure(baseline="production", external_baseline=True)
        assert t.users_see == "All users see the baseline `production`, although `ltr` won."
        t.archive("over")
        assert (t.status, t.ask().first, set(t.effects())) == ("archived", "production", {"delete"})
        kinds = [event.kind for event in t.journal()]
        assert kinds[2:] == ["retired", "rolled_out", "rolled_out", "rolled_back", "configured", "archived"]


def test_delete(place: Place) -> None:
    with place.create() as t:
        t.tell(t.ask("q"), FIRST)
        name = t.name
    with pytest.raises(ValueError, match="is running; this is possible only while draft or stopped or archived"):
        Tournament.delete(name, storage=place.storage, confirm=name)
    with Tournament.open(name, storage=place.storage) as t:
        t.stop()
    with pytest.raises(ValueError, match=f"to delete tournament '{name}'"):
        Tournament.delete(name, storage=place.storage, confirm="t")
    Tournament.delete(name, storage=place.storage, confirm=name)
    with pytest.raises(rd.UnknownTournament, match=f"'{name}'"):
        Tournament.delete(name, storage=place.storage, confirm=name)
    with pytest.raises(rd.UnknownTournament, match=f"'{name}'"):
        Tournament.open(name, storage=place.storage)
    with Tournament.create(name, rankers=["x", "y"], storage=place.storage) as t:
        assert (t.rankers, t.counts) == (["x", "y"], Counts())
        assert {line.ranker for line in t.leaderboard()} == {"x", "y"}
        assert t.ask("q").first in ("x", "y")


def test_void(t: Tournament) -> None:
    duels = [t.ask() for _ in range(4)]
    t.void(duels[0], "a robot")
    t.void(duels[1].id or "")
    t.void(duels[2].ticket or "")
    assert t.tell(duels[0], FIRST).status == Status.LATE
    t.tell(duels[3], FIRST)
    with pytest.raises(ValueError, match="is already resolved, so it cannot be declared void"):
        t.void(duels[3])
    for unknown in ("99-99", "no ticket"):
        with pytest.raises(rd.UnknownDuel):
            t.void(unknown)
    with pytest.raises(TypeError, match="duel must be what ask"):
        t.void(7)  # type: ignore[arg-type]
    assert t.counts == Counts(issued=4, resolved=1, void=3)


def test_wrong_actions(t: Tournament) -> None:
    wrong: list[tuple[Callable[[], object], type[Exception], str]] = [
        (t.start, ValueError, "is running; this is possible only while draft or paused"),
        (t.roll_out, ValueError, "is running; this is possible only while decided or rolled out"),
        (t.roll_back, ValueError, "is running; this is possible only while rolled out or paused"),
        (lambda: t.roll_out(0), ValueError, "share must be a number above 0 and at most 1, got 0"),
        (lambda: t.configure(baseline="prod"), ValueError, "the baseline 'prod' is not a ranker of the tournament"),
        (
            lambda: t.configure(after_decision="keep"),
            ValueError,
            "must be one of winner, baseline, compare, got 'keep'",
        ),
        (lambda: t.add_rankers("ab"), TypeError, "rankers must be a list"),
        (lambda: t.add_rankers(["ltr"]), ValueError, "duplicate ranker 'ltr'"),
        (lambda: t.add_rankers([""]), ValueError, "1 to 200|length"),
        (lambda: t.retire("nobody"), ValueError, "nobody"),
        (lambda: t.pause_ranker("nobody"), ValueError, "nobody"),
        (lambda: t.start_ranker("x" * 300), ValueError, "ranker"),
        (lambda: t.configure(share=7), ValueError, "share must be a number from 0 to 1, got 7"),
        (lambda: t.configure(colour="red"), TypeError, "unknown setting 'colour'"),
        (
            lambda: t.configure(attribution={"window": 1e6}),
            ValueError,
            "the attribution window must be below expires_after",
        ),
        (lambda: t.pause("x" * 3_000), ValueError, "reason|length|2000"),
        (lambda: t.retire("neural") or t.retire("neural"), ValueError, "eliminated or retired"),
    ]
    for number, (call, error, message) in enumerate(wrong):
        with pytest.raises(error, match=message) as caught:
            call()
        assert type(caught.value) is error, number
    t.stop()
    for call in (t.start, t.pause, t.stop, lambda: t.retire("ltr"), lambda: t.add_rankers(["new"])):
        with pytest.raises(ValueError, match="is stopped"):
            call()
