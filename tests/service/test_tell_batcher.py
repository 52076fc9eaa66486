"""Request batching of tells, without a server."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import Any, cast

import pytest

from rankduel.errors import StorageError
from rankduel.live import LocalTournament, Status
from rankduel.live.storage.contract import TellResult
from rankduel.service.tell_batcher import TellBatcher
from rankduel.types import Outcome

FIRST = Outcome.FIRST


class Tournament:
    """Records the batches that it is told. A duel `bad` is an error of its batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.futures: list[Future[list[TellResult]]] = []

    def submit_tells(self, items: list[tuple[str, Outcome]]) -> Future[list[TellResult]]:
        duels = [duel for duel, _ in items]
        if "bad" in duels:
            raise ValueError("bad duel")
        self.batches.append(duels)
        self.futures.append(Future())
        return self.futures[-1]

    def commit(self) -> None:
        for duels, future in zip(self.batches, self.futures, strict=True):
            future.set_result([TellResult(Status.ACCEPTED, duel) for duel in duels])


def batched(test: Callable[[TellBatcher, Tournament], Awaitable[None]]) -> None:
    async def run() -> None:
        tournament = Tournament()
        await test(TellBatcher(cast(LocalTournament, tournament)), tournament)

    asyncio.run(run())


def tell(batcher: TellBatcher, *duels: str) -> "asyncio.Task[list[TellResult]]":
    return asyncio.ensure_future(batcher.tell([(duel, FIRST) for duel in duels]))


def test_requests_of_one_turn_share_a_batch_and_get_their_own_results() -> None:
    async def test(batcher: TellBatcher, tournament: Tournament) -> None:
        requests = [tell(batcher, "1", "2"), tell(batcher, "3"), tell(batcher)]
        await asyncio.sleep(0.01)
        assert tournament.batches == [["1", "2", "3"]]
        tournament.commit()
        results = await asyncio.gather(*requests)
        assert [[result.outcome for result in of_request] for of_request in results] == [["1", "2"], ["3"], []]

    batched(test)


def test_an_invalid_tell_fails_its_own_request_only() -> None:
    async def test(batcher: TellBatcher, tournament: Tournament) -> None:
        requests = [tell(batcher, "1"), tell(batcher, "bad"), tell(batcher, "2")]
        await asyncio.sleep(0.01)
        assert tournament.batches == [["1"], ["2"]]
        tournament.commit()
        results: list[Any] = await asyncio.gather(*requests, return_exceptions=True)
        assert isinstance(results[1], ValueError)
        assert [len(results[0]), len(results[2])] == [1, 1]

    batched(test)


def test_a_cancelled_request_is_told_and_disturbs_no_other() -> None:
    async def test(batcher: TellBatcher, tournament: Tournament) -> None:
        cancelled, other = tell(batcher, "1"), tell(batcher, "2")
        await asyncio.sleep(0.01)
        cancelled.cancel()
        tournament.commit()
        assert [result.outcome for result in await other] == ["2"]
        assert tournament.batches == [["1", "2"]]

    batched(test)


def test_a_commit_that_fails_fails_all_its_requests() -> None:
    async def test(batcher: TellBatcher, tournament: Tournament) -> None:
        requests = [tell(batcher, "1"), tell(batcher, "2")]
        await asyncio.sleep(0.01)
        tournament.futures[0].set_exception(StorageError("disk full"))
        for request in requests:
            with pytest.raises(StorageError, match="disk full"):
                await request

    batched(test)
