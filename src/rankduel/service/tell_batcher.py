"""Request batching of tells: all tells of one event loop iteration go to the writer together.

They share one commit and wake the event loop once.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future

from rankduel.live import LiveDuel, LocalTournament
from rankduel.live.rules.signals import Clicks
from rankduel.live.storage.contract import TellResult
from rankduel.types import Outcome

__all__ = ["TellBatcher", "TellItem"]

TellItem = tuple[LiveDuel | str, Outcome | Clicks]
_Pending = tuple[Sequence[TellItem], asyncio.Future[list[TellResult]]]  # the tells of one request, and its results


class TellBatcher:
    """Batches the tells of one tournament. The tells of a cancelled request are still recorded."""

    def __init__(self, tournament: LocalTournament) -> None:
        self.tournament = tournament
        self._loop = asyncio.get_running_loop()
        self._pending: list[_Pending] = []

    async def tell(self, items: Sequence[TellItem]) -> list[TellResult]:
        """Tell outcomes with the next batch. Return the results when the outcomes are durable."""
        future: asyncio.Future[list[TellResult]] = self._loop.create_future()
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append((items, future))
        return await future

    def _flush(self) -> None:
        batch, self._pending = self._pending, []
        self._send(batch)

    def _send(self, batch: list[_Pending]) -> None:
        try:
            sent = self.tournament.submit_tells([item for items, _ in batch for item in items])
        except Exception as error:
            if len(batch) > 1:
                for one in batch:  # an invalid tell must not fail the tells of other requests
                    self._send([one])
            elif not (future := batch[0][1]).done():
                future.set_exception(error)
            return
        sent.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._receive, done, batch))

    def _receive(self, done: Future[list[TellResult]], batch: list[_Pending]) -> None:
        error = done.exception()
        results = [] if error is not None else done.result()
        start = 0
        for items, future in batch:
            if future.done():
                pass  # the request was cancelled
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(results[start : start + len(items)])
            start += len(items)
