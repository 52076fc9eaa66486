"""`Tournament`: ask and tell that survive a crash."""

import json
import threading
import weakref
from collections.abc import Container, Hashable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from time import time as now
from types import TracebackType
from typing import Any, NamedTuple, Self

from rankduel.bandits import Bandit
from rankduel.errors import TournamentExists, UnknownDuel
from rankduel.interleaving import Interleaved
from rankduel.live import standings
from rankduel.live.read_only import ReadOnlyTournament, check_known
from rankduel.live.remote_schemes import elsewhere
from rankduel.live.results import Counts, Health, LiveDuel, Receipt
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import DuelRow, Status, numbers_of
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.rules.validation import LONGEST, brief, listed
from rankduel.live.rules.validation import name as a_name
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.maintenance import Maintenance
from rankduel.live.runtime.recent_cache import RecentCache
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.runtime.state import load_state
from rankduel.live.settings import DAY, Settings, check_new, check_same, check_window, checked_dials, new_settings
from rankduel.live.storage.contract import (
    Change,
    CounterDelta,
    Created,
    Opened,
    Show,
    SignalRow,
    Storage,
    Tell,
    TellResult,
    Void,
)
from rankduel.live.storage.open_storages import acquire, release, schedule_maintenance
from rankduel.live.storage.writer import Writer
from rankduel.types import Outcome

__all__ = ["Clicks", "Tournament"]

_MAX_FULL_DUELS = 20_000  # remembered, so that their signals are dropped without a write


