"""Leaderboard, decision, timeline and preferences from a view, by names of rankers; health from counters."""

from collections import Counter
from collections.abc import Collection, Mapping

from rankduel.live.results import Counts, Departure, Health, LiveDecision, Meeting, Standing
from rankduel.live.view import View

__all__ = ["decision", "health", "leaderboard", "preferences", "timeline"]


def decision(view: View) -> LiveDecision:
    """The winner, or the rankers that are tied, or where it stands."""
    names, found = view.names, view.decision
    return LiveDecision(
        None if found.winner is None else names[found.winner],
        tuple(names[arm] for arm in found.tied),
        names[view.champion],
        tuple(names[arm] for arm in found.confidence.alive),
        tuple(names[gone.arm] for gone in found.eliminated),
        found.confidence.delta,
        found.confidence.tolerance,
    )


def leaderboard(view: View, start: int = 0, stop: int | None = None) -> list[Standing]:
    """All rankers, or those from place `start` to `stop`: the best guess first."""
    records = view.records
    return [Standing(view.names[arm], view.state_of(arm), *records[arm].tolist()) for arm in view.order[start:stop]]


def timeline(view: View, start: int = 0, stop: int | None = None) -> list[Departure]:
    """The rankers that are out, in the order in which they went."""
    names, gone = view.names, view.decision.eliminated
    return [
        Departure(names[one.arm], one.told, names[one.by] if one.by >= 0 else None, one.evidence, len(names) - place)
        for place, one in enumerate(gone[start:stop], start + 1)
    ]


def preferences(view: View, start: int = 0, stop: int | None = None) -> list[Meeting]:
    """All pairs that have met, in the order of their first ranker, then of their second."""
    names = view.names
    return [
        Meeting(names[first], names[second], won, won if first == second else lost, tied)
        for first, second, won, lost, tied in view.meetings[start:stop].tolist()
    ]


def health(
    counters: Mapping[str, int],
    failure: Exception | None,
    storage: str,
    *,
    actions: Collection[str] = (),
    maintenance: str | None = None,
) -> Health:
    """What became of asks, tells and signals, by the counters of a tournament, and what has failed.

    Signals of actions that are not among the declared `actions` are counted as "other". The address of the storage is
    left out: many people may see this.
    """

    def named(word: str) -> dict[str, int]:
        return {name.removeprefix(word): count for name, count in counters.items() if name.startswith(word)}

    signals: Counter[str] = Counter()
    if counters.get("undeclared actions"):
        signals["other"] = counters["undeclared actions"]
    for action, count in named("action ").items():
        signals[action if action in actions else "other"] += count
    place = storage.removeprefix("sqlite:///")  # as messages have it
    return Health(
        counts=Counts.of(counters),
        served=named("serve "),
        told_again=counters.get("duplicate", 0),
        conflicts=counters.get("conflict", 0),
        unknown=counters.get("unknown", 0),
        signals=dict(signals),
        signals_again=counters.get("duplicate signals", 0),
        signals_dropped=counters.get("dropped signals", 0),
        orphans=counters.get("orphan signals", 0),
        late_signals=counters.get("late signals", 0),
        outcomes=named("outcome "),
        delays={int(bound): count for bound, count in sorted(named("delay ").items(), key=lambda one: int(one[0]))},
        failure=None if failure is None else f"{type(failure).__name__}: {failure}".replace(place, "the storage"),
        maintenance=None if maintenance is None else maintenance.replace(place, "the storage"),
    )
