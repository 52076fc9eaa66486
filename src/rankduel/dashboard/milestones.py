"""Timeline of a tournament for readers in a hurry: some eliminations, the decision, and what operators did."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankduel.live import Departure, Event, View
from rankduel.live.standings import timeline

__all__ = ["Milestone", "milestones"]

_MAX_OPERATED = 8  # events of operators and guardrails, the latest
_OPERATED = {
    "paused": "Paused",
    "started": "Started again",
    "stopped": "Stopped",
    "archived": "Archived",
    "rolled_back": "Rolled back",
}


@dataclass(frozen=True, slots=True)
class Milestone:
    """An event of a tournament. `resolved` is the number of duels before it. Both are null if they are unknown."""

    time: float | None
    resolved: int | None
    text: str


def milestones(view: View, changes: Sequence[Event], time_of: Callable[[int], float | None]) -> list[Milestone]:
    """Return the timeline, oldest first.

    `changes` are the latest events other than outcomes, newest first. `time_of` returns the time of an event by number.
    """
    oldest_first = changes[::-1]
    complete = bool(oldest_first) and oldest_first[0].kind == "created"

    def resolved_before(index: int) -> int | None:
        return oldest_first[index].number - 1 - index if complete else None

    def time_at(resolved: int) -> float | None:
        """Return the time of an outcome, by its number among all outcomes."""
        if not complete:
            return None
        number = resolved + sum((resolved_before(index) or 0) < resolved for index in range(len(oldest_first)))
        return time_of(number)

    found = [
        Milestone(event.time, resolved_before(index), text)
        for index, event in enumerate(oldest_first)
        if (text := _operated(event)) is not None
    ]
    first = [one for one in found if one.text.startswith("Created")]
    found = first + [one for one in found if one not in first][-_MAX_OPERATED:]
    found += [Milestone(time_at(resolved), resolved, text) for resolved, text in _eliminations(view)]
    return sorted(found, key=lambda one: -1 if one.resolved is None else one.resolved)


def _operated(event: Event) -> str | None:
    """Return the text of an event of an operator. None: it is not shown."""
    by, reason = event.body.get("by", ""), event.body.get("reason", "")
    tail = (f" by {by}" if by else "") + (f": {reason}" if reason else "")
    if event.kind == "created":
        return f"Created with {len(event.body['rankers']):,} rankers{tail}"
    if event.kind == "added":
        return f"{len(event.body['rankers']):,} rankers added{tail}"
    if event.kind == "retired":
        return f"{event.body['ranker']} retired{tail}"
    if event.kind == "configured":
        dials = [name.replace("_", " ") for name in event.body if name not in ("by", "reason")]
        return f"Changed {', '.join(dials)}{tail}"
    if event.kind == "rolled_out":
        return f"{event.body['ranker']} rolled out to {100 * event.body['share']:g} % of the traffic{tail}"
    return f"{_OPERATED[event.kind]}{tail}" if event.kind in _OPERATED else None


def _eliminations(view: View) -> list[tuple[int, str]]:
    """Return the eliminations to show, each with its number of duels: each halving, the baseline, and the last one."""
    gone = [one for one in timeline(view) if one.state == "eliminated"]
    total, shown = len(view.names), list[tuple[int, str]]()
    halving = total / 2
    for one in gone:
        halved = one.left <= halving
        while one.left <= halving and halving >= 1:
            halving /= 2
        last = one is gone[-1] and view.decision.winner is not None
        if halved or last or one.ranker == view.settings.baseline:
            shown.append((one.resolved, _elimination(view, one, total)))
    if view.decision.tied:
        shown.append((gone[-1].resolved if gone else view.resolved, f"{len(view.alive):,} rankers tied"))
    return shown


def _elimination(view: View, one: Departure, total: int) -> str:
    baseline = ", the baseline," if one.ranker == view.settings.baseline else ""
    by = f" by {one.by}" if one.by else ""
    left = f"{one.left:,} of {total:,} rankers left"
    if one.left == 1 and view.decision.winner is not None:
        left = f"{view.names[view.decision.winner]} is the winner"
    return f"{one.ranker}{baseline} eliminated{by}: {left}"
