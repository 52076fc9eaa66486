"""`Tournament`: ask and tell that survive a crash."""

import secrets
import threading
import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from time import time as now
from types import TracebackType
from typing import Any, Self

from rankduel.bandits import Bandit, bandit_from
from rankduel.errors import SnapshotError, StorageError, TournamentExists, UnknownTournament
from rankduel.interleaving import Interleaved, interleaving_from
from rankduel.live.answers import Counts, LiveDecision, LiveDuel, Receipt, Standing, Status
from rankduel.live.events import DuelRow, Event
from rankduel.live.hall import enter, leave
from rankduel.live.state import Settings, State
from rankduel.live.storage import Entry, Storage
from rankduel.live.writer import Writer
from rankduel.randomness import subseed
from rankduel.types import Outcome

__all__ = ["DEFAULT", "Tournament"]

DEFAULT = "CertifiedSparring(delta=0.01)"
SNAPSHOT_EVERY = 20_000  # events, and four for each duel in flight: the most that opening has to replay
_LONGEST = 200  # characters of a name or an id


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
    ...     t.counts
    Counts(asked=1, told=1, late=0, expired=0, in_flight=0)
    >>> folder.cleanup()
    """

    def __init__(self, name: str, writer: Writer, state: State) -> None:
        self.name = name
        self._writer = writer
        self._storage: Storage = writer.storage
        self._state = state
        self._lock = threading.RLock()
        self._method = interleaving_from(state.settings.interleaving)
        self._seed_key = subseed(state.settings.seed, "interleaving").to_bytes(16, "little")
        self._salt = bytes.fromhex(state.settings.salt)
        self._snapshot_at = state.number
        self._failure: Exception | None = None
        self._closed = False
        self._end = weakref.finalize(self, leave, writer, name)
        # Duels that have landed and may not be in the storage yet.
        self._landed: dict[int, tuple[int, DuelRow]] = {}
        self._landed_by_query: dict[str, int] = {}
        self._landings: deque[tuple[int, int]] = deque()

    @classmethod
    def create(
        cls,
        name: str,
        *,
        rankers: Iterable[str],
        storage: str,
        bandit: str | None = None,
        baseline: str | None = None,
        interleaving: str = "team_draft",
        expires_after: float = 86_400,
        seed: int | None = None,
        exist_ok: bool = False,
    ) -> Self:
        """Begin a tournament.

        `storage` is an address, `sqlite:///duels.db`. `bandit` is one of the registry as people type it, or
        `module:Class`; None is "CertifiedSparring(delta=0.01)", which loses the best ranker with probability 0.01 at
        most. `baseline` is what users see while it is paused or stopped; None: the champion. A duel that is not told
        within `expires_after` seconds is not learnt any more. With `exist_ok`, a tournament that is there is opened, if
        it has these settings.
        """
        names = tuple(_checked("a ranker", ranker) for ranker in _listed("rankers", rankers))
        _check_new(names, ())
        if not names:
            raise ValueError("a tournament needs at least one ranker")
        if isinstance(expires_after, bool) or not isinstance(expires_after, int | float) or not 0 < expires_after < 1e9:
            raise ValueError(f"expires_after must be a number of seconds, > 0 and < 1e9, got {expires_after!r}")
        spec = DEFAULT if bandit is None else bandit
        made = bandit_from(spec, len(names), seed=seed)
        settings = Settings(
            rankers=names,
            bandit=_full(spec, made),
            seed=made.seed,
            baseline=None if baseline is None else _checked("baseline", baseline),
            interleaving=repr(interleaving_from(interleaving)),
            expires_after=float(expires_after),
            salt=secrets.token_hex(16),
        )
        writer = enter(storage, _checked("the name of a tournament", name))
        try:
            if name not in writer.storage.names():
                state = State(settings)
                state.number, state.time = 1, now()
                writer.put(Entry(name, Event(1, state.time, "created", _body(settings))))
            elif exist_ok:
                state = _restored(writer.storage, name)
                _check_same(name, state.settings, settings, seeded=seed is not None)
            else:
                raise TournamentExists(f"{name!r} is in {storage} already: open it, or create it with exist_ok=True")
            return cls._opened(name, writer, state)
        except BaseException:
            leave(writer, name)
            raise

    @classmethod
    def open(cls, name: str, *, storage: str) -> Self:
        """Go on with a tournament, exactly where its journal ends."""
        writer = enter(storage, _checked("the name of a tournament", name))
        try:
            if name not in (known := writer.storage.names()):
                raise UnknownTournament(f"no tournament {name!r} in {storage}, which has {', '.join(known) or 'none'}")
            return cls._opened(name, writer, _restored(writer.storage, name))
        except BaseException:
            leave(writer, name)
            raise

    @classmethod
    def _opened(cls, name: str, writer: Writer, state: State) -> Self:
        tournament = cls(name, writer, state)
        # A new session: no id of a duel that a crash has swallowed is ever given again.
        writer.wait(tournament._happen("opened", {"session": state.session + 1}))
        return tournament

    def close(self) -> None:
        """Keep a snapshot, so that opening is quick, and let go of the storage. Nothing is lost without it."""
        with self._lock:
            sound = self._failure is None and not self._writer.failed and not self._closed
            if sound and self._state.number > self._snapshot_at:
                self._writer.put(Entry(self.name, self._state.keep()))
            self._closed = True
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

        While the tournament is paused or stopped, `first` and `second` are both the baseline (or the champion), and
        once there is a winner, both are the winner; then there is no `id`, and nothing to tell. Client ids are stored
        as hashes.
        """
        query = None if query_id is None else _checked("query_id", query_id)
        client = None if client_id is None else self._hashed(_checked("client_id", client_id))
        with self._lock:
            self._check()
            time = self._expire()
            if query is not None and (row := self._row_of(query)) is not None:
                return self._live(row.number, row.session, row.first, row.second, row.expires)
            state = self._state
            if state.status != "running" or state.bandit.n_alive == 1 or state.bandit.tied:
                return self._no_duel()
            try:
                event = state.ask(time, query, client)
            except Exception as error:
                self._failure = error  # what is in memory is not what the journal says
                raise
            self._record(event)
            body = event.body
            return self._live(body["duel"], body["session"], body["first"], body["second"], body["expires"])

    def _live(self, number: int, session: int, first: int, second: int, expires: float) -> LiveDuel:
        rankers, name = self._state.rankers, f"{session}-{number}"
        digest = blake2b(name.encode(), key=self._seed_key, digest_size=6).digest()  # 48 bits: exact in any JSON
        return LiveDuel(name, rankers[first], rankers[second], int.from_bytes(digest, "little"), expires, self._method)

    def _no_duel(self) -> LiveDuel:
        state = self._state
        shown = state.settings.baseline
        if shown is None or state.status == "running":
            shown = state.rankers[state.bandit.champion]
        return LiveDuel(None, shown, shown, 0, 0.0, self._method)

    def _hashed(self, client: str) -> str:
        return blake2b(client.encode(), key=self._salt, digest_size=8).hexdigest()

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

        `duel` is what `ask` has returned, or its id. Clicks are credited on the page that `duel.interleave` has made,
        or on `shown`; a page without a click is a tie. Telling the same again changes nothing.
        """
        if clicks is not None:
            outcome = self._credited(duel, outcome, clicks, shown)
        receipt, ticket = self._settle(duel, outcome)
        self._writer.wait(ticket)
        return receipt

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome]]) -> list[Receipt]:
        """The same for many duels, which become durable together. Each has a receipt of its own."""
        receipts, last = [], 0
        for duel, outcome in _listed("told", told):
            receipt, ticket = self._settle(duel, outcome)
            receipts.append(receipt)
            last = max(last, ticket)
        self._writer.wait(last)
        return receipts

    def _credited(
        self, duel: LiveDuel | str, outcome: Outcome | None, clicks: Iterable[Hashable], shown: Interleaved | None
    ) -> Outcome:
        if outcome is not None:
            raise ValueError("tell either the outcome or the clicks, not both")
        if shown is None and isinstance(duel, LiveDuel):
            shown = duel.shown
        if shown is None:
            raise ValueError("clicks are credited on a page: call duel.interleave first, or hand it over as shown=")
        return self._method.outcome(shown, _listed("clicks", clicks))

    def _settle(self, duel: LiveDuel | str, outcome: Outcome | None) -> tuple[Receipt, int]:
        """Take in one outcome; what became of it, and the ticket to wait for."""
        if not isinstance(outcome, Outcome):
            raise TypeError(f"outcome must be Outcome.FIRST, Outcome.SECOND or Outcome.TIE, got {outcome!r}")
        session, number = _parsed(duel)
        with self._lock:
            self._check()
            self._expire()
            sent = self._state.in_flight.get(number)
            if sent is not None and sent.session == session:
                try:
                    ticket = self._happen("told", {"duel": number, "outcome": outcome.value})
                except Exception as error:
                    self._failure = error
                    raise
                self._land(ticket, sent.row("told", outcome.value))
                return Receipt(Status.ACCEPTED, outcome), ticket
            ticket, row = self._landed.get(number) or (0, self._storage.duel(self.name, number))
            if row is None or row.session != session or sent is not None:
                return Receipt(Status.UNKNOWN, None), 0
            if row.state == "expired":
                ticket = self._happen("late", {"duel": number, "outcome": outcome.value})
                self._land(ticket, row._replace(state="late", outcome=outcome.value))
                return Receipt(Status.LATE, outcome), ticket
            stored = Outcome(row.outcome)
            return Receipt(Status.DUPLICATE if stored is outcome else Status.CONFLICT, stored), ticket

    # Where it stands

    @property
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""
        return self._state.status

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
        with self._lock:
            self._expire()
            state = self._state
            return Counts(state.bandit.asked, state.bandit.told, state.late, state.expired, len(state.in_flight))

    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or where it stands; by `str` in words."""
        with self._lock:
            state, names = self._state, self._state.rankers
            decision = state.bandit.decision()
            return LiveDecision(
                None if decision.winner is None else names[decision.winner],
                tuple(names[arm] for arm in decision.tied),
                names[state.bandit.champion],
                tuple(names[arm] for arm in decision.confidence.alive),
                tuple(names[gone.arm] for gone in decision.eliminated),
                decision.confidence.delta,
                decision.confidence.tolerance,
            )

    def leaderboard(self) -> list[Standing]:
        """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""
        with self._lock:
            state, champion = self._state, self._state.bandit.champion
            left = set(state.bandit.alive.tolist())
            went = {gone.arm: place for place, gone in enumerate(state.bandit.decision().eliminated)}

            def order(arm: int) -> tuple[int, float]:
                if arm in left:
                    duels = state.wins[arm] + state.losses[arm] + state.ties[arm]
                    return arm != champion, -(state.wins[arm] + state.ties[arm] / 2) / max(duels, 1)
                return 3 if arm in state.retired else 2, -went.get(arm, 0)

            words = {0: "champion", 1: "left", 2: "out", 3: "retired"}
            return [
                Standing(state.rankers[arm], words[order(arm)[0]], state.wins[arm], state.losses[arm], state.ties[arm])
                for arm in sorted(range(len(state.rankers)), key=order)
            ]

    def journal(self, since: int = 0) -> Iterator[Event]:
        """All that has happened after event number `since`, as it is stored."""
        self._writer.flush()
        return self._storage.read(self.name, since)

    # Operate

    def pause(self, reason: str = "") -> None:
        """No more duels until `resume`; what is in flight may still be told."""
        self._change("paused", ("running",), {"reason": reason})

    def resume(self, reason: str = "") -> None:
        """Go on after `pause`."""
        self._change("resumed", ("paused",), {"reason": reason})

    def stop(self, reason: str = "") -> None:
        """The end: no more duels for good, and what is in flight expires."""
        with self._lock:
            self._check()
            self._expire()
            if self._state.status != "stopped" and self._state.in_flight:
                self._expire_these(list(self._state.in_flight))
            self._change("stopped", ("running", "paused"), {"reason": reason})

    def add_rankers(self, rankers: Iterable[str]) -> None:
        """Let more rankers take part. Only for bandits that can add arms, as CertifiedSparring."""
        names = [_checked("a ranker", ranker) for ranker in _listed("rankers", rankers)]
        with self._lock:
            self._check()
            _check_new(names, self._state.rankers)
            if names:
                self._change("added", ("running", "paused"), {"rankers": names})

    def retire(self, ranker: str, reason: str = "") -> None:
        """Take a ranker out for good. Only for bandits that can retire arms, as CertifiedSparring."""
        with self._lock:
            if ranker not in self._state.rankers:
                raise ValueError(f"no ranker {ranker!r} in {self.name!r}")
            arm = self._state.rankers.index(ranker)
            if arm not in self._state.bandit.alive:
                raise ValueError(f"ranker {ranker!r} is not in the race any more")
            if self._state.bandit.n_alive == 1:
                raise ValueError(f"ranker {ranker!r} is the last one left: it cannot be retired")
            self._change("retired", ("running", "paused"), {"arm": arm, "ranker": ranker, "reason": reason})

    def _change(self, kind: str, allowed: Sequence[str], body: dict[str, Any]) -> None:
        with self._lock:
            self._check()
            if self._state.status not in allowed:
                raise ValueError(f"{self.name!r} is {self._state.status}: it cannot be {kind}")
            ticket = self._happen(kind, body)
        self._writer.wait(ticket)

    # The clockwork

    def _check(self) -> None:
        self._writer.check()
        if self._closed:
            raise StorageError(f"tournament {self.name!r} is closed")
        if self._failure is not None:
            raise StorageError(f"the bandit has failed, open {self.name!r} again: {self._failure!r}") from self._failure

    def _time(self) -> float:
        """Now; if the clock was set back, as late as the last event."""
        return max(now(), self._state.time)

    def _happen(self, kind: str, body: dict[str, Any]) -> int:
        return self._record(self._state.event(self._time(), kind, body))

    def _record(self, event: Event) -> int:
        """Hand an event that has happened to the writer; its ticket."""
        ticket = self._writer.put(Entry(self.name, event))
        # A snapshot holds what is in flight: where that is much, it is made less often.
        if event.number - self._snapshot_at >= SNAPSHOT_EVERY + 4 * len(self._state.in_flight):
            self._snapshot_at = event.number
            self._writer.put(Entry(self.name, self._state.keep()))
        return ticket

    def _expire(self) -> float:
        """Let go of duels whose time is over; the time."""
        time, in_flight = self._time(), self._state.in_flight
        if in_flight and next(iter(in_flight.values())).expires <= time:
            gone = []
            for number, sent in in_flight.items():
                if sent.expires > time:
                    break
                gone.append(number)
            self._expire_these(gone)
            time = self._state.time
        return time

    def _expire_these(self, numbers: list[int]) -> None:
        rows = [self._state.in_flight[number].row("expired") for number in numbers]
        ticket = self._happen("expired", {"duels": numbers})
        for row in rows:
            self._land(ticket, row)

    def _land(self, ticket: int, row: DuelRow) -> None:
        """Remember a duel until it is found in the storage; forget those that are."""
        while self._landings and self._landings[0][0] <= self._writer.done:
            old, number = self._landings.popleft()
            if number in self._landed and self._landed[number][0] == old:
                query = self._landed.pop(number)[1].query
                if query is not None:
                    del self._landed_by_query[query]
        self._landed[row.number] = ticket, row
        self._landings.append((ticket, row.number))
        if row.query is not None:
            self._landed_by_query[row.query] = row.number

    def _row_of(self, query: str) -> DuelRow | None:
        """The duel of a query: in flight, just landed, or stored."""
        number = self._state.by_query.get(query)
        if number is not None:
            return self._state.in_flight[number].row()
        number = self._landed_by_query.get(query)
        return self._storage.duel_of(self.name, query) if number is None else self._landed[number][1]


def _restored(storage: Storage, name: str) -> State:
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


def _full(spec: str, bandit: Bandit) -> str:
    """A bandit as people type it, with every parameter: another default in a later version changes nothing."""
    own, colon, _ = spec.partition("(")[0].rpartition(":")
    options = ", ".join(f"{name}={value!r}" for name, value in bandit.parameters.items())
    return f"{own}{colon}{type(bandit).__name__}({options})"


def _body(settings: Settings) -> dict[str, Any]:
    return {**vars(settings), "rankers": list(settings.rankers)}


def _check_same(name: str, stored: Settings, given: Settings, *, seeded: bool) -> None:
    ignored = {"salt"} if seeded else {"salt", "seed"}
    for setting, value in vars(given).items():
        if setting not in ignored and vars(stored)[setting] != value:
            raise TournamentExists(f"{name!r} is there with {setting}={vars(stored)[setting]!r}, not {value!r}")


def _listed(name: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list, got {given!r}")
    return list(given)


def _checked(what: str, name: object) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST or not name.isprintable():
        raise ValueError(f"{what} must be 1 to {_LONGEST} printable characters, got {name!r:.{_LONGEST}}")
    return name


def _check_new(names: Sequence[str], known: Sequence[str]) -> None:
    seen = set(known)
    for name in names:
        if name in seen:
            raise ValueError(f"ranker {name!r} is there twice")
        seen.add(name)


def _parsed(duel: LiveDuel | str) -> tuple[int, int]:
    """Session and number of a duel; no duel has (0, 0)."""
    text = duel.id if isinstance(duel, LiveDuel) else duel
    if text is None:
        return 0, 0
    if not isinstance(text, str):
        raise TypeError(f"duel must be what ask() has returned, or its id, got {duel!r}")
    session, _, number = text.partition("-")
    if not (session.isdecimal() and number.isdecimal() and text.isascii() and len(session) + len(number) <= 18):
        return 0, 0
    return int(session), int(number)
