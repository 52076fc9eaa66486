import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import rankduel as rd
from live.conftest import Clock
from live.unsynced import unsynced
from rankduel.live import Tournament, tournament
from rankduel.live.state import State

FIRST, SECOND, TIE = rd.Outcome.FIRST, rd.Outcome.SECOND, rd.Outcome.TIE
NAMES = ["bm25", "ltr", "neural", "hybrid", "old"]


def create(url: str, **options: Any) -> Tournament:
    settings: dict[str, Any] = {"rankers": NAMES, "storage": url, "seed": 1}
    return Tournament.create("search", **settings | options)


def better(t: Tournament, duel: rd.live.LiveDuel) -> rd.Outcome:
    """Whoever stands further to the left wins."""
    return FIRST if t.rankers.index(duel.first) <= t.rankers.index(duel.second) else SECOND


def play(t: Tournament, duels: int) -> None:
    for _ in range(duels):
        duel = t.ask()
        if duel.id is None:
            return
        t.tell_many([(duel, better(t, duel))])


def same_as_replay(t: Tournament) -> bool:
    return State.replay(t.journal()).keep() == t._state.keep()


@pytest.fixture
def quick() -> Iterator[None]:
    with unsynced():
        yield


# Ask


def test_the_same_query_gets_the_same_duel_for_ever(url: str) -> None:
    with create(url) as t:
        duels = {query: t.ask(query) for query in ("a", "b", "c", "d", "e", "f")}
        assert len({duel.id for duel in duels.values()}) == 6
        t.tell(duels["a"], FIRST)
        t.tell(duels["b"], TIE)
        assert {query: t.ask(query) for query in duels} == duels
    with Tournament.open("search", storage=url) as t:
        assert {query: t.ask(query) for query in duels} == duels
        assert t.counts.asked == 6
        assert t.ask("g").id not in {duel.id for duel in duels.values()}


def test_asks_without_a_query_are_all_new(url: str) -> None:
    with create(url) as t:
        assert t.ask().id != t.ask().id


