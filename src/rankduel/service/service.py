"""What all calls share: the open tournaments, who may come in, and what is counted."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.json import decode, encode

from rankduel.errors import BrokenTournament, StorageError
from rankduel.live import LiveDuel, Tournament
from rankduel.live.storage import Told
from rankduel.service.gathering import Gathering, Telling
from rankduel.service.house import House
from rankduel.service.keys import KeyRing
from rankduel.service.metrics import Metrics
from rankduel.service.outlooks import Outlooks
from rankduel.service.reads import ReadPool
from rankduel.service.sessions import Sessions
from rankduel.service.settings import ServiceSettings

__all__ = ["Service"]

_THREADS = 16  # for traffic and operators: they wait for the disk, or for another thread
_READERS = 2  # threads for reads: they compute, and each of them takes the interpreter from asks
_REPLAYS = 1  # thread for reads that take a second: replays of the journal, forecasts, reports
_log = logging.getLogger("rankduel.service")
T = TypeVar("T")


class Service:
    """One server's half of everything: it begins with the app and ends with it."""

    def __init__(self, storage: str, settings: ServiceSettings) -> None:
        self.storage, self.settings = storage, settings
        self.metrics = Metrics()
        self.ring = KeyRing(())
        self.ready = False
        self.readable = True  # whether the storage was, when it was read last
        self.openapi = b""
        self.house: House
        self._gatherings: dict[str, Gathering] = {}
        self.sessions: Sessions
        self.outlooks = Outlooks(self)
        self.watchers = 0  # who follow what happens
        self.reads, self.replays = ReadPool(_READERS), ReadPool(_REPLAYS)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="rankduel service")
        self._watch: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Open the storage and all its tournaments."""
        self.house = await self.off(House, self.storage)
        self.sessions = Sessions(self.house.storage.secret, self.settings.session)
        try:
            self.ring = await self.off(KeyRing.of, self.house.storage)
            self.settings.check(self.ring)
            await self.off(self.house.open_all)
        except BaseException:
            await self.off(self.house.close)
            raise
        self._watch = asyncio.create_task(self._watch_keys())
        self.ready = True

    async def end(self) -> None:
        """Write what is left, and let go of the storage."""
        self.ready = False
        self.reads.close()
        self.replays.close()
        if self._watch is not None:
            self._watch.cancel()
            await self.off(self.house.close)
        self._threads.shutdown()

    async def off(self, work: Callable[..., T], *given: Any) -> T:
        """Do something that takes a while in another thread, so that others are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    async def tournament(self, name: str) -> Tournament:
        """A tournament by its name."""
        t = self.house.tournaments.get(name)
        return t if t is not None else await self.off(self.house.open, name)

    async def open_among(self, names: Iterable[str]) -> list[Tournament]:
        """Those of these tournaments that are not broken."""
        found = []
        for name in names:
            with suppress(BrokenTournament):
                found.append(await self.tournament(name))
        return found

    def degraded(self) -> list[str]:
        """What does not work though the server is ready, for people without a key: no names, no reasons."""
        house = self.house
        failing = sum(t.health().maintenance is not None for t in list(house.tournaments.values()))
        told = [f"{len(house.broken)} tournaments cannot be opened"] if house.broken else []
        return [*told, f"maintenance fails in {failing} tournaments"] if failing else told

    async def names(self) -> list[str]:
        """All tournaments of the storage, in alphabetical order, for somebody who reads."""
        return decode(await self.reads.answer("names", lambda: encode(self.house.names())), type=list[str])

    async def ask(self, t: Tournament, asked: Sequence[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Ask a tournament: at once, or in a thread where the storage must be read."""
        duels = t.ask_now(asked)
        return duels if duels is not None else await self.off(t.ask_many, asked)

    async def tell(self, t: Tournament, told: Sequence[Telling]) -> list[Told]:
        """Tell a tournament; on return it is durable."""
        gathering = self._gatherings.get(t.name)
        if gathering is None:
            gathering = self._gatherings[t.name] = Gathering(t)
        return await gathering.tell(told)

    async def _watch_keys(self) -> None:
        """Keys are made and revoked by other processes, too."""
        while True:
            await asyncio.sleep(self.settings.keys_every)
            try:
                self.ring = await self.off(KeyRing.of, self.house.storage)
                self.readable = True
            except StorageError as error:
                self.readable = False
                _log.error("keys cannot be read: the last ones stay valid", extra={"error": str(error)})
