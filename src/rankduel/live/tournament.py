"""`Tournament`: ask and tell that survive a crash."""

import json
import logging
import secrets
import threading
import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from hashlib import blake2b
from itertools import islice
from time import time as now
from types import TracebackType
from typing import Any, NamedTuple, Self

from rankduel.bandits import Bandit, bandit_from
from rankduel.errors import SnapshotError, StorageError, TournamentExists, UnknownDuel, UnknownTournament
from rankduel.interleaving import Interleaved, interleaving_from
from rankduel.live import standing
from rankduel.live.answers import Counts, Departure, Health, LiveDecision, LiveDuel, Meeting, Receipt, Standing
from rankduel.live.attribution import Attribution
from rankduel.live.checked import LONGEST, brief, number, whole
from rankduel.live.checked import name as a_name
from rankduel.live.duels import DuelRow, Status
from rankduel.live.elsewhere import elsewhere
from rankduel.live.events import Event
from rankduel.live.hall import enter, leave, look_after
from rankduel.live.keeper import Keeper
from rankduel.live.safety import Guardrail, chosen
from rankduel.live.signals import Shown, Signal
from rankduel.live.state import DIALS, Settings, State
from rankduel.live.storage import (
    Change,
    Created,
    Entry,
    Issue,
    Noted,
    Opened,
    Show,
    SignalRow,
    Storage,
    Tell,
    Told,
    Void,
)
from rankduel.live.tickets import read_ticket, ticket_of
from rankduel.live.view import View, view_of
from rankduel.live.writer import Writer
from rankduel.randomness import subseed
from rankduel.types import Outcome

__all__ = ["DEFAULT", "Tournament"]

DEFAULT = "CertifiedSparring"
SNAPSHOT_EVERY = 20_000  # events: the most that opening has to replay
_RECENT = 20_000  # queries that are remembered while their duels are on the way to the disk
_DAY = 86_400.0
_log = logging.getLogger("rankduel")


