"""Issuing of duels: which query gets which duel, and who sees the baseline instead."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from rankduel.errors import StorageError
from rankduel.live.results import LiveDuel
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.traffic_share import in_share
from rankduel.live.rules.validation import as_list, check_name
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.settings import DAY
from rankduel.live.storage.contract import CounterDelta

__all__ = ["DuelIssuer"]

_MAX_ASK_SECONDS = 1.0  # that an ask waits for a shared storage
_MAX_RECENT_CLIENTS = 100_000  # whose duels of today are counted in memory
_NO_ODDS = (None, None)
_Query = tuple[str | None, str | None]  # query and hashed client


class _Found(NamedTuple):
    """What is known of the queries and clients of a call."""

    known: dict[str, DuelRow]  # by query
    queries: list[str]  # that only the storage may know
    clients: set[str]  # whose duels of today only the storage can count
    day: float  # when today began


@dataclass(slots=True)
class _Round:
    """One call for any number of duels."""

    time: float
    expires: float
    known: dict[str, DuelRow]  # by query
    closed: str | None  # why nobody gets a duel
    limited: bool  # whether somebody may be refused
    new: list[DuelRow] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)  # how many, by why

    def refuse(self, why: str) -> None:
        """Count one who gets no duel."""
        self.refused[f"serve {why}"] = self.refused.get(f"serve {why}", 0) + 1


class DuelIssuer:
    """Gives out the duels of one session: the time from when a process opens a tournament until it closes it."""

    def __init__(self, runtime: TournamentRuntime, session: int) -> None:
        self.runtime = runtime
        self._state = runtime.state
        self._storage = runtime.storage
        self._salt = bytes.fromhex(runtime.state.settings.salt)
        self._session = session
        self._issued = 0  # in this session
        self._queries = runtime.queries
        # How many duels each client was given on that day, where there is a cap.
        self._day = 0.0
        self._clients: RecentCache[str, int] = RecentCache(_MAX_RECENT_CLIENTS)
        runtime.state.begin(session)

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """A duel for each query, with a client or None; the same query gets the same duel."""
        checked = self._checked(asked)
        try:
            found = self._find(checked)
        except StorageError:
            return self._without_storage(len(checked))
        return self._ask_many(checked, found)

    def ask_now(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel] | None:
        """The same, without waiting for the storage; None if the storage must be asked.

        While the storage fails or hangs, queries that are not in memory get the baseline: nobody waits for it.
        """
        unusable = self._storage_unusable()
        if self._storage.shared and not unusable:
            return None
        checked = self._checked(asked)
        with self.runtime.lock:
            found = self._found(checked)
        if (found.queries or found.clients) and not unusable:
            return None
        return self._ask_many(checked, found)

    def _checked(self, asked: Iterable[tuple[str | None, str | None]]) -> list[_Query]:
        self.runtime.check()
        return [
            (None if query is None else check_name("query_id", query), None if client is None else self._hashed(client))
            for query, client in as_list("asked", asked)
        ]

    def _ask_many(self, checked: list[_Query], found: _Found) -> list[LiveDuel]:
        runtime, storage = self.runtime, self._storage
        self._catch_up(found.known.values())
        with runtime.lock:
            time, settings = runtime.time(), self._state.settings
            this = _Round(time, time + settings.expires_after, found.known, self._closed(), settings.limited)
            duels = [self._ask(query, client, this) for query, client in checked]
            runtime.unwritten += len(this.new)
        if this.new and not storage.shared:
            runtime.writer.issue(runtime.name, this.new)
        elif any(row.query is not None for row in this.new):
            duels = self._agree(duels, this.new)
        elif this.new:  # others may be told of them
            runtime.writer.put_soon(runtime.name, this.new)
        if this.refused:
            runtime.writer.put_soon(runtime.name, [CounterDelta(this.refused)])
        return duels

    # What the storage knows of queries and clients. Nobody waits for the lock while it is read

    def _found(self, checked: list[_Query]) -> _Found:
        """What is in memory, and for whom the storage must be asked. The caller holds the lock."""
        queries = [query for query, _ in checked if query is not None]
        known: dict[str, DuelRow] = {}
        missing = queries
        if queries and self._queries is not None:  # else only the storage knows what other processes have asked
            known, missing = self._queries.in_memory(queries)
        capped = self._state.settings.daily_cap is not None and not self._closed()
        day = self._today()
        clients = {client for _, client in checked if client is not None and self._clients.get(client) is None}
        return _Found(known, missing, clients if capped else set(), day)

    def _find(self, checked: list[_Query]) -> _Found:
        runtime, storage = self.runtime, self._storage
        if storage.shared and runtime.writer.failure is not None:
            raise StorageError("the last write has failed")
        with runtime.lock:
            found = self._found(checked)
        if found.queries:
            found.known.update(storage.duels_of(runtime.name, found.queries))
        duels = {client: storage.asked_by(runtime.name, client, found.day) for client in found.clients}
        if duels:
            with runtime.lock:
                for client, count in duels.items():
                    if self._day == found.day and self._clients.get(client) is None:
                        self._clients[client] = count
        return found

    def _ask(self, query: str | None, client: str | None, this: _Round) -> LiveDuel:
        if query is not None and (row := this.known.get(query) or self._asked_meanwhile(query)) is not None:
            return self._again(row)
        why = this.closed or (self._refusal(query, client, this) if this.limited else None)
        if why is not None:
            this.refuse(why)
            return self._no_duel(why)
        try:
            first, second, odds, seed = self._state.choose(id := f"{self._session}-{self._issued + 1}")
        except Exception as error:
            self.runtime.fail(error)
            this.closed = "failed"
            return self._no_duel("failed")
        self._issued += 1
        first_odds, second_odds = odds or _NO_ODDS
        row = DuelRow(
            self._session, self._issued, query, client, first, second, first_odds, second_odds, this.time, this.expires
        )
        if self._state.settings.shadow:
            this.refuse("shadow")
            return self._shadow(row, seed)
        if client is not None and (count := self._clients.get(client)) is not None:
            self._clients[client] = count + 1
        if query is not None:
            this.known[query] = row
            if self._queries is not None:
                self._queries.note(query, row)
        this.new.append(row)
        return self._live(row, id, seed)

    def _asked_meanwhile(self, query: str) -> DuelRow | None:
        """The duel that another thread has issued for a query since the storage was asked."""
        return None if self._queries is None else self._queries.recent(query)

    def _agree(self, duels: list[LiveDuel], new: list[DuelRow]) -> list[LiveDuel]:
        """Where other processes ask, too: the duel that a query has is the one that was written first."""
        runtime = self.runtime
        try:
            rows: list[DuelRow] = runtime.writer.put(runtime.name, new).result(_MAX_ASK_SECONDS)
        except (StorageError, TimeoutError):  # perhaps they are written later: then nobody tells them, and they expire
            return self._without_storage(len(duels))
        stored = {asked.id: row for asked, row in zip(new, rows, strict=True)}
        self._catch_up(rows)
        with runtime.lock:
            runtime.unwritten = max(0, runtime.unwritten - sum(id != row.id for id, row in stored.items()))
            return [self._again(stored[duel.id]) if duel.id in stored else duel for duel in duels]

    def _without_storage(self, asks: int) -> list[LiveDuel]:
        """The storage does not answer, or too late: users still see their results."""
        with self.runtime.lock:
            return [self._no_duel("storage") for _ in range(asks)]

    def duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, be they on their way to the storage, or there."""
        known: dict[str, DuelRow] = {}
        if self._queries is not None:
            with self.runtime.lock:
                known, queries = self._queries.in_memory(queries)
        return known | self._storage.duels_of(self.runtime.name, queries) if queries else known

    def recognise(self, row: DuelRow) -> None:
        """A duel has come back by its ticket. If it is of an earlier session, a crash may have swallowed the ask."""
        if row.session != self._session and row.query is not None and self._queries is not None:
            with self.runtime.lock:
                self._queries.note(row.query)

    # Whether there is a duel

    def _closed(self) -> str | None:
        """Why there is no duel for anybody, or None."""
        runtime, state = self.runtime, self._state
        if runtime.failure is not None:
            return "failed"
        if self._storage_unusable():
            return "storage"
        if state.status != "running":
            return state.status
        return "decided" if state.bandit.n_alive == 1 or state.bandit.tied else None

    def _storage_unusable(self) -> bool:
        """Whether the storage fails, hangs or is damaged."""
        writer = self.runtime.writer
        return writer.failure is not None or writer.stalled or self._storage.damage is not None

    def _refusal(self, query: str | None, client: str | None, this: _Round) -> str | None:
        """Why there is no duel for this query, or None."""
        runtime, settings = self.runtime, self._state.settings
        if settings.share < 1 and not in_share(settings.share, settings.salt, client or query or secrets.token_hex(8)):
            return "share"
        cap = settings.in_flight_cap
        if cap is not None and runtime.counts().in_flight + runtime.unwritten + len(this.new) >= cap:
            return "in_flight_cap"
        if settings.daily_cap is not None and client is not None:
            return "daily_cap" if (self._clients.get(client) or 0) >= settings.daily_cap else None
        return None

    def _today(self) -> float:
        """When today began; what was counted on another day is forgotten."""
        time = self.runtime.time()
        day = time - time % DAY
        if self._day != day:
            self._day, self._clients = day, RecentCache(_MAX_RECENT_CLIENTS)
        return day

    def _hashed(self, client: str) -> str:
        return blake2b(check_name("client_id", client).encode(), key=self._salt, digest_size=8).hexdigest()

    def _catch_up(self, rows: Iterable[DuelRow]) -> None:
        """Learn of rankers that another process has added, before the lock is taken."""
        if self._storage.shared and not all(map(self._has_rankers, rows)):
            self.runtime.follow()

    def _has_rankers(self, row: DuelRow) -> bool:
        return max(row.first, row.second) < len(self._state.rankers)

    # What is answered

    def _again(self, row: DuelRow) -> LiveDuel:
        """A duel that was given out before."""
        if not self._has_rankers(row):  # a damaged storage: the journal does not name them
            return self._no_duel("storage")
        return self._live(row, row.id, self._state.seed_of(row.id))

    def _live(self, row: DuelRow, id: str, seed: int) -> LiveDuel:
        runtime, rankers = self.runtime, self._state.rankers
        first, second, tickets = rankers[row.first], rankers[row.second], runtime.tickets
        return LiveDuel(id, first, second, seed, row.expires, runtime.method, _row=row, _signer=tickets)

    def _shadow(self, row: DuelRow, seed: int) -> LiveDuel:
        """A duel that was chosen and is not played."""
        rankers, method = self._state.rankers, self.runtime.method
        return LiveDuel(None, rankers[row.first], rankers[row.second], seed, row.expires, method, "baseline", "shadow")

    def _no_duel(self, why: str) -> LiveDuel:
        state = self._state
        shown = None if why == "decided" else state.settings.baseline
        if shown is None:
            shown = state.rankers[state.bandit.champion]
        serve = "winner" if why == "decided" else "baseline"
        return LiveDuel(None, shown, shown, 0, 0.0, self.runtime.method, serve, why)