def test_a_duel_that_is_just_told_is_found_before_it_is_stored(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with create(url) as t:
        duel = t.ask("a")
        gate = threading.Event()
        append = t._storage.append

        def held(batch: Sequence[rd.live.Entry]) -> None:
            gate.wait()
            append(batch)

        monkeypatch.setattr(t._storage, "append", held)
        receipts: list[rd.live.Receipt] = []
        tellers = [threading.Thread(target=lambda: receipts.append(t.tell(duel, FIRST))) for _ in range(2)]
        for teller in tellers:
            teller.start()
        while t.counts.told == 0:
            pass
        asked, answered = t.ask("a"), list(receipts)
        gate.set()
        for teller in tellers:
            teller.join()
        assert asked == duel
        assert answered == []  # neither was answered, not even the duplicate: nothing was durable yet
        assert sorted(receipt.status for receipt in receipts) == ["accepted", "duplicate"]


def test_pages_are_determined_by_the_duel(url: str) -> None:
    lists = [f"a{n}" for n in range(20)], [f"b{n}" for n in range(20)]
    with create(url) as t:
        duels = [t.ask(f"q{n}") for n in range(20)]
        pages = [duel.interleave(*lists, k=10).documents for duel in duels]
        assert [duel.interleave(*lists, k=10).documents for duel in duels] == pages
        assert len(set(pages)) > 10
        assert len({duel.seed for duel in duels}) == 20
    with Tournament.open("search", storage=url) as t:
        assert [t.ask(f"q{n}").interleave(*lists, k=10).documents for n in range(20)] == pages


def test_clients_are_stored_as_hashes(url: str) -> None:
    with create(url) as t:
        for query, client in enumerate(["anna@example.org", "anna@example.org", "ben"]):
            t.ask(str(query), client)
        asked = [event.body for event in t.journal() if event.kind == "asked"]
    assert asked[0]["client"] == asked[1]["client"] != asked[2]["client"]
    assert b"anna" not in Path(url.removeprefix("sqlite:///")).read_bytes()


# Tell


def test_statuses(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        duel, late = t.ask("a"), t.ask("b")
        assert t.tell(duel, FIRST) == rd.live.Receipt(rd.live.Status.ACCEPTED, FIRST)
        assert t.tell(duel, FIRST).status == "duplicate"
        assert t.tell(duel, SECOND) == rd.live.Receipt(rd.live.Status.CONFLICT, FIRST)
        clock.now += 60
        assert t.tell(late, SECOND) == rd.live.Receipt(rd.live.Status.LATE, SECOND)
        assert t.tell(late, SECOND).status == "duplicate"
        assert t.tell(late, TIE) == rd.live.Receipt(rd.live.Status.CONFLICT, SECOND)
        for unknown in ("1-3", "2-1", "0-0", "x", "", "1-", "-1", "1-1-1", "1-" + "9" * 30, "١-١"):
            assert t.tell(unknown, FIRST) == rd.live.Receipt(rd.live.Status.UNKNOWN, None)
        assert t.counts == rd.live.Counts(asked=2, told=1, late=1, expired=1, in_flight=0)
        before = t._state.keep()
    with Tournament.open("search", storage=url) as t:
        assert t.tell(duel, FIRST).status == "duplicate"
        assert t.tell(late.id or "", SECOND).status == "duplicate"
        assert t.counts == rd.live.Counts(asked=2, told=1, late=1, expired=1, in_flight=0)
        assert t._state.keep().bandit == before.bandit


def test_many_are_told_together_each_with_its_receipt(url: str) -> None:
    with create(url) as t:
        one, two = t.ask(), t.ask()
        receipts = t.tell_many([(one, FIRST), (one, FIRST), (two, TIE), (one, SECOND), ("9-9", TIE)])
        assert [receipt.status for receipt in receipts] == ["accepted", "duplicate", "accepted", "conflict", "unknown"]
        assert t.tell_many([]) == []


def test_a_duel_of_an_older_session_is_not_taken_for_one_of_the_same_number(url: str) -> None:
    # An ask that was not yet stored when the process died: its number is given again, its id is not.
    with create(url) as t:
        session = t._state.session
    with Tournament.open("search", storage=url) as t:
        duel = t.ask()
        assert duel.id == f"{session + 1}-1"
        assert t.tell(f"{session}-1", FIRST).status == "unknown"
        assert t.tell(duel, FIRST).status == "accepted"
        assert t.tell(f"{session}-1", FIRST).status == "unknown"


def test_clicks_are_credited_on_the_page(url: str) -> None:
    with create(url) as t:
        for query in range(10):
            duel = t.ask(str(query))
            shown = duel.interleave(["a", "b", "c"], ["x", "y", "z"], k=4)
            clicked = shown.documents[query % 4]
            expected = FIRST if clicked in ("a", "b", "c") else SECOND
            if query < 5:
                assert t.tell(duel, clicks=[clicked]).outcome is expected
            else:  # by id, later, with the page at hand
                assert t.tell(duel.id or "", clicks=[clicked], shown=shown).outcome is expected
        duel = t.ask()
        duel.interleave(["a"], ["b"])
        assert t.tell(duel, clicks=[]).outcome is TIE


def test_what_cannot_be_told_is_refused(url: str) -> None:
    with create(url) as t:
        duel = t.ask()
        with pytest.raises(TypeError, match=r"outcome must be Outcome\.FIRST, .* got None"):
            t.tell(duel)
        with pytest.raises(TypeError, match="got 'first'"):
            t.tell(duel, "first")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="duel must be what ask"):
            t.tell(7, FIRST)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="clicks are credited on a page"):
            t.tell(duel, clicks=["a"])
        shown = duel.interleave(["a"], ["b"])
        with pytest.raises(ValueError, match="'c' was clicked but is not on the list"):
            t.tell(duel, clicks=["c"])
        with pytest.raises(ValueError, match="not both"):
            t.tell(duel, FIRST, clicks=["a"], shown=shown)
        with pytest.raises(TypeError, match="clicks must be a list, got 'a'"):
            t.tell(duel, clicks="a")
        with pytest.raises(ValueError, match="query_id must be 1 to 200 printable characters, got ''"):
            t.ask("")
        assert t.counts.told == 0