class Tournament(ReadOnlyTournament):
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

    def __init__(self, runtime: TournamentRuntime, session: int) -> None:
        super().__init__(runtime.name, runtime.storage, runtime.state, runtime.lock)
        self.method = runtime.method
        self._runtime = runtime
        self._issuer = DuelIssuer(runtime, session)
        self._maintenance = Maintenance(runtime)
        self._full_duels: RecentCache[tuple[int, int], bool] = RecentCache(_MAX_FULL_DUELS)  # that take no more signals
        self._adding = threading.Lock()
        runtime.writer.listeners[self.name] = runtime.happened
        schedule_maintenance(runtime.writer, self.name, self._maintenance.run_due)
        self._end = weakref.finalize(self, _end, runtime)  # nothing above holds this object

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
        expires_after: float = DAY,
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
        given = {"bandit": bandit, "delta": delta, "tolerance": tolerance, "seed": seed, **dials}
        given |= {"interleaving": interleaving, "expires_after": expires_after}
        if (service := elsewhere(storage, key)) is not None:
            remote: Self = service.create(name, rankers=rankers, storage=storage, exist_ok=exist_ok, key=key, **given)
            return remote
        settings = new_settings(rankers, **given)
        writer = acquire(storage, a_name("the name of a tournament", name))
        try:
            (created,) = writer.put(name, [Created(now(), settings.to_dict())]).result()
            if created is None and not exist_ok:
                raise TournamentExists(
                    f"{name!r} is in {writer.storage.url} already: open it, or create it with exist_ok=True"
                )
            if created is None:
                check_same(name, _settings(writer.storage, name), settings, seeded=seed is not None)
            return cls._opened(name, writer)
        except BaseException:
            release(writer, name)
            raise

    def check_same(self, *, rankers: Iterable[str], seed: int | None = None, **given: Any) -> None:
        """Raise TournamentExists if `create` with these settings would have made another tournament."""
        settings = new_settings(rankers, seed=seed, **given)
        check_same(self.name, _settings(self.storage, self.name), settings, seeded=seed is not None)

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> Self:
        """Go on with a tournament, exactly where its journal ends."""
        if (service := elsewhere(storage, key)) is not None:
            remote: Self = service.open(name, storage=storage, key=key)
            return remote
        writer = acquire(storage, a_name("the name of a tournament", name))
        try:
            check_known(name, writer.storage)
            return cls._opened(name, writer)
        except BaseException:
            release(writer, name)
            raise

    @classmethod
    def _opened(cls, name: str, writer: Writer) -> Self:
        # A new session: no id of a duel that a crash has swallowed is ever given again.
        (session,) = writer.put(name, [Opened()]).result()
        return cls(TournamentRuntime(name, writer, *load_state(writer.storage, name)), session)

    def close(self) -> None:
        """Keep a snapshot, so that opening is quick, and let go of the storage. Nothing is lost without it."""
        if not self._runtime.closed:
            self._runtime.take_snapshot()
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
        return self._issuer.ask_many(asked)

    def ask_now(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel] | None:
        """The same, if it needs no look into the storage, else None: for an event loop, which must not wait."""
        return self._issuer.ask_now(asked)

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
        return self.tell_many([(duel, Clicks(tuple(listed("clicks", clicks)), shown))])[0]

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, "Outcome | Clicks | None"]]) -> list[Receipt]:
        """The same for many duels, which become durable together. Each has a receipt of its own."""
        return receipts(self._runtime.write(self._tells(told)))

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, "Outcome | Clicks | None"]]) -> Future[list[TellResult]]:
        """The same, without waiting: what became of them is in the future as soon as it is durable.

        StorageError if too much waits to be written.
        """
        return self._runtime.writer.put_now(self.name, self._tells(told))

    def _tells(self, told: Iterable[tuple[LiveDuel | str, "Outcome | Clicks | None"]]) -> list[Tell]:
        self._runtime.check()
        time = self._runtime.time()
        return [self._told(duel, outcome, time) for duel, outcome in listed("told", told)]

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """What users did, by the id of their query: it is kept, and decides the duel when its window closes.

        A duel is decided so only if it was reported as shown, here or by `show`. Each signal has a status: `accepted`,
        `duplicate`, `late` (its duel is over), `unknown` (its query has no duel) or `limit` (its duel has as many
        signals as a duel may have).
        """
        self._runtime.check()
        given = listed("seen", seen)
        for one in given:
            if isinstance(one, Shown):
                self._check_page(one.page)
        rows = self._issuer.duels_of([one.query_id for one in given])
        time, actions = self._runtime.time(), self._runtime.actions
        results = [Status.UNKNOWN] * len(given)
        entries: dict[int, SignalRow | Show] = {}  # by their place
        dropped = orphans = 0
        for place, one in enumerate(given):
            if (row := rows.get(one.query_id)) is None:
                orphans += 1
            elif isinstance(one, Signal) and self._full_duels.get(row[:2]):
                dropped += 1
                results[place] = Status.LIMIT
            else:
                entries[place] = _observed(one, row, time, actions)
        noted = CounterDelta({"orphan signals": orphans, "dropped signals": dropped})
        statuses = self._runtime.write([*entries.values(), *([noted] if orphans or dropped else ())])
        for (place, entry), status in zip(entries.items(), statuses, strict=False):
            results[place] = status
            if status == Status.LIMIT:
                self._full_duels[entry[:2]] = True
        return results

    def _check_page(self, page: Interleaved) -> None:
        """Raise ValueError if the interleaving of this tournament did not make a page: clicks could not be credited."""
        if page.method != self.method.name:
            uses = f"tournament {self.name!r} uses {self.method.name!r}"
            raise ValueError(f"the page was made by {brief(page.method)}, but {uses}")

    def known(self, query_ids: Iterable[str]) -> set[str]:
        """Those of these queries that have a duel here."""
        return set(self._issuer.duels_of(listed("query_ids", query_ids)))

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> Status:
        """The page of a duel was shown; `page` is by default the one that `duel.interleave` has made."""
        return self.show_many([(duel, page)])[0]

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        """The same for many duels, which become durable together."""
        self._runtime.check()
        time, entries = self._runtime.time(), []
        for duel, given in listed("shown", shown):
            page = duel.shown if given is None and isinstance(duel, LiveDuel) else given
            if page is None:
                raise ValueError("which page was shown? call duel.interleave first, or hand it over as page=")
            self._check_page(page)
            entries.append(Show(*self._named(duel), _as_json(page), time))
        return self._runtime.write(entries)

    def _told(self, duel: LiveDuel | str, outcome: "Outcome | Clicks | None", time: float) -> Tell:
        session, number, row = self._named(duel)
        if isinstance(outcome, Clicks):
            self._check_page(outcome.shown)
            seed = self.seed_of(f"{session}-{number}")
            found = self.attribution.of_clicks(outcome.shown, outcome.clicks, seed=seed, method=self.method)
            page = _as_json(outcome.shown, clicks=outcome.clicks)
            return Tell(session, number, row, None if found is None else found.value, time, page)
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r}")
        return Tell(session, number, row, outcome._value_, time)  # three times as fast as `value`

    @property
    def attribution(self) -> Attribution:
        """How what users do becomes the outcome of a duel."""
        return self._runtime.attribution

    def seed_of(self, duel: str) -> int:
        """What makes the page of a duel; 48 bits, exact in any JSON."""
        return self._state.seed_of(duel)

    def _named(self, duel: LiveDuel | str) -> tuple[int, int, DuelRow | None]:
        """Session and number of a duel, and all of it if a ticket vouches for it; no duel has (0, 0)."""
        text = duel
        if isinstance(duel, LiveDuel):
            if duel.sign is None:
                return 0, 0, None
            if isinstance(duel.sign, partial) and duel.sign.func == self._runtime.tickets.of:  # of this tournament
                row: DuelRow = duel.sign.args[0]
                return row.session, row.number, row
            text = duel.sign()
        if not isinstance(text, str):
            raise TypeError(f"duel must be what ask() has returned, or its id or ticket, got {duel!r}")
        if (numbers := numbers_of(text)) is not None:
            return *numbers, None
        ticket = self._runtime.tickets.read(text)
        if ticket is None:
            return 0, 0, None
        self._issuer.recognise(ticket)
        return ticket.session, ticket.number, ticket

    # Where it stands

    @property
    def counts(self) -> Counts:
        """How many duels were asked for, and what became of them."""
        self._runtime.check()
        self._runtime.writer.flush(self.name)
        self._maintenance.expire()
        if self.storage.shared:
            self._runtime.count_again()
        return self._runtime.counts()

    def health(self) -> Health:
        """Whether all is well: what became of asks, tells and signals, and what has failed."""
        runtime = self._runtime
        return standings.health(
            runtime.counters,
            runtime.failing,
            self.storage.url,
            actions=runtime.actions,
            maintenance=runtime.maintenance_failure,
        )

    @property
    def durable_counts(self) -> Counts:
        """How many duels were asked for, and what became of them, as far as it is durable. Never waits."""
        return self._runtime.counts()

    @property
    def counters_version(self) -> int:
        """A number that changes whenever counters change."""
        return self._runtime.counters_version

    @property
    def failing(self) -> Exception | None:
        """Why users see the baseline though the tournament runs: the storage or the bandit has failed."""
        return self._runtime.failing

    @property
    def maintenance_failure(self) -> str | None:
        """Why duels are not resolved, do not expire, or guardrails are not checked; None if all is well."""
        return self._runtime.maintenance_failure

    def counters(self) -> dict[str, int]:
        """All counters, as far as they are durable."""
        return dict(self._runtime.counters)

    def snapshot(self) -> tuple[type[Bandit], bytes]:
        """The class of the bandit, and its newest snapshot: the last one that is stored, if it has all rankers."""
        with self._lock:
            kind, n_rankers = type(self._state.bandit), len(self._state.rankers)
        for snapshot in self.storage.snapshots(self.name):
            if kind.restore(snapshot.bandit).n_arms == n_rankers:
                return kind, snapshot.bandit
        with self._lock:
            return kind, self._state.bandit.snapshot()

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
        changes = checked_dials(dials)
        if changes.get("attribution") is not None:
            check_window(changes["attribution"], self._state.settings.expires_after)
            changes["attribution"]["version"] = self.attribution.version + 1
        self._change("configured", ("running", "paused"), reason, by, **changes)

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        """Let more rankers take part, up to 10,000 in all. Only for bandits that can add arms, as CertifiedSparring."""
        names = [a_name("a ranker", ranker) for ranker in listed("rankers", rankers)]
        with self._adding:  # two threads that add at the same time do not exceed the limit together
            with self._lock:
                check_new(names, self._state.rankers)
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
        self._runtime.check()
        session, number, _ = self._named(duel)
        body = {"duel": f"{session}-{number}", "reason": _said("reason", reason), "by": _said("by", by)}
        (state,) = self._runtime.writer.put(self.name, [Void(session, number, self._runtime.time(), body)]).result()
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
        self._runtime.check()
        if self._state.status not in allowed:
            raise ValueError(f"{self.name!r} is {self._state.status}: it cannot be {kind}")
        body |= {"reason": _said("reason", reason), "by": _said("by", by)}
        (done,) = self._runtime.write([Change(self._runtime.time(), kind, body)])
        if isinstance(done, ValueError):
            raise done

    def run_maintenance(self) -> None:
        """Run due maintenance now: a thread does it every quarter of a second."""
        self._maintenance.run_due()


