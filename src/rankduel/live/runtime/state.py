"""State of a tournament, computed by replaying its journal: the same events give the same state, bit for bit."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from rankduel.bandits import Bandit, stored_bandit
from rankduel.errors import BrokenTournament, SnapshotError, StorageError
from rankduel.live.rules.events import Event
from rankduel.live.runtime.side_coin import SideCoin
from rankduel.live.settings import DIALS, Settings
from rankduel.live.storage.contract import Snapshot, Storage
from rankduel.randomness import bit_generator, subseed
from rankduel.types import Duel, Outcome

__all__ = ["State", "load_state"]

_SCHEMA = 1  # of the snapshot, apart from the bandit
Odds = tuple[float, float] | None  # propensities of the two sides, if the bandit needs them
_OUTCOMES = {  # the stored outcome, and the outcome for the bandit if the sides were swapped
    "first": (Outcome.FIRST, Outcome.SECOND),
    "second": (Outcome.SECOND, Outcome.FIRST),
    "tie": (Outcome.TIE, Outcome.TIE),
}


class State:
    """Everything that a tournament has learnt. Only `apply` changes it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bandit: Bandit = stored_bandit(settings.bandit, len(settings.rankers), seed=settings.seed)
        self.rankers = list(settings.rankers)
        self.arms = {ranker: arm for arm, ranker in enumerate(self.rankers)}
        self.retired: dict[int, int] = {}  # each with the number of duels resolved by then
        self.paused: set[int] = set()  # rankers
        self.status = "running"  # or paused, or stopped
        self.number = 0  # of the last event
        self.time = 0.0  # of the last event
        self.wins: dict[tuple[int, int], int] = {}  # of the first over the second
        self.ties: dict[tuple[int, int], int] = {}  # the smaller arm first
        self._side_coin = SideCoin(settings.seed)

    @classmethod
    def replay(cls, events: Iterable[Event]) -> Self:
        """Return the state after these events, which begin with the first event of the journal."""
        remaining = iter(events)
        created = next(remaining)
        state = cls(Settings.from_dict(created.body))
        state.number, state.time = created.number, created.time
        state.apply_all(remaining)
        return state

    def apply_all(self, events: Iterable[Event]) -> None:
        """Apply events in order. Raise BrokenTournament if one cannot be applied."""
        for event in events:
            try:
                self.apply(event)
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise BrokenTournament(f"event {event.number} ({event.kind}) cannot be replayed: {why}") from error

    def begin(self, session: int) -> None:
        """Give the bandit a random stream of its own for a session."""
        stream = bit_generator(subseed(self.settings.seed, f"session {session}"), "bandit")
        self.bandit.random.bit_generator.state = stream.state

    def choose(self, id: str) -> tuple[int, int, Odds, int]:
        """Choose the next duel. Return first, second, their propensities, and the seed of the page.

        `id` is the id that the duel will have. This changes nothing that was learnt.
        """
        _, first, second, odds = self.bandit.propose()
        swapped, seed = self._side_coin.flip(id)
        if swapped:
            return second, first, odds and odds[::-1], seed
        return first, second, odds, seed

    def seed_of(self, id: str) -> int:
        """Return the seed that makes the page of a duel. It has 48 bits, so JSON numbers hold it exactly."""
        return self._side_coin.flip(id)[1]

    def apply(self, event: Event) -> None:
        """Apply one event."""
        body = event.body
        match event.kind:
            case "resolved":
                self._tell(body)
            case "paused" | "stopped":
                self.status = event.kind
            case "started":
                self.status = "running"
            case "configured":
                changes = {name: body[name] for name in DIALS if name in body}
                if "guardrails" in changes:
                    changes["guardrails"] = tuple(changes["guardrails"])
                self.settings = replace(self.settings, **changes)
            case "added":
                self._add([ranker for ranker in body["rankers"] if ranker not in self.arms])
            case "retired" | "ranker_paused" | "ranker_started":
                self._change_ranker(event.kind, self.arms[body["ranker"]])
            case "voided" | "erased" | "quarantined":
                pass  # nothing is learnt from it
            case kind:
                raise StorageError(
                    f"event {event.number} has the unknown kind {kind!r}; a newer version may have written it"
                )
        self.number, self.time = event.number, event.time

    def _tell(self, body: dict[str, Any]) -> None:
        first, second, stored = body["first"], body["second"], body["outcome"]
        odds = tuple(body["propensity"]) if "propensity" in body else None
        outcome, opposite = _OUTCOMES[stored]
        if self._side_coin.flip(body["duel"])[0]:  # the bandit learns by the sides that it chose
            self.bandit.adopt(Duel(self.bandit.told + 1, second, first, odds and odds[::-1]), opposite)
        else:
            self.bandit.adopt(Duel(self.bandit.told + 1, first, second, odds), outcome)
        if stored == "tie":
            pair = (first, second) if first < second else (second, first)
            self.ties[pair] = self.ties.get(pair, 0) + 1
        else:
            pair = (first, second) if stored == "first" else (second, first)
            self.wins[pair] = self.wins.get(pair, 0) + 1

    # If two operators do the same at the same time, the second event changes nothing.

    def _add(self, rankers: list[str]) -> None:
        if rankers:
            self.changeable("add")(len(rankers))
        for ranker in rankers:
            self.arms[ranker] = len(self.rankers)
            self.rankers.append(ranker)

    def _change_ranker(self, kind: str, arm: int) -> None:
        if arm not in self.bandit.alive:
            return
        if kind == "retired" and self.bandit.n_alive > 1:
            self.changeable("retire")(arm)
            self.retired[arm] = self.bandit.told
        elif kind == "ranker_paused" and arm not in self.paused:
            self.changeable("pause")(arm)
            self.paused.add(arm)
        elif kind == "ranker_started" and arm in self.paused:
            self.changeable("resume")(arm)
            self.paused.discard(arm)

    def changeable(self, method: str) -> Any:
        """Return a method of the bandit that changes its arms. Raise ValueError if the bandit does not have it."""
        change = getattr(self.bandit, method, None)
        if change is None:
            name = type(self.bandit).__name__
            raise ValueError(f"{name} cannot {method} rankers while it runs; bandits such as CertifiedSparring can")
        return change

    # Snapshots

    def to_snapshot(self) -> Snapshot:
        """Return a snapshot of the state."""
        state = {
            "schema": _SCHEMA,
            "settings": self.settings.to_dict(),
            "rankers": self.rankers,
            "retired": sorted(self.retired),
            "retired_at": [resolved for _, resolved in sorted(self.retired.items())],
            "paused": sorted(self.paused),
            "status": self.status,
            "time": self.time,
            "wins": [[*pair, count] for pair, count in sorted(self.wins.items())],
            "ties": [[*pair, count] for pair, count in sorted(self.ties.items())],
        }
        return Snapshot(self.number, json.dumps(state, separators=(",", ":")), self.bandit.snapshot())

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> Self:
        """Restore the state of a snapshot. Raise SnapshotError if it has another schema."""
        stored = json.loads(snapshot.state)
        if stored["schema"] != _SCHEMA:
            reads = f"this version of rankduel reads schema {_SCHEMA}"
            raise SnapshotError(f"the snapshot has schema {stored['schema']}, but {reads}")
        state = cls(Settings.from_dict(stored["settings"]))
        state.bandit = type(state.bandit).restore(snapshot.bandit)
        state.number, state.time, state.status = snapshot.number, stored["time"], stored["status"]
        state.rankers = stored["rankers"]
        if state.bandit.n_arms != len(state.rankers):
            raise SnapshotError(f"the snapshot has {state.bandit.n_arms} arms for {len(state.rankers)} rankers")
        state.arms = {ranker: arm for arm, ranker in enumerate(state.rankers)}
        # Snapshots of older versions do not say when rankers were retired: at the latest when they were taken.
        at_the_latest = [state.bandit.told] * len(stored["retired"])
        state.retired = dict(zip(stored["retired"], stored.get("retired_at", at_the_latest), strict=True))
        state.paused = set(stored["paused"])
        state.wins = {(first, second): count for first, second, count in stored["wins"]}
        state.ties = {(first, second): count for first, second, count in stored["ties"]}
        return state


def load_state(storage: Storage, name: str) -> tuple[State, int]:
    """Load the state from the newest valid snapshot and the events after it, or from all events.

    The second result is the number of the event of that snapshot; 0 without a snapshot.
    """
    last = storage.last(name)
    state, snapshot_at = None, 0
    for snapshot in storage.snapshots(name):
        with suppress(SnapshotError, ValueError, LookupError):
            if snapshot.number <= last:
                state, snapshot_at = State.from_snapshot(snapshot), snapshot.number
                break
    events = storage.read(name, snapshot_at)
    if state is None:
        state = State.replay(islice(events, 1))
    state.apply_all(events)
    return state, snapshot_at
