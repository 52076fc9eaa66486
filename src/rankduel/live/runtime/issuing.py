"""Issue duels: which query gets which duel, and which gets the baseline."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from rankduel.errors import StorageError
from rankduel.live.defaults import DAY
from rankduel.live.results import LiveDuel
from rankduel.live.rules.clients import hash_client
from rankduel.live.rules.duels import DuelRow
from rankduel.live.rules.lifecycle import Situation
from rankduel.live.rules.traffic_share import in_share
from rankduel.live.rules.validation import as_list, check_name
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.runtime.state import Chosen
from rankduel.live.storage.contract import CounterDelta

__all__ = ["DuelIssuer"]

_MAX_ASK_SECONDS = 1.0  # how long an ask waits for a shared storage
_MAX_RECENT_CLIENTS = 100_000  # clients whose duels of today are counted in memory
_NO_ODDS = (None, None)
_Query = tuple[str | None, str | None]  # query and hashed client


class _Found(NamedTuple):
    """The known duels of a call, and the queries and clients that must be looked up in the storage."""

    known: dict[str, DuelRow]  # by query
    queries: list[str]  # to look up in the storage
    clients: set[str]  # to count in the storage, for the daily cap
    day: float  # when today began


@dataclass(slots=True)
class _Round:
    """The state of one `ask_many`."""

    time: float
    expires: float
    known: dict[str, DuelRow]  # by query
    closed: str | None  # why no query gets a duel, or None
    limited: bool  # whether a query may be refused by a share or a cap
    decided: Situation | None  # what users see after a decision or a roll-out; None before
    new: list[DuelRow] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)  # counters of asks without a duel, by reason

    def refuse(self, why: str) -> None:
        """Count an ask without a duel."""
        self.refused[f"serve {why}"] = self.refused.get(f"serve {why}", 0) + 1


class DuelIssuer:
    """Issues the duels of one session. A session lasts from opening a tournament until closing it."""

    def __init__(self, runtime: TournamentRuntime, session: int) -> None:
        self.runtime = runtime
        self._state = runtime.state
        self._storage = runtime.storage
        self._salt = bytes.fromhex(runtime.state.settings.salt)
        self._session = session
        self._issued = 0  # in this session
        self._queries = runtime.queries
        # Duels per client on that day, if there is a daily cap.
        self._day = 0.0
        self._clients: RecentCache[str, int] = RecentCache(_MAX_RECENT_CLIENTS)
        runtime.state.begin(session)

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Return a duel for each query and client, which may be None. The same query gets the same duel."""
        checked = self._checked(asked)
        try:
            found = self._find(checked)
        except StorageError:
            return self._without_storage(len(checked))
        return self._ask_many(checked, found)

    def ask_now(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel] | None:
        """Like `ask_many`, without waiting for the storage. Return None if the storage must be read.

        While the storage fails or hangs, queries that are not in memory get the baseline at once.
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
            (
                None if query is None else check_name("query_id", query),
                None if client is None else hash_client(client, self._salt),
            )
            for query, client in as_list("asked", asked)
        ]

    def _ask_many(self, checked: list[_Query], found: _Found) -> list[LiveDuel]:
        runtime, storage = self.runtime, self._storage
        self._catch_up(found.known.values())
        with runtime.lock:
            time, settings = runtime.time(), self._state.settings
            state, expires = self._state, time + settings.expires_after
            decided = state.situation() if state.rollout is not None or state.decided else None
            this = _Round(time, expires, found.known, self._closed(), settings.limited, decided)
            duels = [self._ask(query, client, this) for query, client in checked]
            runtime.unwritten += len(this.new)
        if this.new and not storage.shared:
            runtime.writer.issue(runtime.name, this.new)
        elif any(row.query is not None for row in this.new):
            duels = self._agree(duels, this.new)
        elif this.new:  # other processes may receive their tells
            runtime.writer.put_soon(runtime.name, this.new)
        if this.refused:
            runtime.writer.put_soon(runtime.name, [CounterDelta(this.refused)])
        return duels

    # Lookup of queries and clients. The storage is read without holding the lock

    def _found(self, checked: list[_Query]) -> _Found:
        """Look up queries and clients in memory. The caller holds the lock."""
        queries = [query for query, _ in checked if query is not None]
        known: dict[str, DuelRow] = {}
        missing = queries
        if queries and self._queries is not None:  # if the storage is shared, other processes issue duels too
            known, missing = self._queries.in_memory(queries)
        if self._state.settings.daily_cap is None or self._closed():
            return _Found(known, missing, set(), day=0.0)
        day = self._today()
        clients = {client for _, client in checked if client is not None and self._clients.get(client) is None}
        return _Found(known, missing, clients, day)

    def _find(self, checked: list[_Query]) -> _Found:
        runtime, storage = self.runtime, self._storage
        if storage.shared and runtime.writer.failure is not None:
            raise StorageError("the last write failed")
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
        if this.closed is None and this.decided is not None:
            return self._after_decision(query, client, this, this.decided)
        why = this.closed or (self._refusal(query, client, this) if this.limited else None)
        if why is not None:
            return self._no_duel(why, this)
        try:
            first, second, odds, seed = self._state.choose(f"{self._session}-{self._issued + 1}")
        except Exception as error:
            self.runtime.fail(error)
            this.closed = "failed"
            return self._no_duel("failed", this)
        if self._state.settings.shadow:
            this.refuse("shadow")
            self._issued += 1
            return self._shadow(first, second, seed, this)
        return self._new_duel(query, client, this, (first, second, odds, seed))

    def _after_decision(self, query: str | None, client: str | None, this: _Round, now: Situation) -> LiveDuel:
        """Return what a query gets after a decision. Outside the share, that is always the baseline."""
        state, settings, id = self._state, self._state.settings, f"{self._session}-{self._issued + 1}"
        why, ranker = now.served(lambda share: _in_share(share, settings.salt, query, client))
        if ranker is None:
            return self._no_duel(why, this)
        if why == "rolled_out" and query is not None and settings.guardrails:
            # Guardrails count the pages of duels, so this is a duel of the ranker with itself.
            arm = state.arms[ranker]
            return self._new_duel(query, client, this, (arm, arm, None, state.seed_of(id)))
        if why == "rolled_out" or not now.compares:
            return self._no_duel(why, this, ranker)
        if (cap := self._refusal(query, client, this)) is not None:
            return self._no_duel(cap, this)
        return self._new_duel(query, client, this, state.pair(id, state.arms[ranker], state.arms[now.baseline]))

    def _new_duel(self, query: str | None, client: str | None, this: _Round, chosen: Chosen) -> LiveDuel:
        first, second, odds, seed = chosen
        self._issued += 1
        first_odds, second_odds = odds or _NO_ODDS
        row = DuelRow(
            self._session, self._issued, query, client, first, second, first_odds, second_odds, this.time, this.expires
        )
        if client is not None and (count := self._clients.get(client)) is not None:
            self._clients[client] = count + 1
        if query is not None:
            this.known[query] = row
            if self._queries is not None:
                self._queries.note(query, row)
        this.new.append(row)
        return self._live(row, row.id, seed)

    def _asked_meanwhile(self, query: str) -> DuelRow | None:
        """Return the duel that another thread issued for a query since the lookup, or None."""
        return None if self._queries is None else self._queries.recent(query)

    def _agree(self, duels: list[LiveDuel], new: list[DuelRow]) -> list[LiveDuel]:
        """Write new duels to a shared storage. A query has the duel that was written first, by any process."""
        runtime = self.runtime
        try:
            rows: list[DuelRow] = runtime.writer.put(runtime.name, new).result(_MAX_ASK_SECONDS)
        except (StorageError, TimeoutError):  # if they are written later after all, they expire
            return self._without_storage(len(duels))
        stored = {asked.id: row for asked, row in zip(new, rows, strict=True)}
        self._catch_up(rows)
        with runtime.lock:
            runtime.unwritten = max(0, runtime.unwritten - sum(id != row.id for id, row in stored.items()))
            return [self._again(stored[duel.id]) if duel.id in stored else duel for duel in duels]

    def _without_storage(self, asks: int) -> list[LiveDuel]:
        """Return the baseline for all asks, because the storage failed or was too slow."""
        with self.runtime.lock:
            return [self._no_duel("storage") for _ in range(asks)]

    def duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """Return the duels of queries, in memory or in the storage."""
        known: dict[str, DuelRow] = {}
        if self._queries is not None:
            with self.runtime.lock:
                known, queries = self._queries.in_memory(queries)
        return known | self._storage.duels_of(self.runtime.name, queries) if queries else known

    def recognise(self, row: DuelRow) -> None:
        """Note the query of a ticket. If the ticket is of an earlier session, a crash may have lost the ask."""
        if row.session != self._session and row.query is not None and self._queries is not None:
            with self.runtime.lock:
                self._queries.note(row.query)

    # Reasons for no duel

    def _closed(self) -> str | None:
        """Return why no query gets a duel, or None."""
        runtime, state = self.runtime, self._state
        if runtime.failure is not None:
            return "failed"
        if self._storage_unusable():
            return "storage"
        return None if state.phase == "running" else state.phase

    def _storage_unusable(self) -> bool:
        """Whether the storage fails, hangs or is damaged."""
        writer = self.runtime.writer
        return writer.failure is not None or writer.stalled or self._storage.damage is not None

    def _refusal(self, query: str | None, client: str | None, this: _Round) -> str | None:
        """Return why this query gets no duel, or None."""
        runtime, settings = self.runtime, self._state.settings
        if not _in_share(settings.share, settings.salt, query, client):
            return "share"
        cap = settings.in_flight_cap
        if cap is not None and runtime.counts().in_flight + runtime.unwritten + len(this.new) >= cap:
            return "in_flight_cap"
        if settings.daily_cap is not None and client is not None:
            return "daily_cap" if (self._clients.get(client) or 0) >= settings.daily_cap else None
        return None

    def _today(self) -> float:
        """Return when today began. On a new day, reset the counts per client."""
        time = self.runtime.time()
        day = time - time % DAY
        if self._day != day:
            self._day, self._clients = day, RecentCache(_MAX_RECENT_CLIENTS)
        return day

    def _catch_up(self, rows: Iterable[DuelRow]) -> None:
        """If duels have rankers that another process added, follow the journal. Called without the lock."""
        if self._storage.shared and not all(map(self._has_rankers, rows)):
            self.runtime.follow()

    def _has_rankers(self, row: DuelRow) -> bool:
        return max(row.first, row.second) < len(self._state.rankers)

    # Results

    def _again(self, row: DuelRow) -> LiveDuel:
        """Return a duel that was issued before."""
        if not self._has_rankers(row):  # a damaged storage: the journal does not have these rankers
            return self._no_duel("storage")
        return self._live(row, row.id, self._state.seed_of(row.id))

    def _live(self, row: DuelRow, id: str, seed: int) -> LiveDuel:
        runtime, rankers = self.runtime, self._state.rankers
        first, second, tickets = rankers[row.first], rankers[row.second], runtime.tickets
        return LiveDuel(id, first, second, seed, row.expires, runtime.method, _row=row, _signer=tickets)

    def _shadow(self, first: int, second: int, seed: int, this: _Round) -> LiveDuel:
        """Return the duel of a dry run: chosen, but not shown."""
        rankers, method = self._state.rankers, self.runtime.method
        return LiveDuel(None, rankers[first], rankers[second], seed, this.expires, method, "baseline", "shadow")

    def _no_duel(self, why: str, this: _Round | None = None, winner: str | None = None) -> LiveDuel:
        """Return the winner, or the baseline if it is None. `this` counts the ask."""
        if this is not None:
            this.refuse(why)
        shown, serve = (self._state.baseline, "baseline") if winner is None else (winner, "winner")
        return LiveDuel(None, shown, shown, 0, 0.0, self.runtime.method, serve, why)


def _in_share(share: float, salt: str, query: str | None, client: str | None) -> bool:
    """Whether a client, or the query of an unknown client, is in a share. An ask without both is in at random."""
    return share >= 1 or in_share(share, salt, client or query or secrets.token_hex(8))
