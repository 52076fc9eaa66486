"""Tells of many requests go to the writer together: they share one commit, and one wake-up of the server."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future

from rankduel.live import LiveDuel, LocalTournament
from rankduel.live.rules.signals import Clicks
from rankduel.live.storage.contract import TellResult
from rankduel.types import Outcome

__all__ = ["TellBatcher", "Telling"]

Telling = tuple[LiveDuel | str, Outcome | Clicks]
Lying = tuple[Sequence[Telling], asyncio.Future[list[TellResult]]]


class TellBatcher:
    """What comes for one tournament in one turn of the event loop is told together.

    A request that is given up takes nothing back: what was told stays told.
    """

    def __init__(self, tournament: LocalTournament) -> None:
        self._tournament = tournament
        self._loop = asyncio.get_running_loop()
        self._lying: list[Lying] = []

    async def tell(self, told: Sequence[Telling]) -> list[TellResult]:
        """What became of them, when it is durable."""
        future: asyncio.Future[list[TellResult]] = self._loop.create_future()
        if not self._lying:
            self._loop.call_soon(self._flush)
        self._lying.append((told, future))
        return await future

    def _flush(self) -> None:
        lying, self._lying = self._lying, []
        self._send(lying)

    def _send(self, lying: list[Lying]) -> None:
        try:
            sent = self._tournament.submit_tells([item for told, _ in lying for item in told])
        except Exception as error:
            if len(lying) > 1:
                for one in lying:  # nobody shall suffer from the tells of others
                    self._send([one])
            elif not (future := lying[0][1]).done():
                future.set_exception(error)
            return
        sent.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._receive, done, lying))

    def _receive(self, done: Future[list[TellResult]], lying: list[Lying]) -> None:
        error = done.exception()
        results = [] if error is not None else done.result()
        start = 0
        for told, future in lying:
            if future.done():
                pass  # given up
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(results[start : start + len(told)])
            start += len(told)
