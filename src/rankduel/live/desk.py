"""Who is given a duel: asked at the desk, which knows those it gave out a moment ago."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b

from rankduel.errors import StorageError
from rankduel.live.answers import LiveDuel
from rankduel.live.checked import listed
from rankduel.live.checked import name as a_name
from rankduel.live.duels import DuelRow
from rankduel.live.memory import Memory
from rankduel.live.safety import chosen
from rankduel.live.settings import DAY
from rankduel.live.storage import Noted

__all__ = ["Desk"]

_NO_ODDS = (None, None)


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


class Desk:
    """Gives out the duels of one session: the time from when a process opens a tournament until it closes it."""

    def __init__(self, memory: Memory, session: int) -> None:
        self.memory = memory
        self._state = memory.state
        self._storage = memory.storage
        self._salt = bytes.fromhex(memory.state.settings.salt)
        self._session = session
        self._issued = 0  # in this session
        self._queries = memory.queries
        # How many duels each client was given on that day, where there is a cap.
        self._day = 0.0
        self._clients: dict[str, int] = {}
        memory.state.begin(session)

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """A duel for each query, with a client or None; the same query gets the same duel."""
        memory, storage = self.memory, self._storage
        checked = [
            (None if query is None else a_name("query_id", query), None if client is None else self._hashed(client))
            for query, client in listed("asked", asked)
        ]
        queries = [query for query, _ in checked if query is not None]
        memory.check()
        if storage.shared and memory.writer.failure is not None:
            return self._without_storage(len(checked))
        try:
            known = self.duels_of(queries) if storage.shared and queries else {}
        except StorageError:
            return self._without_storage(len(checked))
        with memory.lock:
            if not storage.shared and queries:
                known = self.duels_of(queries)
            time, settings = memory.time(), self._state.settings
            this = _Round(time, time + settings.expires_after, known, self._closed(), settings.limited)
            duels = [self._ask(query, client, this) for query, client in checked]
            memory.unwritten += len(this.new)
        if this.new and not storage.shared:
            memory.writer.issue(memory.name, this.new)
        elif any(row.query is not None for row in this.new):
            duels = self._agree(duels, this.new)
        elif this.new:  # others may be told of them
            memory.writer.put_soon(memory.name, this.new)
        if this.refused:
            memory.writer.put_soon(memory.name, [Noted(this.refused)])
        return duels

    def _ask(self, query: str | None, client: str | None, this: _Round) -> LiveDuel:
        if query is not None and (row := this.known.get(query)) is not None:
            return self._again(row)
        why = this.closed or (self._refusal(query, client, this) if this.limited else None)
        if why is not None:
            this.refuse(why)
            return self._no_duel(why)
        try:
            first, second, odds, seed = self._state.choose(id := f"{self._session}-{self._issued + 1}")
        except Exception as error:
            self.memory.fail(error)
            this.closed = "failed"
            return self._no_duel("failed")
        self._issued += 1
        first_odds, second_odds = odds or _NO_ODDS
        row = DuelRow(
            self._session, self._issued, query, client, first, second, first_odds, second_odds, this.time, this.expires
        )
        if self._state.settings.shadow:
            this.refuse("shadow")
            shadow = self._live(row, id, seed)
            shadow.id, shadow.sign, shadow.serve, shadow.why = None, None, "baseline", "shadow"
            return shadow
        if client in self._clients:
            self._clients[client] += 1
        if query is not None:
            this.known[query] = row
            if self._queries is not None:
                self._queries.note(query, row)
        this.new.append(row)
        return self._live(row, id, seed)

    def _agree(self, duels: list[LiveDuel], new: list[DuelRow]) -> list[LiveDuel]:
        """Where other processes ask, too: the duel that a query has is the one that was written first."""
        memory = self.memory
        try:
            rows: list[DuelRow] = memory.write(new)
        except StorageError:
            return self._without_storage(len(duels))
        stored = {asked.id: row for asked, row in zip(new, rows, strict=True)}
        with memory.lock:
            memory.unwritten = max(0, memory.unwritten - sum(id != row.id for id, row in stored.items()))
            return [self._again(stored[duel.id]) if duel.id in stored else duel for duel in duels]

    def _without_storage(self, asks: int) -> list[LiveDuel]:
        """The machine of a shared storage is away: users still see their results."""
        with self.memory.lock:
            return [self._no_duel("storage") for _ in range(asks)]

    def duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, be they on their way to the storage, or there."""
        if self._queries is None:  # only the storage knows what others have asked
            return self._storage.duels_of(self.memory.name, queries)
        with self.memory.lock:
            return self._queries.duels_of(queries)

    def recognise(self, row: DuelRow) -> None:
        """A duel has come back by its ticket. If it is of an earlier session, a crash may have swallowed the ask."""
        if row.session != self._session and row.query is not None and self._queries is not None:
            with self.memory.lock:
                self._queries.note(row.query)

    # Whether there is a duel

    def _closed(self) -> str | None:
        """Why there is no duel for anybody, or None."""
        memory, state = self.memory, self._state
        if memory.failure is not None:
            return "failed"
        if memory.writer.failure is not None or memory.storage.damage is not None:
            return "storage"
        if state.status != "running":
            return state.status
        return "decided" if state.bandit.n_alive == 1 or state.bandit.tied else None

    def _refusal(self, query: str | None, client: str | None, this: _Round) -> str | None:
        """Why there is no duel for this query, or None."""
        memory, settings = self.memory, self._state.settings
        if settings.share < 1 and not chosen(settings.share, settings.salt, client or query or secrets.token_hex(8)):
            return "share"
        cap = settings.in_flight_cap
        if cap is not None and memory.counts().in_flight + memory.unwritten + len(this.new) >= cap:
            return "in_flight_cap"
        if settings.daily_cap is not None and client is not None:
            return "daily_cap" if self._today(client, this.time) >= settings.daily_cap else None
        return None

    def _today(self, client: str, time: float) -> int:
        """How many duels a client was given today."""
        day = time - time % DAY
        if self._day != day:
            self._day, self._clients = day, {}
        if client not in self._clients:
            self._clients[client] = self._storage.asked_by(self.memory.name, client, day)
        return self._clients[client]

    def _hashed(self, client: str) -> str:
        return blake2b(a_name("client_id", client).encode(), key=self._salt, digest_size=8).hexdigest()

    # What is answered

    def _again(self, row: DuelRow) -> LiveDuel:
        """A duel that was given out before."""
        if max(row.first, row.second) >= len(self._state.rankers):
            self.memory.follow()  # another process has added rankers
        return self._live(row, row.id, self._state.seed_of(row.id))

    def _live(self, row: DuelRow, id: str, seed: int) -> LiveDuel:
        memory, rankers = self.memory, self._state.rankers
        sign = partial(memory.tickets.of, row)
        return LiveDuel(id, rankers[row.first], rankers[row.second], seed, row.expires, memory.method, sign=sign)

    def _no_duel(self, why: str) -> LiveDuel:
        state = self._state
        shown = None if why == "decided" else state.settings.baseline
        if shown is None:
            shown = state.rankers[state.bandit.champion]
        serve = "winner" if why == "decided" else "baseline"
        return LiveDuel(None, shown, shown, 0, 0.0, self.memory.method, serve, why)
