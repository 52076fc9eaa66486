"""State of a tournament, computed by replaying its journal: the same events give the same state, bit for bit."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from rankduel.bandits import Bandit, stored_bandit
from rankduel.errors import BrokenTournament, SnapshotError, StorageError
from rankduel.live.results import Decided, LiveDecision
from rankduel.live.rules.events import Event
from rankduel.live.rules.lifecycle import Rollout, Situation, status_of
from rankduel.live.runtime.side_coin import SideCoin
from rankduel.live.settings import DIALS, Settings
from rankduel.live.storage.contract import Snapshot, Storage
from rankduel.randomness import bit_generator, subseed
from rankduel.types import Duel, Outcome

__all__ = ["Chosen", "State", "load_state"]

_SCHEMA = 1  # of the snapshot, apart from the bandit
Odds = tuple[float, float] | None  # propensities of the two sides, if the bandit needs them
Chosen = tuple[int, int, Odds, int]  # first, second, their propensities, and the seed of the page
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
        self.phase = "running"  # or draft, paused, stopped, archived; `status` also says decided and rolled_out
        self.rollout: Rollout | None = None
        self.number = 0  # of the last event
        self.time = 0.0  # of the last event
        self.wins: dict[tuple[int, int], int] = {}  # of the first over the second
        self.ties: dict[tuple[int, int], int] = {}  # the smaller arm first
        self.decisions: list[Decided] = []  # more than one if rankers were added or retired after a decision
        self.changed_at = 0  # number of the last event that is no outcome, or that decided
        self._decided_among = self._left_if_decided()
        self._side_coin = SideCoin(settings.seed)
        # Whether outcomes after a decision are not learnt. Old tournaments learn them until a setting says otherwise.
        self._keeps_decision = False

    @classmethod
    def replay(cls, events: Iterable[Event]) -> Self:
        """Return the state after these events, which begin with the first event of the journal."""
        remaining = iter(events)
        created = next(remaining)
        state = cls(Settings.from_dict(created.body))
        state.number, state.time = created.number, created.time
        state.phase = "draft" if created.body.get("draft") else "running"
        state._keeps_decision = "after_decision" in created.body
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

    def choose(self, id: str) -> Chosen:
        """Choose the next duel.

        `id` is the id that the duel will have. This changes nothing that was learnt.
        """
        _, first, second, odds = self.bandit.propose()
        swapped, seed = self._side_coin.flip(id)
        if swapped:
            return second, first, odds and odds[::-1], seed
        return first, second, odds, seed

    def pair(self, id: str, first: int, second: int) -> Chosen:
        """Like `choose`, for two given rankers. Only a coin decides which is first."""
        swapped, seed = self._side_coin.flip(id)
        return (second, first, None, seed) if swapped else (first, second, None, seed)

    def seed_of(self, id: str) -> int:
        """Return the seed that makes the page of a duel. It has 48 bits, so JSON numbers hold it exactly."""
        return self._side_coin.flip(id)[1]

    def apply(self, event: Event) -> None:
        """Apply one event."""
        if event.kind == "resolved":
            self._tell(event.body)
        else:
            self._change(event)
            self.changed_at = event.number
        self.number, self.time = event.number, event.time
        if self._left_if_decided() != self._decided_among:
            self._note_decision()

    def _change(self, event: Event) -> None:
        body = event.body
        match event.kind:
            case "paused":
                self.phase = "paused"
            case "stopped" | "archived":
                self.phase, self.rollout = event.kind, None
            case "started":
                self.phase = "running"
            case "rolled_out":
                self.rollout, self._keeps_decision = Rollout(body["ranker"], body["share"]), True
            case "rolled_back":
                self.rollout = None
                self.settings = replace(self.settings, after_decision="baseline")
            case "configured":
                self._keeps_decision |= "after_decision" in body
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

    def _left_if_decided(self) -> int:
        """Return the number of rankers left if the tournament is decided, or 0. Each decision changes it."""
        return self.bandit.n_alive if self.decided else 0

    def _note_decision(self) -> None:
        """Note the decision that the last event made, or that a ranker was added and there is none any more."""
        self._decided_among = self._left_if_decided()
        if self._decided_among:
            made = LiveDecision.of(
                self.bandit.decision(),
                self.rankers,
                champion=self.bandit.champion,
                retired=len(self.retired),
                resolved=self.bandit.told,
            )
            self.decisions.append(Decided(self.number, self.time, made.winner, made.tied, made.headline))
            self.changed_at = self.number

    def _tell(self, body: dict[str, Any]) -> None:
        first, second, stored = body["first"], body["second"], body["outcome"]
        if not (self._keeps_decision and self._decided_among):
            self._learn(body)
        elif first == second:
            return  # a page of a roll-out
        if stored == "tie":
            pair = (first, second) if first < second else (second, first)
            self.ties[pair] = self.ties.get(pair, 0) + 1
        else:
            pair = (first, second) if stored == "first" else (second, first)
            self.wins[pair] = self.wins.get(pair, 0) + 1

    def _learn(self, body: dict[str, Any]) -> None:
        first, second, stored = body["first"], body["second"], body["outcome"]
        odds = tuple(body["propensity"]) if "propensity" in body else None
        outcome, opposite = _OUTCOMES[stored]
        if self._side_coin.flip(body["duel"])[0]:  # the bandit learns by the sides that it chose
            self.bandit.adopt(Duel(self.bandit.told + 1, second, first, odds and odds[::-1]), opposite)
        else:
            self.bandit.adopt(Duel(self.bandit.told + 1, first, second, odds), outcome)

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

    # The life of the tournament

    @property
    def decided(self) -> bool:
        """Whether one ranker is left, or all that are left are tied."""
        return self.bandit.n_alive == 1 or bool(self.bandit.tied)

    @property
    def status(self) -> str:
        """Draft, running, paused, decided, rolled_out, stopped or archived."""
        return status_of(self.phase, decided=self.decided, rolled_out=self.rollout is not None)

    @property
    def baseline(self) -> str:
        """The ranker that users see without a duel. In an old tournament without a baseline, it is the champion."""
        return self.settings.baseline or self.rankers[self.bandit.champion]

    def situation(self, *, failing: bool = False) -> Situation:
        """Return everything that decides what users see now."""
        settings, decided = self.settings, self.decided
        return Situation(
            phase=self.phase,
            baseline=self.baseline,
            share=settings.share,
            shadow=settings.shadow,
            after_decision=settings.after_decision,
            decided=self.rankers[self.bandit.champion] if decided else None,
            tied=self.bandit.n_alive > 1,
            rollout=self.rollout,
            moving_baseline=settings.baseline is None,
            external_baseline=self.baseline not in self.arms,
            failing=failing,
        )

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
            "status": self.phase,
            "rollout": self.rollout,
            "keeps_decision": self._keeps_decision,
            "time": self.time,
            "wins": [[*pair, count] for pair, count in sorted(self.wins.items())],
            "ties": [[*pair, count] for pair, count in sorted(self.ties.items())],
            "decisions": self.decisions,
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
        state.number, state.time, state.phase = snapshot.number, stored["time"], stored["status"]
        rollout = stored.get("rollout")  # older snapshots do not have it
        state.rollout = None if rollout is None else Rollout(*rollout)
        state._keeps_decision = stored.get("keeps_decision", False)
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
        # Older versions did not store decisions.
        state.decisions = [
            Decided(number, time, winner, tuple(tied), headline)
            for number, time, winner, tied, headline in stored.get("decisions", ())
        ]
        state.changed_at, state._decided_among = state.number, state._left_if_decided()
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
