"""Who is given a duel: asked at the desk, which knows those it gave out a moment ago."""

import secrets
from collections.abc import Iterable
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
from rankduel.live.storage import Issue, Noted
from rankduel.live.tickets import ticket_of

__all__ = ["Desk"]

_RECENT = 20_000  # queries that are remembered while their duels are on the way to the disk


class Desk:
    """Gives out the duels of one session: the time from when a process opens a tournament until it closes it."""

    def __init__(self, memory: Memory, session: int) -> None:
        self.memory = memory
        self._state = memory.state
        self._storage = memory.storage
        self._salt = bytes.fromhex(memory.state.settings.salt)
        self._session = session
        self._issued = 0  # in this session
        # Duels by query that may not be in the storage yet, in two generations.
        self._recent: dict[str, DuelRow] = {}
        self._earlier: dict[str, DuelRow] = {}
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
        new: list[Issue] = []
        refused: dict[str, int] = {}
        memory.check()
        if storage.shared and memory.writer.failure is not None:
            return self._without_storage(len(checked))
        try:
            stored = storage.duels_of(memory.name, queries) if storage.shared and queries else {}
        except StorageError:
            return self._without_storage(len(checked))
        with memory.lock:
            time = memory.time()
            if storage.shared:
                self._recent = stored  # only the storage knows what others have asked
            else:
                self._find(queries)
            duels = [self._ask(query, client, time, new, refused) for query, client in checked]
            memory.unwritten += len(new)
        if new and storage.shared and any(issue.row.query is not None for issue in new):
            duels = self._agree(duels, new)
        elif new:
            memory.writer.put_soon(memory.name, new)
        if refused:
            memory.writer.put_soon(memory.name, [Noted(refused)])
        return duels

    def _ask(
        self, query: str | None, client: str | None, time: float, new: list[Issue], refused: dict[str, int]
    ) -> LiveDuel:
        if query is not None and (row := self._recent.get(query)) is not None:
            return self._live(row)
        why = self._refusal(query, client, time, len(new))
        if why is not None:
            refused[f"serve {why}"] = refused.get(f"serve {why}", 0) + 1
            return self._no_duel(why)
        try:
            duel = self._state.choose(f"{self._session}-{self._issued + 1}")
        except Exception as error:
            self.memory.fail(error)
            return self._no_duel("failed")
        self._issued += 1
        first_propensity, second_propensity = duel.propensity or (None, None)
        expires = time + self._state.settings.expires_after
        row = DuelRow(
            self._session, self._issued, query, client, duel.first, duel.second, first_propensity, second_propensity,
            time, expires,
        )  # fmt: skip
        if self._state.settings.shadow:
            refused["serve shadow"] = refused.get("serve shadow", 0) + 1
            shadow = self._live(row)
            shadow.id, shadow.sign, shadow.serve, shadow.why = None, None, "baseline", "shadow"
            return shadow
        if client in self._clients:
            self._clients[client] += 1
        if query is not None:
            self._recent[query] = row
        new.append(Issue(row))
        return self._live(row)

    def _agree(self, duels: list[LiveDuel], new: list[Issue]) -> list[LiveDuel]:
        """Where other processes ask, too: the duel that a query has is the one that was written first."""
        memory = self.memory
        try:
            rows: list[DuelRow] = memory.write(new)
        except StorageError:
            return self._without_storage(len(duels))
        stored = {issue.row.id: row for issue, row in zip(new, rows, strict=True)}
        with memory.lock:
            memory.unwritten = max(0, memory.unwritten - sum(id != row.id for id, row in stored.items()))
            return [self._live(stored[duel.id]) if duel.id in stored else duel for duel in duels]

    def _without_storage(self, asks: int) -> list[LiveDuel]:
        """The machine of a shared storage is away: users still see their results."""
        with self.memory.lock:
            return [self._no_duel("storage") for _ in range(asks)]

    def duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, be they on their way to the storage, or there."""
        if self._storage.shared:
            return self._storage.duels_of(self.memory.name, queries)
        with self.memory.lock:
            self._find(queries)
            return {query: self._recent[query] for query in queries if query in self._recent}

    def _find(self, queries: list[str]) -> None:
        """Let the recent duels know those of these queries, be they on their way to the storage, or there."""
        if len(self._recent) >= _RECENT:
            self._recent, self._earlier = {}, self._recent
        unknown = []
        for query in queries:
            if query not in self._recent:
                row = self._earlier.get(query)
                if row is None:
                    unknown.append(query)
                else:
                    self._recent[query] = row
        if unknown:
            self._recent.update(self._storage.duels_of(self.memory.name, unknown))

    # Whether there is a duel

    def _refusal(self, query: str | None, client: str | None, time: float, more: int) -> str | None:
        """Why there is no duel, or None."""
        memory, state, settings = self.memory, self._state, self._state.settings
        why = None
        if memory.failure is not None:
            why = "failed"
        elif memory.writer.failure is not None:
            why = "storage"
        elif state.status != "running":
            why = state.status
        elif state.bandit.n_alive == 1 or state.bandit.tied:
            why = "decided"
        elif settings.share < 1 and not chosen(settings.share, settings.salt, client or query or secrets.token_hex(8)):
            why = "share"
        elif (
            settings.in_flight_cap is not None
            and memory.counts().in_flight + memory.unwritten + more >= settings.in_flight_cap
        ):
            why = "in_flight_cap"
        elif settings.daily_cap is not None and client is not None and self._today(client, time) >= settings.daily_cap:
            why = "daily_cap"
        return why

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

    def _live(self, row: DuelRow) -> LiveDuel:
        memory = self.memory
        if max(row.first, row.second) >= len(self._state.rankers):
            memory.follow()  # another process has added rankers
        rankers, name = self._state.rankers, row.id
        sign = partial(ticket_of, row, memory.name, self._storage.secret)
        first, second = rankers[row.first], rankers[row.second]
        return LiveDuel(name, first, second, self._state.seed_of(name), row.expires, memory.method, sign=sign)

    def _no_duel(self, why: str) -> LiveDuel:
        state = self._state
        shown = None if why == "decided" else state.settings.baseline
        if shown is None:
            shown = state.rankers[state.bandit.champion]
        serve = "winner" if why == "decided" else "baseline"
        return LiveDuel(None, shown, shown, 0, 0.0, self.memory.method, serve, why)