# Expiry


def test_duels_that_are_not_told_expire(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        old = t.ask("old")
        clock.now += 30
        new = t.ask("new")
        assert new.expires == clock.now + 60
        clock.now += 30
        assert t.counts == rd.live.Counts(asked=2, told=0, late=0, expired=1, in_flight=1)
        assert t.ask("old") == old
        assert t.tell(new, FIRST).status == "accepted"
        assert t._state.bandit.pending == []
        assert same_as_replay(t)


def test_a_clock_that_is_set_back_changes_nothing(url: str, clock: Clock) -> None:
    with create(url, expires_after=60) as t:
        duel = t.ask()
        clock.now -= 1000
        later = t.ask()
        assert later.expires == duel.expires
        times = [event.time for event in t.journal()]
        assert times == sorted(times)


def test_times_never_go_back(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(1_000_000.0)
    monkeypatch.setattr(tournament, "now", ticks.__next__)  # a second later at each look
    with create(url, expires_after=20) as t:
        for _ in range(50):
            t.ask()
        times = [event.time for event in t.journal()]
        assert t.counts.expired > 10
        assert times == sorted(times)


# Where it stands


@pytest.mark.usefixtures("quick")
def test_a_tournament_ends_with_the_best(url: str) -> None:
    with create(url, bandit="CertifiedSparring(delta=0.05)", baseline="old") as t:
        assert t.winner is None
        assert str(t.decision()).startswith("Not decided: 5 rankers are left")
        play(t, 5000)
        assert t.winner == t.champion == "bm25"
        assert t.decision().winner == "bm25"
        assert set(t.decision().eliminated) == set(NAMES[1:])
        assert str(t.decision()) == (
            "The winner is bm25. With probability 0.95 at least, at whatever time you look: if some ranker is at least "
            "as good as each other one, it is bm25."
        )
        board = t.leaderboard()
        assert [line.state for line in board] == ["champion", "out", "out", "out", "out"]
        assert [line.ranker for line in board] == ["bm25", *reversed(t.decision().eliminated)]
        assert sum(line.wins for line in board) == sum(line.losses for line in board) == t.counts.told
        duel = t.ask("after the end")
        assert (duel.id, duel.first, duel.second) == (None, "bm25", "bm25")
        assert t.tell(duel, FIRST).status == "unknown"
        assert same_as_replay(t)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("bandit", list(rd.REGISTRY))
def test_every_bandit_goes_on_where_it_was(url: str, bandit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "SNAPSHOT_EVERY", 50)
    arms = rd.bandit_from(bandit, 5, seed=1)
    for _ in range(3):
        with create(url, bandit=bandit, exist_ok=True) as t:
            for _ in range(60):
                if (duel := t.ask()).id is None:
                    break
                plain = arms.ask()
                assert (duel.first, duel.second) == (NAMES[plain.first], NAMES[plain.second])
                if plain.number % 4:
                    t.tell_many([(duel, better(t, duel))])
                    arms.tell(plain, better(t, duel))
            assert t._state.bandit.snapshot() == arms.snapshot()
            assert same_as_replay(t)


# Operate


def test_pause_resume_stop(url: str) -> None:
    with create(url, baseline="production") as t:
        duel, open_duel = t.ask("a"), t.ask("b")
        t.pause("a release")
        paused = t.ask("c")
        assert (paused.id, paused.first, paused.second) == (None, "production", "production")
        assert t.ask("a") == duel
        assert t.tell(duel, FIRST).status == "accepted"
        with pytest.raises(ValueError, match="'search' is paused: it cannot be paused"):
            t.pause()
    with Tournament.open("search", storage=url) as t:
        assert t.status == "paused"
        t.resume()
        assert t.ask("c").id is not None
        t.stop("enough")
        assert t.counts == rd.live.Counts(asked=3, told=1, late=0, expired=2, in_flight=0)
        assert t.tell(open_duel, FIRST).status == "late"
        assert t.ask("d").id is None
        with pytest.raises(ValueError, match="stopped: it cannot be resumed"):
            t.resume()
        reasons = [event.body["reason"] for event in t.journal() if "reason" in event.body]
        assert reasons == ["a release", "", "enough"]
        assert same_as_replay(t)


def test_without_a_baseline_the_champion_is_shown(url: str) -> None:
    with create(url) as t:
        t.pause()
        assert t.ask().first == t.champion


@pytest.mark.usefixtures("quick")
def test_rankers_come_and_go(url: str) -> None:
    with create(url, rankers=["ltr", "neural"]) as t:
        play(t, 3)
        t.add_rankers(["bm25", "hybrid"])
        t.retire("neural", "too slow")
        assert t.rankers == ["ltr", "neural", "bm25", "hybrid"]
    with create(url, rankers=["ltr", "neural"], exist_ok=True) as t:
        for _ in range(8):
            duel = t.ask()
            assert duel.id is not None
            assert "neural" not in (duel.first, duel.second)
            t.tell(duel, FIRST if duel.first == "bm25" else SECOND if duel.second == "bm25" else TIE)
        assert t.champion == "bm25"
        assert t.leaderboard()[-1].ranker == "neural"
        assert t.leaderboard()[-1].state == "retired"
        assert same_as_replay(t)
        for wrong, message in [
            (lambda: t.add_rankers(["x", "ltr"]), "ranker 'ltr' is there twice"),
            (lambda: t.add_rankers(["x", "x"]), "ranker 'x' is there twice"),
            (lambda: t.retire("nobody"), "no ranker 'nobody' in 'search'"),
            (lambda: t.retire("neural"), "ranker 'neural' is not in the race any more"),
        ]:
            refused(wrong, message)
        assert same_as_replay(t)


def refused(call: Callable[[], None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_most_bandits_cannot_add_rankers(url: str) -> None:
    with create(url, bandit="MergeDTS") as t:
        refused(lambda: t.add_rankers(["new"]), "MergeDTS cannot add rankers once it is made")
        refused(lambda: t.retire("ltr"), "MergeDTS cannot retire rankers once it is made")
        assert [event.kind for event in t.journal()] == ["created", "opened"]


# Create and open


def test_creating_twice(url: str) -> None:
    with create(url) as t:
        duel = t.ask("a")
        with pytest.raises(rd.TournamentExists, match="'search' is open in this process already"):
            create(url, exist_ok=True)
    with pytest.raises(rd.TournamentExists, match="already: open it, or create it with exist_ok=True"):
        create(url)
    others: list[tuple[dict[str, Any], str]] = [
        ({"rankers": [*NAMES, "new"]}, "'search' is there with rankers="),
        ({"bandit": "CertifiedSparring(delta=0.05)"}, r"bandit='CertifiedSparring\(delta=0.01, tolerance=None\)', not"),
        ({"seed": 2}, "seed=1, not 2"),
        ({"expires_after": 5}, "expires_after=86400.0, not 5.0"),
    ]
    for options, message in others:
        with pytest.raises(rd.TournamentExists, match=message):
            create(url, **options, exist_ok=True)
    with create(url, seed=None, exist_ok=True, bandit="CertifiedSparring(delta=0.01)") as t:
        assert t.ask("a") == duel


def test_tournaments_share_a_storage(url: str) -> None:
    with create(url) as one, Tournament.create("other", rankers=["x", "y"], storage=url, seed=2) as two:
        for query in ("a", "b"):
            assert one.tell(one.ask(query), FIRST).status == two.tell(two.ask(query), TIE).status == "accepted"
        assert [event.body["outcome"] for event in two.journal() if event.kind == "told"] == ["tie", "tie"]
        assert same_as_replay(one)
        assert same_as_replay(two)
    with pytest.raises(rd.UnknownTournament, match=r"no tournament 'third' in sqlite.*, which has other, search"):
        Tournament.open("third", storage=url)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rankers": []}, "at least one ranker"),
        ({"rankers": ["a", "a"]}, "ranker 'a' is there twice"),
        ({"rankers": ["a", ""]}, "a ranker must be 1 to 200 printable characters, got ''"),
        ({"rankers": ["a\n"]}, "a ranker must be"),
        ({"bandit": "Best"}, "unknown bandit 'Best'"),
        ({"interleaving": "zip"}, "unknown interleaving 'zip'"),
        ({"expires_after": 0}, "expires_after must be a number of seconds, > 0 and < 1e9, got 0"),
        ({"seed": -1}, "seed must be a non-negative int, got -1"),
        ({"storage": "duels.db"}, "storage must be sqlite:///FILE, got 'duels.db'"),
        ({"storage": "sqlite://"}, "storage must be sqlite:///FILE"),
    ],
)
def test_what_cannot_be_created_is_refused(url: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        create(options.pop("storage", url), **options)
    assert not Path(url.removeprefix("sqlite:///")).exists()


def test_a_closed_tournament_says_so(url: str) -> None:
    t = create(url)
    duel = t.ask()
    t.close()
    t.close()
    with pytest.raises(rd.StorageError, match="closed"):
        t.ask()
    with pytest.raises(rd.StorageError, match="closed"):
        t.tell(duel, FIRST)


def test_a_forgotten_tournament_is_closed(url: str) -> None:
    t = create(url)
    t.ask("a")
    del t
    with Tournament.open("search", storage=url) as t:
        assert t.counts.asked == 1


class Failing(rd.Bandit):
    """Chooses three times, and then fails."""

    def pick(self) -> tuple[int, int]:
        if self.asked == 3 and Failing.broken:
            raise ZeroDivisionError
        return int(self.random.integers(self.n_arms)), 0

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        pass

    broken = True

    @property
    def champion(self) -> int:
        return 0


def test_a_bandit_that_fails_stops_the_tournament_and_nothing_is_wrong(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with create(url, bandit="live.test_tournament:Failing") as t:
        duels = [t.ask(f"q{n}") for n in range(3)]
        with pytest.raises(ZeroDivisionError):
            t.ask("q3")
        with pytest.raises(rd.StorageError, match="the bandit has failed, open 'search' again: ZeroDivisionError"):
            t.ask("q4")
    monkeypatch.setattr("live.test_tournament.Failing.broken", False)  # the class that bandit_from has imported
    with Tournament.open("search", storage=url) as t:
        assert [t.ask(f"q{n}") for n in range(3)] == duels
        assert t.tell(t.ask("q3"), FIRST).status == "accepted"


def test_threads_share_a_tournament(url: str) -> None:
    with create(url) as t:
        seen: list[tuple[str, rd.live.LiveDuel]] = []

        def work() -> None:
            for number in range(30):
                duel = t.ask(f"q{number}")
                seen.append((f"q{number}", duel))
                seen.append((t.tell(duel, FIRST).status, duel))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({(query, duel.id) for query, duel in seen if query.startswith("q")}) == 30
        statuses = [word for word, _ in seen if not word.startswith("q")]
        assert statuses.count("accepted") == 30
        assert statuses.count("duplicate") == 7 * 30
        assert t.counts == rd.live.Counts(asked=30, told=30, late=0, expired=0, in_flight=0)
        assert same_as_replay(t)