class Tournament:
    """Rankers that meet on live traffic, kept in a storage. Any number of threads may use one object.

    `ask` names the two rankers that should meet for a query; `tell` takes what users did, late, twice or never. What
    `tell` has answered is durable, and counts once. Made by `create` and `open`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/duels.db"
    >>> t = Tournament.create("home-search", rankers=["bm25", "ltr", "ltr-2"], storage=storage, seed=1)
    >>> duel = t.ask(query_id="q-81")
    >>> t.ask(query_id="q-81") == duel
    True
    >>> t.tell(duel, Outcome.FIRST)
    Receipt(status=<Status.ACCEPTED: 'accepted'>, outcome=<Outcome.FIRST: 'first'>)
    >>> t.tell(duel, Outcome.FIRST).status
    <Status.DUPLICATE: 'duplicate'>
    >>> t.close()
    >>> with Tournament.open("home-search", storage=storage) as t:
    ...     t.counts.told
    1
    >>> folder.cleanup()
    """

    def __init__(self, name: str, writer: Writer, state: State, session: int) -> None:
        self.name = name
        self._writer = writer
        self.storage: Storage = writer.storage
        self._state = state
        self._lock = threading.RLock()
        self.method = interleaving_from(state.settings.interleaving)
        self._seed_key = subseed(state.settings.seed, "interleaving").to_bytes(16, "little")
        self._salt = bytes.fromhex(state.settings.salt)
        self._session = session
        self._issued = 0  # in this session
        self._snapshot_at = state.number
        self._failure: Exception | None = None
        self._closed = False
        self._counts = self.storage.counts(name)
        self._unwritten = 0  # duels issued that these counts do not know yet
        # Duels by query that may not be in the storage yet, in two generations.
        self._recent: dict[str, DuelRow] = {}
        self._earlier: dict[str, DuelRow] = {}
        self._rules: tuple[dict[str, Any] | None, Attribution] = {}, Attribution()
        # How many duels each client was given on that day, where there is a cap.
        self._day = 0.0
        self._clients: dict[str, int] = {}
        self._view: View | None = None
        self._keeper = Keeper(weakref.proxy(self))
        state.begin(session)
        writer.listeners[name] = partial(_notify, weakref.ref(self))
        self._end = weakref.finalize(self, leave, writer, name)
        look_after(writer, self)

    @classmethod
    def create(
        cls,
        name: str,
        *,
        rankers: Iterable[str],
        storage: str,
        bandit: str | None = None,
        delta: float | None = None,
        tolerance: float | None = None,
        interleaving: str = "team_draft",
        expires_after: float = _DAY,
        seed: int | None = None,
        exist_ok: bool = False,
        key: str | None = None,
        **dials: Any,
    ) -> Self:
        """Begin a tournament.

        `storage` is an address: `sqlite:///duels.db`, `postgresql://...`, or that of a service, `http://host:8080`, to
        which `key` (or `RANKDUEL_KEY` of the environment) is shown. `bandit` is one of the registry as people type it,
        or `module:Class`; None is `CertifiedSparring`, which loses the best ranker with probability `delta` at most
        (0.01) and, with a `tolerance`, ends also where several are the same. A duel that is not told within
        `expires_after` seconds is not learnt any more. With `exist_ok`, a tournament that is there is opened, if it
        has these settings.

        The other settings may be changed later by `configure`: `baseline` is what users see where there is no duel
        (None: the champion), `share` of the traffic takes part, each client sees `daily_cap` duels a day at most,
        there are `in_flight_cap` duels in flight at most, with `shadow` duels are chosen and none is shown.
        """
        if (service := elsewhere(storage, key)) is not None:
            given = {"bandit": bandit, "delta": delta, "tolerance": tolerance, "seed": seed, **dials}
            given |= {"interleaving": interleaving, "expires_after": expires_after}
            remote: Self = service.create(name, rankers=rankers, storage=storage, exist_ok=exist_ok, key=key, **given)
            return remote
        settings = _made(
            rankers=rankers,
            spec=_spec(bandit, delta, tolerance),
            interleaving=interleaving,
            expires_after=expires_after,
            seed=seed,
            dials=dials,
        )
        writer = enter(storage, a_name("the name of a tournament", name))
        try:
            (created,) = writer.put(name, [Created(now(), settings.to_dict())]).result()
            if created is None and not exist_ok:
                raise TournamentExists(
                    f"{name!r} is in {writer.storage.url} already: open it, or create it with exist_ok=True"
                )
            if created is None:
                _check_same(name, _settings(writer.storage, name), settings, seeded=seed is not None)
            return cls._opened(name, writer)
        except BaseException:
            leave(writer, name)
            raise

    def check_same(
        self,
        *,
        rankers: Iterable[str],
        bandit: str | None = None,
        delta: float | None = None,
        tolerance: float | None = None,
        interleaving: str = "team_draft",
        expires_after: float = _DAY,
        seed: int | None = None,
        **dials: Any,
    ) -> None:
        """Raise TournamentExists if `create` with these settings would have made another tournament."""
        settings = _made(
            rankers=rankers,
            spec=_spec(bandit, delta, tolerance),
            interleaving=interleaving,
            expires_after=expires_after,
            seed=seed,
            dials=dials,
        )
        _check_same(self.name, _settings(self.storage, self.name), settings, seeded=seed is not None)

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> Self:
        """Go on with a tournament, exactly where its journal ends."""
        if (service := elsewhere(storage, key)) is not None:
            remote: Self = service.open(name, storage=storage, key=key)
            return remote
        writer = enter(storage, a_name("the name of a tournament", name))
        try:
            if name not in (known := writer.storage.names()):
                raise UnknownTournament(
                    f"no tournament {name!r} in {writer.storage.url}, which has {', '.join(known) or 'none'}"
                )
            return cls._opened(name, writer)
        except BaseException:
            leave(writer, name)
            raise

    @classmethod
    def _opened(cls, name: str, writer: Writer) -> Self:
        # A new session: no id of a duel that a crash has swallowed is ever given again.
        (session,) = writer.put(name, [Opened()]).result()
        return cls(name, writer, restored(writer.storage, name), session)

    def close(self) -> None:
        """Keep a snapshot, so that opening is quick, and let go of the storage. Nothing is lost without it."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            snapshot = self._state.keep() if self._failure is None and self._state.number > self._snapshot_at else None
        if snapshot is not None and self.storage.leads(self.name):
            self._writer.put_soon(self.name, [snapshot])
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Tournament {self.name!r}: {len(self._state.rankers)} rankers, {self._state.status}>"

    # Ask

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """The two rankers that should meet for a query; the same query gets the same duel.

        Where there is no duel, `serve` says what to show instead, `first` and `second` are both that ranker, there is
        no `id`, and nothing to tell. Client ids are stored as hashes.
        """
        return self.ask_many([(query_id, client_id)])[0]

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """The same for many queries, each with a client or None."""
        checked = [
            (None if query is None else a_name("query_id", query), None if client is None else self._hashed(client))
            for query, client in _listed("asked", asked)
        ]
        queries = [query for query, _ in checked if query is not None]
        new: list[Issue] = []
        refused: dict[str, int] = {}
        self._check()
        if self.storage.shared and self._writer.failure is not None:
            return self._without_storage(len(checked))
        try:
            stored = self.storage.duels_of(self.name, queries) if self.storage.shared and queries else {}
        except StorageError:
            return self._without_storage(len(checked))
        with self._lock:
            time = self.time()
            if self.storage.shared:
                self._recent = stored  # only the storage knows what others have asked
            else:
                self._find(queries)
            duels = [self._ask(query, client, time, new, refused) for query, client in checked]
            self._unwritten += len(new)
        if new and self.storage.shared and any(issue.row.query is not None for issue in new):
            duels = self._agree(duels, new)
        elif new:
            self._writer.put_soon(self.name, new)
        if refused:
            self._writer.put_soon(self.name, [Noted(refused)])
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
            self._fail(error)
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
        try:
            rows: list[DuelRow] = self._writer.put(self.name, new).result()
        except StorageError:
            return self._without_storage(len(duels))
        stored = {issue.row.id: row for issue, row in zip(new, rows, strict=True)}
        with self._lock:
            self._unwritten = max(0, self._unwritten - sum(id != row.id for id, row in stored.items()))
            return [self._live(stored[duel.id]) if duel.id in stored else duel for duel in duels]

    def _without_storage(self, asks: int) -> list[LiveDuel]:
        """The machine of a shared storage is away: users still see their results."""
        with self._lock:
            return [self._no_duel("storage") for _ in range(asks)]

    def _duels_of(self, queries: list[str]) -> dict[str, DuelRow]:
        """The duels of these queries, be they on their way to the storage, or there."""
        if self.storage.shared:
            return self.storage.duels_of(self.name, queries)
        with self._lock:
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
            self._recent.update(self.storage.duels_of(self.name, unknown))

    def _refusal(self, query: str | None, client: str | None, time: float, more: int) -> str | None:
        """Why there is no duel, or None."""
        state, settings = self._state, self._state.settings
        why = None
        if self._failure is not None:
            why = "failed"
        elif self._writer.failure is not None:
            why = "storage"
        elif state.status != "running":
            why = state.status
        elif state.bandit.n_alive == 1 or state.bandit.tied:
            why = "decided"
        elif settings.share < 1 and not self._chosen(client or query):
            why = "share"
        elif (
            settings.in_flight_cap is not None
            and self._counted().in_flight + self._unwritten + more >= settings.in_flight_cap
        ):
            why = "in_flight_cap"
        elif settings.daily_cap is not None and client is not None and self._today(client, time) >= settings.daily_cap:
            why = "daily_cap"
        return why

    def _chosen(self, who: str | None) -> bool:
        """Whether a client, or else a query, is in the share of the traffic that duels."""
        settings = self._state.settings
        return chosen(settings.share, settings.salt, who or secrets.token_hex(8))

    def _today(self, client: str, time: float) -> int:
        """How many duels a client was given today."""
        day = time - time % _DAY
        if self._day != day:
            self._day, self._clients = day, {}
        if client not in self._clients:
            self._clients[client] = self.storage.asked_by(self.name, client, day)
        return self._clients[client]

    def _live(self, row: DuelRow) -> LiveDuel:
        if max(row.first, row.second) >= len(self._state.rankers):
            self._follow()  # another process has added rankers
        rankers, name = self._state.rankers, row.id
        sign = partial(ticket_of, row, self.name, self.storage.secret)
        first, second = rankers[row.first], rankers[row.second]
        return LiveDuel(name, first, second, self.seed_of(name), row.expires, self.method, sign=sign)

    def seed_of(self, duel: str) -> int:
        """What makes the page of a duel; 48 bits, exact in any JSON."""
        return int.from_bytes(blake2b(duel.encode(), key=self._seed_key, digest_size=6).digest(), "little")

    def _no_duel(self, why: str) -> LiveDuel:
        state = self._state
        shown = None if why == "decided" else state.settings.baseline
        if shown is None:
            shown = state.rankers[state.bandit.champion]
        return LiveDuel(None, shown, shown, 0, 0.0, self.method, "winner" if why == "decided" else "baseline", why)

    def _hashed(self, client: str) -> str:
        return blake2b(a_name("client_id", client).encode(), key=self._salt, digest_size=8).hexdigest()

    # Tell

    def tell(
        self,
        duel: LiveDuel | str,
        outcome: Outcome | None = None,
        *,
        clicks: Iterable[Hashable] | None = None,
        shown: Interleaved | None = None,
    ) -> Receipt:
        """Who won a duel, or which documents were clicked; on return this is durable.

        `duel` is what `ask` has returned, or its id, or its ticket. Clicks are credited on the page that
        `duel.interleave` has made, or on `shown`; what equal credit and no click mean, the attribution says. Telling
        the same again changes nothing.
        """
        if clicks is None:
            return self.tell_many([(duel, outcome)])[0]
        if outcome is not None:
            raise ValueError("tell either the outcome or the clicks, not both")
        if shown is None and isinstance(duel, LiveDuel):
            shown = duel.shown
        if shown is None:
            raise ValueError("clicks are credited on a page: call duel.interleave first, or hand it over as shown=")
        return self.tell_many([(duel, Clicks(tuple(_listed("clicks", clicks)), shown))])[0]

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, "Outcome | Clicks | None"]]) -> list[Receipt]:
        """The same for many duels, which become durable together. Each has a receipt of its own."""
        return receipts(self.tell_soon(told).result())

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, "Outcome | Clicks | None"]]) -> Future[list[Told]]:
        """The same, without waiting: what became of them is in the future as soon as it is durable."""
        self._check()
        time = self.time()
        return self._writer.put(self.name, [self._told(duel, outcome, time) for duel, outcome in _listed("told", told)])

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """What users did, by the id of their query: it is kept, and decides the duel when its window closes.

        A duel is decided so only if it was reported as shown, here or by `show`. Each signal has a status: `accepted`,
        `duplicate`, `late` (its duel is over) or `unknown` (its query has no duel).
        """
        self._check()
        listed = _listed("seen", seen)
        rows = self._duels_of([one.query_id for one in listed])
        time, entries, places = self.time(), [], []
        results = [Status.UNKNOWN] * len(listed)
        for place, one in enumerate(listed):
            if (row := rows.get(one.query_id)) is not None:
                entries.append(_observed(one, row, time))
                places.append(place)
        orphans = len(listed) - len(entries)
        noted = [Noted({"orphan signals": orphans})] if orphans else []
        for place, status in zip(places, self._writer.put(self.name, [*entries, *noted]).result(), strict=False):
            results[place] = status
        return results

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> Status:
        """The page of a duel was shown; `page` is by default the one that `duel.interleave` has made."""
        return self.show_many([(duel, page)])[0]

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        """The same for many duels, which become durable together."""
        self._check()
        time, entries = self.time(), []
        for duel, given in _listed("shown", shown):
            page = duel.shown if given is None and isinstance(duel, LiveDuel) else given
            if page is None:
                raise ValueError("which page was shown? call duel.interleave first, or hand it over as page=")
            entries.append(Show(*self._named(duel), _as_json(page), time))
        return self.write(entries)

    def _told(self, duel: LiveDuel | str, outcome: "Outcome | Clicks | None", time: float) -> Tell:
        session, number, row = self._named(duel)
        if isinstance(outcome, Clicks):
            seed = self.seed_of(f"{session}-{number}")
            found = self.attribution.of_clicks(outcome.shown, outcome.clicks, seed=seed, method=self.method)
            page = _as_json(outcome.shown, clicks=outcome.clicks)
            return Tell(session, number, row, None if found is None else found.value, time, page)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r}")
        return Tell(session, number, row, outcome.value, time)

    @property
    def attribution(self) -> Attribution:
        """How what users do becomes the outcome of a duel."""
        given, rules = self._rules
        if given is not self._state.settings.attribution:
            given = self._state.settings.attribution
            rules = Attribution.from_dict(given or {})
            self._rules = given, rules
        return rules

    def _named(self, duel: LiveDuel | str) -> tuple[int, int, DuelRow | None]:
        """Session and number of a duel, and all of it if a ticket vouches for it; no duel has (0, 0)."""
        text = duel
        if isinstance(duel, LiveDuel):
            if duel.sign is None:
                return 0, 0, None
            if isinstance(duel.sign, partial):  # made by this process
                row: DuelRow = duel.sign.args[0]
                return row.session, row.number, row
            text = duel.sign()
        if not isinstance(text, str):
            raise TypeError(f"duel must be what ask() has returned, or its id or ticket, got {duel!r}")
        session, dash, number = text.partition("-")
        if dash and session.isdecimal() and number.isdecimal() and text.isascii() and len(text) <= 19:
            return int(session), int(number), None
        ticket = read_ticket(text, self.name, self.storage.secret)
        return (0, 0, None) if ticket is None else (ticket.session, ticket.number, ticket)

    # Where it stands

    @property
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""
        return self._state.status

    @property
    def settings(self) -> Settings:
        """What it is made of, as it is now."""
        return self._state.settings

    @property
    def rankers(self) -> list[str]:
        """All rankers that ever took part, in the order in which they came."""
        with self._lock:
            return list(self._state.rankers)

    @property
    def champion(self) -> str:
        """The ranker that is the best guess now."""
        with self._lock:
            return self._state.rankers[self._state.bandit.champion]

    @property
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""
        with self._lock:
            winner = self._state.bandit.winner
            return None if winner is None else self._state.rankers[winner]

    @property
    def counts(self) -> Counts:
        """How many duels were asked for, and what became of them."""
        self._check()
        self._writer.flush(self.name)
        self._keeper.sweep()
        if self.storage.shared:
            self._counts = self.storage.counts(self.name)
        return self._counted()

    def _counted(self) -> Counts:
        """The same, as far as it is durable."""
        return Counts(*(self._counts.get(name, 0) for name in Counts.__slots__))

    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or where it stands; by `str` in words."""
        with self._lock:
            return standing.decision(self._state)

    def leaderboard(self) -> list[Standing]:
        """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""
        with self._lock:
            return standing.leaderboard(self._state)

    def timeline(self) -> list[Departure]:
        """The rankers that are out, in the order in which they went."""
        with self._lock:
            return standing.timeline(self._state)

    def preferences(self) -> list[Meeting]:
        """All pairs that have met, and how often each won."""
        with self._lock:
            return list(standing.preferences(self._state))

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """The latest duels, or the latest before the one of that id; newest first."""
        key = None if before is None else self._named(before)[:2]
        return self.storage.duels(self.name, limit, key)

    def health(self) -> Health:
        """Whether all is well: what became of asks, tells and signals, and what has failed."""
        counts, failure = self._counts, self.failing

        def named(word: str) -> dict[str, int]:
            return {name.removeprefix(word): count for name, count in counts.items() if name.startswith(word)}

        return Health(
            counts=self._counted(),
            served=named("serve "),
            told_again=counts.get("duplicate", 0),
            conflicts=counts.get("conflict", 0),
            unknown=counts.get("unknown", 0),
            signals=named("action "),
            signals_again=counts.get("duplicate signals", 0),
            orphans=counts.get("orphan signals", 0),
            late_signals=counts.get("late signals", 0),
            outcomes=named("outcome "),
            delays={int(bound): count for bound, count in sorted(named("delay ").items(), key=lambda one: int(one[0]))},
            failure=None if failure is None else f"{type(failure).__name__}: {failure}",
        )

    @property
    def failing(self) -> Exception | None:
        """Why users see the baseline though the tournament runs: the storage or the bandit has failed."""
        return self._failure or self._writer.failure

    def journal(self, since: int = 0) -> Iterator[Event]:
        """All that has happened after event number `since`, as it is stored."""
        return self.storage.read(self.name, since)

    def audit(self, limit: int = 100, before: int | None = None) -> list[Event]:
        """What operators and guardrails did, newest first: the journal without what was told."""
        return self.storage.changes(self.name, limit, before)

    def told_since(self, time: float) -> int:
        """How many outcomes were learnt from a time on."""
        return self.storage.told_since(self.name, time)

    @property
    def number(self) -> int:
        """Of the last event that was learnt."""
        return self._state.number

    def snapshot(self) -> tuple[type[Bandit], bytes]:
        """The class of the bandit, and its newest snapshot: the last one that is stored, if it has all rankers."""
        with self._lock:
            kind, n_rankers = type(self._state.bandit), len(self._state.rankers)
        for kept in self.storage.kept(self.name):
            if kind.restore(kept.bandit).n_arms == n_rankers:
                return kind, kept.bandit
        with self._lock:
            return kind, self._state.bandit.snapshot()

    def view(self) -> View:
        """All that was learnt up to now, as a copy."""
        with self._lock:
            if self._view is None or self._view.number != self._state.number:
                self._view = view_of(self._state)
            return self._view

    # Operate

    def start(self, reason: str = "", by: str = "") -> None:
        """Go on after `pause`."""
        self._change("started", ("paused",), reason, by)

    def pause(self, reason: str = "", by: str = "") -> None:
        """No more duels until `start`; what is in flight may still be told."""
        self._change("paused", ("running",), reason, by)

    def stop(self, reason: str = "", by: str = "") -> None:
        """The end: no more duels for good; what is in flight may still be told."""
        self._change("stopped", ("running", "paused"), reason, by)

    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        """Change settings while it runs: those that `create` names as such."""
        changes = _dials(dials)
        if changes.get("attribution") is not None:
            _check_window(changes["attribution"], self._state.settings.expires_after)
            changes["attribution"]["version"] = self.attribution.version + 1
        self._change("configured", ("running", "paused"), reason, by, **changes)

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        """Let more rankers take part. Only for bandits that can add arms, as CertifiedSparring."""
        names = [a_name("a ranker", ranker) for ranker in _listed("rankers", rankers)]
        with self._lock:
            _check_new(names, self._state.rankers)
            self._state.changeable("add")
        if names:
            self._change("added", ("running", "paused"), reason, by, rankers=names)

    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Take a ranker out for good. Only for bandits that can retire arms, as CertifiedSparring."""
        self._change_ranker("retired", "retire", ranker, reason, by)

    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Let a ranker meet nobody until `start_ranker`; it stays in the race."""
        self._change_ranker("ranker_paused", "pause", ranker, reason, by)

    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Let a paused ranker meet others again."""
        self._change_ranker("ranker_started", "resume", ranker, reason, by)

    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        """Declare that a duel shall not be learnt. Too late for one that was told."""
        self._check()
        session, number, _ = self._named(duel)
        body = {"duel": f"{session}-{number}", "reason": _said("reason", reason), "by": _said("by", by)}
        (state,) = self._writer.put(self.name, [Void(session, number, self.time(), body)]).result()
        if state is None:
            raise UnknownDuel(f"no duel {duel!r:.200} in {self.name!r}")
        if state == "told":
            raise ValueError(f"duel {session}-{number} is learnt already: it cannot be void")

    def _change_ranker(self, kind: str, method: str, ranker: str, reason: str, by: str) -> None:
        with self._lock:
            arm = self._state.arms.get(ranker)
            if arm is None:
                raise ValueError(f"no ranker {ranker!r} in {self.name!r}")
            if arm not in self._state.bandit.alive:
                raise ValueError(f"ranker {ranker!r} is not in the race any more")
            if kind == "retired" and self._state.bandit.n_alive == 1:
                raise ValueError(f"ranker {ranker!r} is the last one left: it cannot be retired")
            self._state.changeable(method)
        self._change(kind, ("running", "paused"), reason, by, ranker=ranker)

    def _change(self, kind: str, allowed: Sequence[str], reason: str, by: str, **body: Any) -> None:
        self._check()
        if self._state.status not in allowed:
            raise ValueError(f"{self.name!r} is {self._state.status}: it cannot be {kind}")
        body |= {"reason": _said("reason", reason), "by": _said("by", by)}
        self._writer.put(self.name, [Change(self.time(), kind, body)]).result()

    # The clockwork

    def look(self) -> None:
        """What is due: called now and then by a thread of its own."""
        self._keeper.look()

    def follow(self) -> None:
        """Take in what other processes have written."""
        self._follow()
        self._counts = self.storage.counts(self.name)

    def write(self, entries: Sequence[Entry]) -> list[Any]:
        """Write entries; their results, when they are durable."""
        return self._writer.put(self.name, entries).result()

    def counters(self) -> dict[str, int]:
        """All counters, as far as they are durable."""
        return dict(self._counts)

    def recover(self) -> None:
        """If the storage has failed, see whether it is possible again."""
        if self._writer.failure is not None:
            self.write([Noted({"recoveries": 1})])
            self._unwritten = 0  # what was not written will not be

    def _check(self) -> None:
        self._writer.check()
        if self._closed:
            raise StorageError(f"tournament {self.name!r} is closed")

    def _fail(self, error: Exception) -> None:
        self._failure = error
        _log.error("%s: the bandit has failed, the baseline is served: %r", self.name, error)

    def time(self) -> float:
        """Now; if the clock was set back, as late as the last event."""
        return max(now(), self._state.time)

    def _happened(self, events: list[Event], counts: dict[str, int]) -> None:
        """A commit is durable: learn from it."""
        if events and events[0].number > self._state.number + 1:  # others have written, too
            self._follow()
        if counts.get("recovered asks"):  # their queries have duels that nobody here has seen
            self.storage.rest(at_once=True)
        with self._lock:
            for name, by in counts.items():
                self._counts[name] = self._counts.get(name, 0) + by
            self._unwritten = max(0, self._unwritten - counts.get("issued", 0))
            self._learn(events)

    def _follow(self) -> None:
        """Take in what others have written to the journal; nobody waits for the storage meanwhile."""
        events = self.storage.read(self.name, self._state.number)
        while some := list(islice(events, 1000)):
            with self._lock:
                self._learn(some)

    def _learn(self, events: Iterable[Event]) -> None:
        state = self._state
        if self._failure is not None:
            return
        try:
            for event in events:
                if event.number > state.number:
                    state.apply(event)
        except StorageError:
            raise
        except Exception as error:
            self._fail(error)
            return
        if state.number - self._snapshot_at >= SNAPSHOT_EVERY:
            self._snapshot_at = state.number
            if self.storage.leads(self.name):
                self._writer.put_soon(self.name, [state.keep()])


