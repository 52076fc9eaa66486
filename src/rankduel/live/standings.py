"""Make the leaderboard, decision, timeline and preferences from a view, and the health from counters."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from operator import itemgetter

from rankduel.live.results import Counts, Departure, Health, LiveDecision, Meeting, Standing
from rankduel.live.view import View

__all__ = ["decision", "health", "leaderboard", "preferences", "timeline"]


def decision(view: View) -> LiveDecision:
    """The winner or the tied rankers, or neither before a decision."""
    return LiveDecision.of(
        view.decision,
        view.names,
        champion=view.champion,
        retired=len(view.retired),
        resolved=view.resolved,
        stopped=view.status in ("stopped", "archived"),
    )


def leaderboard(view: View, start: int = 0, stop: int | None = None) -> list[Standing]:
    """Return the rows of the leaderboard from index `start` up to `stop`, the champion first."""
    records = view.records
    return [Standing(view.names[arm], view.state_of(arm), *records[arm].tolist()) for arm in view.order[start:stop]]


def timeline(view: View, start: int = 0, stop: int | None = None) -> list[Departure]:
    """Return the eliminated and retired rankers, in the order in which they left."""
    names, eliminations = view.names, view.decision.eliminated
    gone = [(each.told, each.arm, each.by, each.evidence, "eliminated") for each in eliminations]
    if view.retired:
        gone += [(resolved, arm, -1, None, "retired") for arm, resolved in view.retired.items()]
        gone.sort(key=itemgetter(0))
    return [
        Departure(names[arm], resolved, names[by] if by >= 0 else None, evidence, len(names) - n, state)
        for n, (resolved, arm, by, evidence, state) in enumerate(gone[start:stop], start + 1)
    ]


def preferences(view: View, start: int = 0, stop: int | None = None) -> list[Meeting]:
    """Return all pairs that have met, ordered by their first ranker, then by their second."""
    names = view.names
    return [
        Meeting(names[first], names[second], won, won if first == second else lost, tied)
        for first, second, won, lost, tied in view.meetings[start:stop].tolist()
    ]


def health(
    counters: Mapping[str, int],
    failure: Exception | None,
    redacted: Callable[[str], str],
    *,
    actions: Collection[str] = (),
    maintenance: str | None = None,
    clock: str | None = None,
) -> Health:
    """Make the health of a tournament from its counters and its failures.

    Signals of actions that are not in `actions` count as "other". `redacted` removes the address of the storage from
    messages, because every reader of the service sees them.
    """

    def named(word: str) -> dict[str, int]:
        return {name.removeprefix(word): count for name, count in counters.items() if name.startswith(word)}

    signals: Counter[str] = Counter()
    if counters.get("undeclared actions"):
        signals["other"] = counters["undeclared actions"]
    for action, count in named("action ").items():
        signals[action if action in actions else "other"] += count
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
        delays={int(bound): count for bound, count in sorted(named("delay ").items(), key=lambda item: int(item[0]))},
        failure=None if failure is None else redacted(f"{type(failure).__name__}: {failure}"),
        maintenance=None if maintenance is None else redacted(maintenance),
        clock=clock,
    )