class Clicks(NamedTuple):
    """The documents that were clicked, on the page that was shown."""

    clicks: tuple[Hashable, ...]
    shown: Interleaved


def receipts(told: Iterable[TellResult]) -> list[Receipt]:
    """What a tell is answered, from what the storage says."""
    return [Receipt(status, None if outcome is None else Outcome(outcome)) for status, outcome in told]


def _as_json(page: Interleaved, **more: Any) -> str:
    return json.dumps(page.to_dict() | more, separators=(",", ":"))


def _observed(one: Signal | Shown, row: DuelRow, time: float, actions: Container[str]) -> SignalRow | Show:
    """What users did, as the storage takes it."""
    if isinstance(one, Shown):
        return Show(row.session, row.number, row, _as_json(one.page), time)
    stored = one.key, one.time, one.action, one.object, one.position, one.dwell
    return SignalRow(row.session, row.number, *stored, declared=one.action in actions)


def _end(runtime: TournamentRuntime) -> None:
    runtime.closed = True
    release(runtime.writer, runtime.name)


def _settings(storage: Storage, name: str) -> Settings:
    return Settings.from_dict(next(storage.read(name)).body)


def _said(what: str, text: object) -> str:
    if not isinstance(text, str) or len(text) > 10 * LONGEST:
        raise ValueError(f"{what} must be a text of at most {10 * LONGEST} characters, got {brief(text)}")
    return text