class Clicks(NamedTuple):
    """The documents that were clicked, on the page that was shown."""

    clicks: tuple[Hashable, ...]
    shown: Interleaved


def restored(storage: Storage, name: str) -> State:
    """From the newest snapshot that can be read, and the events after it; or from all events."""
    for kept in storage.kept(name):
        try:
            state = State.from_kept(kept)
        except (SnapshotError, ValueError, LookupError):
            continue
        for event in storage.read(name, kept.number):
            state.apply(event)
        return state
    return State.replay(storage.read(name))


def receipts(told: Iterable[Told]) -> list[Receipt]:
    """What a tell is answered, from what the storage says."""
    return [Receipt(status, None if outcome is None else Outcome(outcome)) for status, outcome in told]


def _as_json(page: Interleaved, **more: Any) -> str:
    return json.dumps(page.to_dict() | more, separators=(",", ":"))


def _observed(one: Signal | Shown, row: DuelRow, time: float) -> SignalRow | Show:
    """What users did, as the storage takes it."""
    if isinstance(one, Shown):
        return Show(row.session, row.number, row, _as_json(one.page), time)
    return SignalRow(row.session, row.number, one.key, one.time, one.action, one.object, one.position, one.dwell)


def _notify(find: "weakref.ref[Tournament]", events: list[Event], counts: dict[str, int]) -> None:
    tournament = find()
    if tournament is not None:
        tournament._happened(events, counts)


