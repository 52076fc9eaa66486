"""Reading does not starve asking: limits on rankers, and read pools with a bounded queue, single flight and a cache."""

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.json import encode

from rankduel import Outcome
from rankduel.dashboard.leaderboard import INTERVAL_CONFIDENCE, leaderboard
from rankduel.live import LiveDuel, LocalTournament, Standing, View, ratings, settings, standings, view_at
from rankduel.live import view as view_module
from rankduel.live.ratings import Ratings
from rankduel.service.app import ROUTES, make_app
from rankduel.service.auth.keys import LOOPBACK
from rankduel.service.http.responses import Response
from rankduel.service.http.routing import Request
from rankduel.service.problems import Problem
from rankduel.service.read_pool import (
    MAX_CACHED_ANSWERS,
    MAX_CACHED_BYTES,
    MAX_WAITING_READS,
    SWITCH_INTERVAL_SECONDS,
    ReadPool,
)
from rankduel.service.routes import browser, duel_detail
from rankduel.service.routes.dashboard import Standings
from rankduel.service.service import Service
from service.servers import serving

WAIT = 60.0  # seconds after which something hangs


# Rankers


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/duels.db"


def test_a_tournament_begins_with_10_000_rankers_at_most(url: str) -> None:
    """The error names the number and the limit."""
    with pytest.raises(ValueError, match=r"at most 10,000 rankers; got 10,001"):
        LocalTournament.create("t", rankers=[f"r{i}" for i in range(10_001)], storage=url)


def test_rankers_that_are_added_count_with_those_that_are_there(url: str) -> None:
    """One more than the limit is refused, whole; exactly the limit is not."""
    with LocalTournament.create("t", rankers=["a", "b"], storage=url) as t:
        with pytest.raises(ValueError, match=r"at most 10,000 rankers; it has 2, got 9,999 more"):
            t.add_rankers([f"r{i}" for i in range(9_999)])
        assert t.rankers == ["a", "b"]
        t.add_rankers([f"r{i}" for i in range(9_998)])
        with pytest.raises(ValueError, match=r"it has 10,000, got 1 more"):
            t.add_rankers(["one more"])


def test_threads_that_add_at_once_do_not_exceed_the_limit_together(url: str) -> None:
    """Each of eight additions fits alone; only three fit together."""
    with LocalTournament.create("t", rankers=["a", "b"], storage=url) as t, ThreadPoolExecutor(8) as threads:
        adding = [threads.submit(t.add_rankers, [f"r{k}-{i}" for i in range(3_000)]) for k in range(8)]
        assert sum(one.exception(WAIT) is None for one in adding) == 3
        assert len(t.rankers) == 9_002


def test_over_http_too(url: str) -> None:
    """Many small additions do not go past the limit."""
    with serving(url) as server, server.client as client:
        assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"]}).status == 201
        statuses = [
            client.post("/v1/tournaments/t/rankers", {"rankers": [f"r{k}-{i}" for i in range(4_000)]}).status
            for k in range(4)
        ]
        assert statuses == [200, 200, 422, 422]
        assert client.get("/v1/tournaments/t").body["rankers"] == 8_002


