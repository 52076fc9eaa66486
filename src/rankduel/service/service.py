"""What all calls share: the open tournaments, who may come in, and what is counted."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from msgspec.json import decode, encode

from rankduel.errors import BrokenTournament, StorageError
from rankduel.live import LiveDuel, LocalTournament
from rankduel.live.storage.contract import TellResult
from rankduel.service.auth.keys import KeyRing
from rankduel.service.auth.sessions import Sessions
from rankduel.service.forecasts import ForecastCache
from rankduel.service.metrics import Metrics
from rankduel.service.open_tournaments import OpenTournaments
from rankduel.service.read_pool import ReadPool
from rankduel.service.settings import ServiceSettings
from rankduel.service.tell_batcher import TellBatcher, Telling

__all__ = ["Service"]

_ASK_THREADS = 16  # for asks that must read the storage: nothing else may keep them waiting
_WRITE_THREADS = 16  # for requests that wait for a commit: events, pages, operators
_READERS = 2  # threads for reads: they compute, and each of them takes the interpreter from asks
_REPLAYS = 1  # thread for reads that take a second: replays of the journal, forecasts, reports
_KEY_READ_SECONDS = 5.0  # after which a storage whose keys are still not read counts as one that cannot be read
_log = logging.getLogger("rankduel.service")
T = TypeVar("T")


class Service:
    """One server's half of everything: it begins with the app and ends with it."""

    def __init__(self, storage: str, settings: ServiceSettings) -> None:
        self.storage, self.settings = storage, settings
        self.metrics = Metrics()
        self.key_ring = KeyRing(())
        self.ready = False
        self.readable = True  # whether the storage was, when its keys were read last
        self.openapi = b""
        self.open_tournaments: OpenTournaments
        self._tell_batchers: dict[str, TellBatcher] = {}
        self.sessions: Sessions
        self.forecasts = ForecastCache(self)
        self.watchers = 0  # who follow what happens
        self.reads, self.replays = ReadPool(_READERS), ReadPool(_REPLAYS)
        self._ask_threads = ThreadPoolExecutor(_ASK_THREADS, thread_name_prefix="rankduel asks")
        self._threads = ThreadPoolExecutor(_WRITE_THREADS, thread_name_prefix="rankduel service")
        self._key_thread = ThreadPoolExecutor(1, thread_name_prefix="rankduel keys")
        self._watch: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Open the storage and all its tournaments."""
        self.open_tournaments = await self.in_thread(OpenTournaments, self.storage)
        self.sessions = Sessions(self.open_tournaments.storage.secret, self.settings.session)
        try:
            self.key_ring = await self.in_thread(KeyRing.of, self.open_tournaments.storage)
            self.settings.check(self.key_ring)
            await self.in_thread(self.open_tournaments.open_all)
        except BaseException:
            await self.in_thread(self.open_tournaments.close)
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
            await self.in_thread(self.open_tournaments.close)
        for threads in (self._ask_threads, self._threads, self._key_thread):
            threads.shutdown()

    async def in_thread(self, work: Callable[..., T], *given: Any) -> T:
        """Do something that takes a while in another thread, so that others are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    async def tournament(self, name: str) -> LocalTournament:
        """A tournament by its name."""
        t = self.open_tournaments.tournaments.get(name)
        return t if t is not None else await self.in_thread(self.open_tournaments.open, name)

    async def open_among(self, names: Iterable[str]) -> list[LocalTournament]:
        """Those of these tournaments that are not broken."""
        found = []
        for name in names:
            with suppress(BrokenTournament):
                found.append(await self.tournament(name))
        return found

    def degraded(self) -> list[str]:
        """What does not work though the server is ready, for people without a key: no names, no reasons."""
        open_tournaments = self.open_tournaments
        failing = sum(t.maintenance_failure is not None for t in list(open_tournaments.tournaments.values()))
        found = [] if (failure := open_tournaments.write_failure) is None else [f"{failure}, asks get the baseline"]
        if open_tournaments.broken:
            found.append(f"{len(open_tournaments.broken)} tournaments cannot be opened")
        if failing:
            found.append(f"maintenance fails in {failing} tournaments")
        return found

    async def names(self) -> list[str]:
        """All tournaments of the storage, in alphabetical order, for somebody who reads."""
        return decode(await self.reads.answer("names", lambda: encode(self.open_tournaments.names())), type=list[str])

    async def ask(self, t: LocalTournament, asked: Sequence[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Ask a tournament: at once, or in a thread where the storage must be read."""
        duels = t.ask_now(asked)
        if duels is not None:
            return duels
        return await asyncio.get_running_loop().run_in_executor(self._ask_threads, t.ask_many, asked)

    async def tell(self, t: LocalTournament, told: Sequence[Telling]) -> list[TellResult]:
        """Tell a tournament; on return it is durable."""
        batcher = self._tell_batchers.get(t.name)
        if batcher is None:
            batcher = self._tell_batchers[t.name] = TellBatcher(t)
        return await batcher.tell(told)

    async def _watch_keys(self) -> None:
        """Keys are made and revoked by other processes, too."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.settings.keys_every)
            reading = loop.run_in_executor(self._key_thread, KeyRing.of, self.open_tournaments.storage)
            try:
                if not (await asyncio.wait({reading}, timeout=_KEY_READ_SECONDS))[0]:
                    self.readable = False
                    _log.error("the storage does not answer: the last keys stay valid")
                self.key_ring = await reading
                self.readable = True
            except StorageError as error:
                self.readable = False
                _log.error("keys cannot be read: the last ones stay valid", extra={"error": str(error)})