def _settings(storage: Storage, name: str) -> Settings:
    return Settings.from_dict(next(storage.read(name)).body)


def _made(
    *,
    rankers: Iterable[str],
    spec: str,
    interleaving: str,
    expires_after: float,
    seed: int | None,
    dials: Mapping[str, Any],
) -> Settings:
    """The settings of a new tournament, checked."""
    names = tuple(a_name("a ranker", ranker) for ranker in _listed("rankers", rankers))
    _check_new(names, ())
    if not names:
        raise ValueError("a tournament needs at least one ranker")
    if isinstance(expires_after, bool) or not isinstance(expires_after, int | float) or not 0 < expires_after < 1e9:
        raise ValueError(f"expires_after must be a number of seconds, > 0 and < 1e9, got {expires_after!r}")
    made = bandit_from(spec, len(names), seed=seed)
    settings = Settings(
        rankers=names,
        bandit=_full(spec, made),
        seed=made.seed,
        interleaving=repr(interleaving_from(interleaving)),
        expires_after=float(expires_after),
        salt=secrets.token_hex(16),
        tossed=True,
        **_dials(dials),
    )
    _check_window(settings.attribution, settings.expires_after)
    return settings


def _spec(bandit: str | None, delta: float | None, tolerance: float | None) -> str:
    """The bandit as people type it."""
    options = {"delta": delta, "tolerance": tolerance}
    given = ", ".join(f"{name}={value!r}" for name, value in options.items() if value is not None)
    if bandit is None:
        return f"{DEFAULT}({given})"
    if given:
        raise ValueError(f"delta and tolerance are for the default bandit: write them into {bandit!r}")
    return bandit