def test_a_stored_tournament_with_more_rankers_still_opens(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for what is begun and added, not for what is there."""
    LocalTournament.create("t", rankers=["a", "b", "c"], storage=url).close()
    monkeypatch.setattr(settings, "MAX_RANKERS", 2)
    with LocalTournament.open("t", storage=url) as t:
        assert t.ask().serve == "duel"
        with pytest.raises(ValueError, match="at most 2 rankers; it has 3"):
            t.add_rankers(["d"])


# The read pool


class Gate:
    """Work that waits until it is let go, and counts how often it was done."""

    def __init__(self, answer: bytes = b"answer") -> None:
        self.begun, self.go = threading.Semaphore(0), threading.Event()
        self.done = 0
        self.answer = answer

    def __call__(self) -> bytes:
        self.begun.release()
        assert self.go.wait(WAIT)
        self.done += 1
        return self.answer


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT):
        while not true():
            await asyncio.sleep(0.001)


def pooled(test: Callable[[ReadPool], Awaitable[None]], threads: int = 1) -> None:
    """Run a test with a pool."""

    async def run() -> None:
        pool = ReadPool(threads)
        try:
            await test(pool)
        finally:
            pool.close()

    asyncio.run(run())


def test_concurrent_readers_share_one_computation() -> None:
    """A hundred readers at the same version: it is computed once, and then taken from the cache."""

    async def test(pool: ReadPool) -> None:
        gate = Gate()
        readers = [asyncio.create_task(pool.answer("key", gate, lambda: 1)) for _ in range(100)]
        await asyncio.to_thread(gate.begun.acquire)
        readers += [asyncio.create_task(pool.answer("key", gate, lambda: 1)) for _ in range(100)]
        await asyncio.sleep(0)
        gate.go.set()
        assert set(await asyncio.gather(*readers)) == {b"answer"}
        assert await pool.answer("key", gate, lambda: 1) == b"answer"
        assert gate.done == 1

    pooled(test)


def test_threads_switch_more_often_only_while_a_read_computes() -> None:
    """Two pools compute at the same time; the interval of the process is back when both are done."""
    before = sys.getswitchinterval()

    async def test(pool: ReadPool) -> None:
        other, gates = ReadPool(1), (Gate(), Gate())
        readers = [
            asyncio.create_task(each.answer("key", gate)) for each, gate in zip((pool, other), gates, strict=True)
        ]
        for gate, reader in zip(gates, readers, strict=True):
            await asyncio.to_thread(gate.begun.acquire)
            assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL_SECONDS)
            gate.go.set()
            await reader
        other.close()
        assert sys.getswitchinterval() == pytest.approx(before)

    pooled(test)


def test_no_reader_gets_what_is_older_than_its_request() -> None:
    """Who comes after a change does not join the computation that began before it."""

    async def test(pool: ReadPool) -> None:
        state = [1]

        def work() -> bytes:
            seen = b"%d" % state[0]
            gate()
            return seen

        for version in (lambda: state[0], None):
            state[0] = 1
            gate = Gate()
            before = asyncio.create_task(pool.answer("key", work, version))
            await asyncio.to_thread(gate.begun.acquire)
            state[0] = 2
            after = [asyncio.create_task(pool.answer("key", work, version)) for _ in range(5)]
            await asyncio.sleep(0)
            gate.go.set()
            assert await before == b"1"
            assert set(await asyncio.gather(*after)) == {b"2"}
            assert gate.done == 2  # the five share one

    pooled(test)


def test_beyond_the_queue_readers_are_told_to_come_back() -> None:
    """503 with Retry-After, at once; what waits is answered."""

    async def test(pool: ReadPool) -> None:
        gate = Gate()
        first = asyncio.create_task(pool.answer("first", gate))
        await asyncio.to_thread(gate.begun.acquire)
        waiting = [asyncio.create_task(pool.answer(key, gate)) for key in range(MAX_WAITING_READS)]
        await asyncio.sleep(0)
        with pytest.raises(Problem) as busy:
            await pool.answer("one more", gate)
        assert (busy.value.kind.name, busy.value.kind.status) == ("busy", 503)
        assert dict(busy.value.headers) == {b"retry-after": b"1"}
        gate.go.set()
        assert len(await asyncio.gather(first, *waiting)) == MAX_WAITING_READS + 1

    pooled(test)


def test_a_reader_that_leaves_takes_nothing_from_others_and_costs_nothing() -> None:
    """A shared computation goes on for those who stay; one that nobody waits for is not begun."""

    async def test(pool: ReadPool) -> None:
        gate, unwanted = Gate(), Gate()
        leaving, staying = (asyncio.create_task(pool.answer("shared", gate)) for _ in range(2))
        await asyncio.to_thread(gate.begun.acquire)
        gone = [asyncio.create_task(pool.answer(key, unwanted)) for key in range(MAX_WAITING_READS)]
        await asyncio.sleep(0)
        for task in (leaving, *gone):
            task.cancel()
        await asyncio.gather(leaving, *gone, return_exceptions=True)
        gate.go.set()
        unwanted.go.set()
        assert await staying == b"answer"
        assert await pool.answer("next", gate) == b"answer"  # there is room in the queue again
        assert unwanted.done == 0

    pooled(test)


def test_an_error_is_told_to_all_who_wait_and_not_kept() -> None:
    async def test(pool: ReadPool) -> None:
        def fail() -> bytes:
            raise ValueError("wrong")

        answers = await asyncio.gather(*(pool.answer("key", fail, lambda: 1) for _ in range(3)), return_exceptions=True)
        assert [str(one) for one in answers] == ["wrong"] * 3
        assert await pool.answer("key", lambda: b"right", lambda: 1) == b"right"

    pooled(test)


def test_the_cache_is_bounded_by_number_and_size() -> None:
    """Old answers go; one that is larger than the whole cache is not kept."""

    async def test(pool: ReadPool) -> None:
        computed: Counter[object] = Counter()

        async def read(key: object, size: int = 1) -> None:
            def work() -> bytes:
                computed[key] += 1
                return bytes(size)

            await pool.answer(key, work, lambda: 1)

        for key in range(MAX_CACHED_ANSWERS + 1):
            await read(key)
        await read(MAX_CACHED_ANSWERS)
        await read(0)
        assert (computed[MAX_CACHED_ANSWERS], computed[0]) == (1, 2)
        for part in ("a", "b", "a", "c", "a"):  # two of them fit
            await read(part, MAX_CACHED_BYTES // 5 * 2)
        assert (computed["a"], computed["b"]) == (1, 1)
        await read("b", MAX_CACHED_BYTES // 5 * 2)
        assert computed["b"] == 2
        for _ in range(2):
            await read("huge", MAX_CACHED_BYTES + 1)
        assert computed["huge"] == 2

    pooled(test)


# The service


def called(service: Service, name: str, body: Any = None, /, **given: Any) -> Awaitable[Any]:
    """Make a call as the server would."""
    (call,) = (call for call in ROUTES if call.name == name)
    path = {key: value for key, value in given.items() if f"{{{key}}}" in call.path}
    query = {one.name: one.default for one in call.parameters if one.default is not None}
    query |= {key: value for key, value in given.items() if key not in path}
    return call.handler(Request(service, LOOPBACK, path, query, body))


def served(url: str, test: Callable[[Service], Awaitable[None]]) -> None:
    """Run a test in a service with a tournament of three rankers and twenty outcomes."""
    with LocalTournament.create("t", rankers=["a", "b", "c"], storage=url, seed=1) as t:
        t.tell_many([(t.ask(query_id=f"q{i}"), Outcome.FIRST) for i in range(20)])

    async def run() -> None:
        service = make_app(url).service
        await service.start()
        try:
            async with asyncio.timeout(WAIT):
                await test(service)
        finally:
            await service.stop()

    asyncio.run(run())


def test_traffic_goes_on_while_reads_are_stuck(url: str) -> None:
    """With all reader threads taken and both queues full: ask, tell, show, events and operators are answered."""

    async def test(service: Service) -> None:
        gate, t = Gate(), await service.tournament("t")
        readers = [
            asyncio.create_task(pool.answer(key, gate))
            for pool in (service.reads, service.replays)
            for key in range(MAX_WAITING_READS + 2)
        ]
        await asyncio.to_thread(gate.begun.acquire)
        try:
            (duel,) = await service.ask(t, [("new query", None)])
            page = duel.interleave(["d1"], ["d2"], k=2)
            assert await service.in_thread(t.show_many, [(duel, page)]) == ["accepted"]
            event = b'{"query_id": "new query", "action_name": "click", "timestamp": 1800000000000}'
            assert (await called(service, "ingest", event)).statuses == ["accepted"]
            assert [told.status for told in await service.tell(t, [(duel, Outcome.FIRST)])] == ["accepted"]
            assert (await called(service, "readyz")).status == 200
            assert b"rankduel_requests_in_flight" in (await called(service, "metrics")).body
            for name in ("standings", "decision", "overviews"):
                with pytest.raises(Problem, match="reads are waiting"):
                    await called(service, "cards" if name == "overviews" else name, name="t")
        finally:
            gate.go.set()
            await asyncio.gather(*readers, return_exceptions=True)

    served(url, test)


CACHED = ("standings", "leaderboard", "timeline", "preferences", "decision", "rankers", "matrix", "batches")


@pytest.mark.parametrize("name", CACHED)
def test_an_answer_is_kept_until_the_journal_goes_on(url: str, name: str) -> None:
    """Equal journal, the same bytes without computing; after a tell, a new answer at once."""

    async def test(service: Service) -> None:
        t = await service.tournament("t")
        first, second = await called(service, name, name="t"), await called(service, name, name="t")
        assert isinstance(first, Response)
        assert first.body is second.body
        (duel,) = await service.ask(t, [(None, None)])
        await service.tell(t, [(duel, Outcome.TIE)])
        third = await called(service, name, name="t")
        assert third.body is not first.body
        if name in ("standings", "leaderboard", "preferences"):
            assert third.body != first.body

    served(url, test)


def test_pages_of_the_leaderboard_are_sorted_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten pages at the same number of the journal take one fit of the ratings, by which they are sorted."""
    sorts = []
    real = ratings.fit_ratings

    def fit_ratings(*given: Any) -> Ratings:
        sorts.append(1)
        return real(*given)

    monkeypatch.setattr(view_module, "fit_ratings", fit_ratings)

    async def test(service: Service) -> None:
        lines = [await called(service, "leaderboard", name="t", limit=1, after=after) for after in range(3)]
        assert len({line.body for line in lines}) == 3
        assert len(sorts) == 1

    served(url, test)


def test_a_duel_is_explained_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is replayed once for a duel, however often it is looked at, and never twice at a time."""
    running: list[int] = [0, 0, 0]  # now, most at a time, in all
    real = view_at

    def counted(*given: Any) -> View | None:
        running[0] += 1
        running[1], running[2] = max(running[:2]), running[2] + 1
        try:
            return real(*given)
        finally:
            running[0] -= 1

    monkeypatch.setattr(duel_detail, "view_at", counted)

    async def test(service: Service) -> None:
        for _ in range(3):
            await asyncio.gather(*(called(service, "show_duel", name="t", duel=f"1-{i + 1}") for i in range(20)))
        assert running == [0, 1, 20]
        with pytest.raises(Problem, match="unknown duel"):
            await called(service, "show_duel", name="t", duel="9-9")

    served(url, test)


def test_reads_that_take_long_do_not_keep_asks_waiting(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a leaderboard, a decision, a timeline or pairs are computed, another thread may ask and tell."""
    with LocalTournament.create("t", rankers=["a", "b", "c"], storage=url, seed=1) as t, ThreadPoolExecutor(1) as other:
        t.tell(t.ask(), Outcome.FIRST)
        for name in ("leaderboard", "decision", "timeline", "preferences"):

            def slow(real: Callable[[View], Any], view: View) -> Any:
                other.submit(lambda: t.tell(t.ask(), Outcome.TIE)).result(WAIT)
                return real(view)

            monkeypatch.setattr(standings, name, partial(slow, getattr(standings, name)))
            assert getattr(t, name)() is not None


# What is computed is the same as before


def plain_leaderboard(view: View) -> list[Standing]:
    """The leaderboard by counting, as it is defined."""
    wins, losses, ties = Counter[int](), Counter[int](), Counter[int]()
    for (won, lost), count in view.wins.items():
        wins[won] += count
        losses[lost] += count
    for (first, second), count in view.ties.items():
        ties[first] += count
        ties[second] += count if second != first else 0
    left = set(view.alive.tolist())

    def line(arm: int) -> Standing:
        gone = "retired" if arm in view.retired else "eliminated"
        word = "paused" if arm in view.paused else "champion" if arm == view.champion else "left"
        return Standing(view.names[arm], word if arm in left else gone, wins[arm], losses[arm], ties[arm])

    def order(arm: int) -> tuple[int, float]:
        group = int(arm != view.champion) if arm in left else 3 if arm in view.retired else 2
        return group, -view.ratings.means[arm]

    board = [line(arm) for arm in range(len(view.names))]
    return [board[arm] for arm in sorted(range(len(board)), key=order)]


def drawn(random: Random, duel: LiveDuel) -> Outcome:
    """A tie now and then; else the ranker with the smaller number wins most of the time."""
    if random.random() < 0.1:
        return Outcome.TIE
    better = int(duel.first[1:]) < int(duel.second[1:])
    return Outcome.FIRST if better == (random.random() < 0.9) else Outcome.SECOND


@pytest.fixture(params=["CertifiedSparring(delta=0.4)", "MergeRUCB", "SelfSparring", "REX3"])
def played(request: pytest.FixtureRequest, url: str) -> Iterator[LocalTournament]:
    """A tournament with wins, ties, eliminated, paused and retired rankers."""
    random = Random(1)
    with LocalTournament.create(
        "t", rankers=[f"r{i}" for i in range(12)], storage=url, bandit=request.param, seed=1
    ) as t:
        if request.param.startswith("Certified"):
            t.pause_ranker("r1")
            t.retire("r7")
        for _ in range(15):
            told = [(duel, drawn(random, duel)) for duel in (t.ask() for _ in range(100)) if duel.id is not None]
            t.tell_many(told)
        yield t


def test_the_leaderboard_is_that_of_counting(played: LocalTournament) -> None:
    """Lines, order and pages, for bandits that eliminate and for others."""
    view = played.view()
    expected = plain_leaderboard(view)
    assert played.leaderboard() == expected
    assert [line for at in range(0, 12, 5) for line in standings.leaderboard(view, at, at + 5)] == expected


def test_pairs_are_those_of_counting(played: LocalTournament) -> None:
    """All pairs that have met, in order, with themselves, too; and pages of them."""
    view = played.view()
    pairs = sorted({(min(pair), max(pair)) for counts in (view.wins, view.ties) for pair in counts})
    expected = [
        (view.names[i], view.names[j], view.wins.get((i, j), 0), view.wins.get((j, i), 0), view.ties.get((i, j), 0))
        for i, j in pairs
    ]
    found = [(one.first, one.second, one.wins, one.losses, one.ties) for one in played.preferences()]
    assert found == expected
    assert standings.preferences(view, 3, 7) == played.preferences()[3:7]
    assert standings.timeline(view, 1, 3) == played.timeline()[1:3]


def test_standings_are_encoded_as_their_type_says(url: str) -> None:
    """Lines that are encoded one by one are the same JSON as all of them together."""

    async def test(service: Service) -> None:
        t = await service.tournament("t")
        view = t.view()
        whole = Standings(rankers=leaderboard(view), level=INTERVAL_CONFIDENCE)
        assert (await called(service, "standings", name="t")).body == encode(whole)

    served(url, test)


def test_readyz_watchers_and_metrics_copy_no_counters(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on the event loop, or without a key, costs the same however many counters a tournament has."""

    async def test(service: Service) -> None:
        t = await service.tournament("t")
        monkeypatch.setattr(LocalTournament, "health", lambda _: pytest.fail("all counters were folded"))
        monkeypatch.setattr(LocalTournament, "counters", lambda _: pytest.fail("all counters were copied"))
        assert (await called(service, "readyz")).body == b"ok\n"
        assert b'rankduel_duels_issued_total{tournament="t"}' in (await called(service, "metrics")).body
        stop = asyncio.Event()
        changes = browser._changes(service, "", "t", stop)
        assert b"retry" in await anext(changes)
        assert b"change" in await anext(changes)
        await service.tell(t, [(t.ask("q"), Outcome.FIRST)])
        assert b"change" in await anext(changes)
        stop.set()
        assert [part async for part in changes] == []

    served(url, test)
