"""A tournament as the fold over its journal: the same events, in the same order, give the same state, bit for bit."""

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

from rankduel.bandits import Bandit, bandit_from
from rankduel.errors import SnapshotError, StorageError
from rankduel.live.events import DuelRow, Event
from rankduel.live.storage import Kept
from rankduel.types import Duel, Outcome

__all__ = ["InFlight", "Settings", "State"]

_SCHEMA = 1  # of what a snapshot holds beside the bandit


@dataclass(frozen=True)
class Settings:
    """What a tournament is created with, and never changes."""

    rankers: tuple[str, ...]  # at the beginning
    bandit: str  # as `bandit_from` takes it, with every parameter
    seed: int
    baseline: str | None
    interleaving: str
    expires_after: float  # seconds
    salt: str  # of the hashes of client ids

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """The settings again, from what JSON made of them."""
        return cls(**stored | {"rankers": tuple(stored["rankers"])})


class InFlight(NamedTuple):
    """A duel that was asked for, neither told nor expired."""

    duel: Duel
    session: int
    query: str | None
    expires: float

    def row(self, state: str = "open", outcome: str | None = None) -> DuelRow:
        """As a store knows it."""
        number, first, second = self.duel.number, self.duel.first, self.duel.second
        return DuelRow(number, self.session, self.query, first, second, self.expires, state, outcome)


class State:
    """Everything that is known of a tournament. Only `apply`, `ask` and `settle` change it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bandit: Bandit = bandit_from(settings.bandit, len(settings.rankers), seed=settings.seed)
        self.rankers = list(settings.rankers)
        self.retired: set[int] = set()
        self.status = "running"  # or paused, or stopped
        self.number = 0  # of the last event
        self.time = 0.0  # of the last event
        self.session = 0
        self.late = self.expired = 0
        self.wins = [0] * len(self.rankers)
        self.losses = [0] * len(self.rankers)
        self.ties = [0] * len(self.rankers)
        self.in_flight: OrderedDict[int, InFlight] = OrderedDict()  # the first one expires first
        self.by_query: dict[str, int] = {}  # of those in flight

    @classmethod
    def replay(cls, events: Iterable[Event]) -> Self:
        """The state after these events, from the first on."""
        remaining = iter(events)
        created = next(remaining)
        state = cls(Settings.from_dict(created.body))
        state.number, state.time = created.number, created.time
        for event in remaining:
            state.apply(event)
        return state

    # The live half: what happens now, as the event that tells of it

    def ask(self, time: float, query: str | None, client: str | None) -> Event:
        """Let the bandit choose a duel."""
        duel = self.bandit.ask()
        expires = time + self.settings.expires_after
        body: dict[str, Any] = {
            "duel": duel.number,
            "session": self.session,
            "first": duel.first,
            "second": duel.second,
            "expires": expires,
        }
        if query is not None:
            body["query"] = query
        if client is not None:
            body["client"] = client
        self._send(InFlight(duel, self.session, query, expires))
        return self._happened(time, "asked", body)

    def event(self, time: float, kind: str, body: dict[str, Any]) -> Event:
        """Let anything else happen."""
        event = Event(self.number + 1, time, kind, body)
        self.apply(event)
        return event

    def _happened(self, time: float, kind: str, body: dict[str, Any]) -> Event:
        self.number += 1
        self.time = time
        return Event(self.number, time, kind, body)

    # The fold

    def apply(self, event: Event) -> None:
        """Take in one event."""
        body = event.body
        match event.kind:
            case "asked":
                self._ask_again(event.number, body)
            case "told":
                self._tell(self._land(body["duel"]), Outcome(body["outcome"]))
            case "late":
                self.late += 1
            case "expired":
                for number in body["duels"]:
                    self.bandit.forget(self._land(number))
                self.expired += len(body["duels"])
            case "opened":
                self.session = body["session"]
            case "paused" | "resumed" | "stopped":
                self.status = "running" if event.kind == "resumed" else event.kind
            case "added":
                self._changeable("add")(len(body["rankers"]))
                self.rankers += body["rankers"]
                for counts in (self.wins, self.losses, self.ties):
                    counts.extend([0] * len(body["rankers"]))
            case "retired":
                self._changeable("retire")(body["arm"])
                self.retired.add(body["arm"])
            case kind:
                raise StorageError(f"event {event.number} is of an unknown kind, {kind!r}")
        self.number, self.time = event.number, event.time

    def _ask_again(self, number: int, body: dict[str, Any]) -> None:
        duel = self.bandit.ask()
        if (duel.number, duel.first, duel.second) != (body["duel"], body["first"], body["second"]):
            raise StorageError(
                f"event {number}: arms {body['first']} and {body['second']} were chosen, and now {duel.first} and "
                f"{duel.second}: this is another build of rankduel or NumPy than the one that played"
            )
        self._send(InFlight(duel, body["session"], body.get("query"), body["expires"]))

    def _send(self, sent: InFlight) -> None:
        self.in_flight[sent.duel.number] = sent
        if sent.query is not None:
            self.by_query[sent.query] = sent.duel.number

    def _land(self, number: int) -> Duel:
        landed = self.in_flight.pop(number)
        if landed.query is not None:
            del self.by_query[landed.query]
        return landed.duel

    def _tell(self, duel: Duel, outcome: Outcome) -> None:
        self.bandit.tell(duel, outcome)
        if outcome is Outcome.TIE:
            self.ties[duel.first] += 1
            self.ties[duel.second] += duel.second != duel.first
        else:
            won, lost = (duel.first, duel.second) if outcome is Outcome.FIRST else (duel.second, duel.first)
            self.wins[won] += 1
            self.losses[lost] += 1

    def _changeable(self, method: str) -> Any:
        """A method that only some bandits have: arms that come and go."""
        found = getattr(self.bandit, method, None)
        if found is None:
            raise ValueError(f"{type(self.bandit).__name__} cannot {method} rankers once it is made")
        return found

    # Snapshots

    def keep(self) -> Kept:
        """All of it, as a snapshot."""
        state = {
            "schema": _SCHEMA,
            "settings": asdict(self.settings),
            "rankers": self.rankers,
            "retired": sorted(self.retired),
            "status": self.status,
            "time": self.time,
            "session": self.session,
            "late": self.late,
            "expired": self.expired,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "in_flight": [[sent.duel.number, *sent[1:]] for sent in self.in_flight.values()],
        }
        return Kept(self.number, json.dumps(state), self.bandit.snapshot())

    @classmethod
    def from_kept(cls, kept: Kept) -> Self:
        """The state of a snapshot; SnapshotError if another version has made it."""
        stored = json.loads(kept.state)
        if stored["schema"] != _SCHEMA:
            raise SnapshotError(f"snapshot has schema {stored['schema']}, this version of rankduel reads {_SCHEMA}")
        state = cls(Settings.from_dict(stored["settings"]))
        state.bandit = type(state.bandit).restore(kept.bandit)
        for name in ("rankers", "status", "time", "session", "late", "expired", "wins", "losses", "ties"):
            setattr(state, name, stored[name])
        state.number, state.retired = kept.number, set(stored["retired"])
        pending = {duel.number: duel for duel in state.bandit.pending}
        for number, session, query, expires in stored["in_flight"]:
            state._send(InFlight(pending[number], session, query, expires))
        return state