def _full(spec: str, bandit: Bandit) -> str:
    """A bandit as people type it, with every parameter: another default in a later version changes nothing."""
    own, colon, _ = spec.partition("(")[0].rpartition(":")
    options = ", ".join(f"{name}={value!r}" for name, value in bandit.parameters.items())
    return f"{own}{colon}{type(bandit).__name__}({options})"


def _dials(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that may be changed, checked."""
    for name in given:
        if name not in DIALS:
            raise TypeError(f"no setting {name!r}: those that can be changed are {', '.join(DIALS)}")
    checked = dict(given)
    if given.get("baseline") is not None:
        a_name("baseline", given["baseline"])
    if "share" in given and number("share", given["share"]) > 1:
        raise ValueError(f"share must be a number from 0 to 1, got {given['share']!r}")
    if not isinstance(given.get("shadow", False), bool):
        raise ValueError(f"shadow must be True or False, got {brief(given['shadow'])}")
    for cap in ("daily_cap", "in_flight_cap"):
        if given.get(cap) is not None:
            checked[cap] = whole(cap, given[cap])
    if "guardrails" in given:
        rails = _listed("guardrails", given["guardrails"])
        checked["guardrails"] = [
            (rail if isinstance(rail, Guardrail) else Guardrail.from_dict(rail)).to_dict() for rail in rails
        ]
    rules = given.get("attribution")
    if rules is not None:
        checked["attribution"] = (rules if isinstance(rules, Attribution) else Attribution.from_dict(rules)).to_dict()
    return checked


def _check_window(attribution: dict[str, Any] | None, expires_after: float) -> None:
    window = (attribution or {}).get("window", 0.0)
    if window >= expires_after:
        raise ValueError(f"the window of {window:g} s must close before a duel expires, after {expires_after:g} s")


def _check_same(name: str, stored: Settings, given: Settings, *, seeded: bool) -> None:
    ignored = {"salt", "tossed"} if seeded else {"salt", "tossed", "seed"}
    for setting, value in vars(given).items():
        if setting not in ignored and vars(stored)[setting] != value:
            raise TournamentExists(f"{name!r} is there with {setting}={vars(stored)[setting]!r}, not {value!r}")


def _listed(name: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list, got {brief(given)}")
    return list(given)


def _said(what: str, text: object) -> str:
    if not isinstance(text, str) or len(text) > 10 * LONGEST:
        raise ValueError(f"{what} must be a text of at most {10 * LONGEST} characters, got {brief(text)}")
    return text


def _check_new(names: Sequence[str], known: Iterable[str]) -> None:
    seen = set(known)
    for name in names:
        if name in seen:
            raise ValueError(f"ranker {name!r} is there twice")
        seen.add(name)
