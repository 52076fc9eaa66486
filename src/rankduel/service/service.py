"""State that all handlers share: open tournaments, authentication, thread pools, metrics."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from msgspec.json import decode, encode

from rankduel.errors import BrokenTournament, StorageError, UnknownTournament
from rankduel.live import LiveDuel, LocalTournament, Storage
from rankduel.live.runtime.clock import CLOCK
from rankduel.live.storage.contract import StorageBusy, TellResult
from rankduel.service.auth.authentication import Authentication
from rankduel.service.auth.keys import ApiKeys
from rankduel.service.auth.sessions import Sessions
from rankduel.service.forecasts import ForecastCache
from rankduel.service.metrics import RequestCounters, ServiceState, make_registry
from rankduel.service.open_tournaments import OpenTournaments
from rankduel.service.read_pool import ReadPool
from rankduel.service.settings import ServiceSettings
from rankduel.service.tell_batcher import TellBatcher, TellItem
from rankduel.service.webhooks.settings import WebhookSettings
from rankduel.service.webhooks.webhooks import Webhooks

__all__ = ["Service"]

_ASK_THREADS = 16  # for asks that must read the storage: they never wait for other work
_WRITE_THREADS = 16  # for requests that wait for a commit: events, pages, operators
_READ_THREADS = 2  # for reads: each computes, and holds the interpreter lock that asks need
_REPLAY_THREADS = 1  # for reads that take a second: replays of the journal, forecasts, reports
_SCRAPE_THREADS = 1  # for metrics: they never wait for reads, nor for the storage
_KEY_READ_SECONDS = 5.0  # a storage that takes longer to return its keys counts as unreadable
_KEYS_UNREADABLE = "cannot read API keys; the cached keys stay valid"
_log = logging.getLogger("rankduel.service")
T = TypeVar("T")


class Service:
    """State of one server, shared by all requests. `start` opens the storage, `stop` closes it."""

    def __init__(
        self,
        storage: str,
        settings: ServiceSettings,
        *,
        create: bool = False,
        webhooks: Sequence[WebhookSettings] = (),
    ) -> None:
        self.storage, self.settings = storage, settings
        self._create, self._hooks = create, webhooks
        self.metrics = RequestCounters()
        self.registry = make_registry(self.metrics, self._state)
        self.ready = False
        self.readable = True  # whether the last read of the API keys succeeded
        self.openapi = b""
        self.open_tournaments: OpenTournaments
        self.authentication: Authentication
        self.webhooks: Webhooks
        self.watchers = 0  # open streams of changes
        self.reads, self.replays = ReadPool(_READ_THREADS), ReadPool(_REPLAY_THREADS)
        self.scrapes = ReadPool(_SCRAPE_THREADS)
        self.forecasts = ForecastCache(self.replays)
        self._tell_batchers: dict[str, TellBatcher] = {}
        self._ask_threads = ThreadPoolExecutor(_ASK_THREADS, thread_name_prefix="rankduel asks")
        self._write_threads = ThreadPoolExecutor(_WRITE_THREADS, thread_name_prefix="rankduel writes")
        self._key_thread = ThreadPoolExecutor(1, thread_name_prefix="rankduel keys")
        self._watcher: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the storage and all its tournaments."""
        opening = partial(OpenTournaments, self.storage, self.settings, create=self._create)
        self.open_tournaments = await self.in_thread(opening)
        storage = self.open_tournaments.storage
        try:
            api_keys = await self.in_thread(ApiKeys.load, storage)
            self.authentication = Authentication(api_keys, Sessions(storage.secret, self.settings.session))
            self.settings.check(api_keys)
            await self.in_thread(_check_writable, storage)
            await self.in_thread(self.open_tournaments.open_all)
            self.webhooks = self._webhooks()
            self.webhooks.start()
        except BaseException:
            await self.in_thread(self.open_tournaments.close)
            raise
        self._watcher = asyncio.create_task(self._watch_storage())
        self.ready = True

    async def stop(self) -> None:
        """Write pending entries and close the storage."""
        self.ready = False
        self.reads.close()
        self.replays.close()
        self.scrapes.close()
        if self._watcher is not None:
            self._watcher.cancel()
            await self.in_thread(self.webhooks.stop)
            await self.in_thread(self.open_tournaments.close)
        for threads in (self._ask_threads, self._write_threads, self._key_thread):
            threads.shutdown()

    def _webhooks(self) -> Webhooks:
        opened = self.open_tournaments
        return Webhooks(
            self._hooks,
            opened.storage,
            tournaments=lambda: opened.tournaments,
            broken=lambda: dict(opened.broken),
            public_url=self.settings.public_url,
        )

    async def in_thread(self, work: Callable[..., T], *args: Any) -> T:
        """Run blocking work in a thread, so that the event loop is not blocked."""
        return await asyncio.get_running_loop().run_in_executor(self._write_threads, work, *args)

    async def tournament(self, name: str) -> LocalTournament:
        """Return a tournament by name. Open it if necessary."""
        t = self.open_tournaments.tournaments.get(name)
        return t if t is not None and not t.deleted else await self.in_thread(self.open_tournaments.open, name)

    async def open_among(self, names: Iterable[str]) -> list[LocalTournament]:
        """Return the tournaments with these names, without broken ones and those deleted meanwhile."""
        found = []
        for name in names:
            with suppress(BrokenTournament, UnknownTournament):
                found.append(await self.tournament(name))
        return found

    def degraded(self) -> list[str]:
        """List problems of the server for clients without a key: no names, no reasons. Never waits."""
        open_tournaments = self.open_tournaments
        failing = sum(t.maintenance_failure is not None for t in list(open_tournaments.tournaments.values()))
        found = ["the storage does not keep up with writes, asks get the baseline"] if open_tournaments.stalled else []
        if CLOCK.jump:
            found.append("the clock jumped")
        if open_tournaments.broken:
            found.append(f"{len(open_tournaments.broken)} tournaments cannot be opened")
        if failing:
            found.append(f"maintenance fails in {failing} tournaments")
        if undelivered := sum(status.problem is not None for status in self.webhooks.statuses()):
            found.append(f"{undelivered} webhooks fail")
        return found

    def _state(self) -> ServiceState:
        """Return the state for metrics. Never waits for the storage."""
        opened = self.open_tournaments
        storage_works = self.readable and opened.write_failure is None and opened.storage.damage is None
        return ServiceState(
            tournaments=list(opened.tournaments.values()),
            broken=list(opened.broken),
            storage_failing=not storage_works or opened.stalled,
            clock_jumped=bool(CLOCK.jump),
            webhooks=self.webhooks.statuses(),
        )

    async def tournament_names(self) -> list[str]:
        """Return the names of all tournaments in alphabetical order. The read pool reads them."""
        names = await self.reads.answer("names", lambda: encode(self.open_tournaments.names()))
        return decode(names, type=list[str])

    async def ask(self, t: LocalTournament, asked: Sequence[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Ask a tournament for duels. Use a thread only if the storage must be read."""
        duels = t.ask_now(asked)
        if duels is not None:
            return duels
        return await asyncio.get_running_loop().run_in_executor(self._ask_threads, t.ask_many, asked)

    async def tell(self, t: LocalTournament, items: Sequence[TellItem]) -> list[TellResult]:
        """Tell outcomes to a tournament. They are durable on return."""
        batcher = self._tell_batchers.get(t.name)
        if batcher is None or batcher.tournament is not t:
            batcher = self._tell_batchers[t.name] = TellBatcher(t)
        return await batcher.tell(items)

    async def _watch_storage(self) -> None:
        """Reload API keys at an interval, because other processes create and revoke them, and check that writes work.

        Keep the cached keys on failure.
        """
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.settings.keys_every)
            self.open_tournaments.check_writable()
            reading = loop.run_in_executor(self._key_thread, ApiKeys.load, self.open_tournaments.storage)
            try:
                if not (await asyncio.wait({reading}, timeout=_KEY_READ_SECONDS))[0]:
                    self.readable = False
                    _log.error(_KEYS_UNREADABLE, extra={"error": f"no response within {_KEY_READ_SECONDS:g} s"})
                self.authentication.api_keys = await reading
                self.readable = True
            except StorageError as error:
                self.readable = False
                _log.error(_KEYS_UNREADABLE, extra={"error": str(error)})


def _check_writable(storage: Storage) -> None:
    """Raise StorageError if a storage cannot be written, so that the server does not start."""
    try:
        with suppress(StorageBusy):
            storage.check_writable()
    except StorageError as error:
        advice = "the file, its folder and its disk must be writable, and a database must not be a read-only standby"
        raise StorageError(f"{error}; {advice}") from error
