"""Where a tournament stands, read from its state and its counters."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from rankduel.live.answers import Counts, Departure, Health, LiveDecision, Meeting, Standing
from rankduel.live.state import State

__all__ = ["decision", "health", "leaderboard", "preferences", "timeline"]


def decision(state: State) -> LiveDecision:
    """The winner, or the rankers that are tied, or where it stands."""
    names, found = state.rankers, state.bandit.decision()
    return LiveDecision(
        None if found.winner is None else names[found.winner],
        tuple(names[arm] for arm in found.tied),
        names[state.bandit.champion],
        tuple(names[arm] for arm in found.confidence.alive),
        tuple(names[gone.arm] for gone in found.eliminated),
        found.confidence.delta,
        found.confidence.tolerance,
    )


def leaderboard(state: State) -> list[Standing]:
    """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""
    wins, losses, ties = Counter[int](), Counter[int](), Counter[int]()
    for (won, lost), count in state.wins.items():
        wins[won] += count
        losses[lost] += count
    for (first, second), count in state.ties.items():
        ties[first] += count
        ties[second] += count if second != first else 0
    champion, left = state.bandit.champion, set(state.bandit.alive.tolist())
    went = {gone.arm: place for place, gone in enumerate(state.bandit.decision().eliminated)}

    def line(arm: int) -> Standing:
        out = "retired" if arm in state.retired else "out"
        word = "paused" if arm in state.paused else "champion" if arm == champion else "left"
        return Standing(state.rankers[arm], word if arm in left else out, wins[arm], losses[arm], ties[arm])

    def order(arm: int) -> tuple[int, float]:
        if arm in left:
            return arm != champion, -lines[arm].rate
        return 3 if arm in state.retired else 2, -went.get(arm, 0)

    lines = [line(arm) for arm in range(len(state.rankers))]
    return [lines[arm] for arm in sorted(range(len(lines)), key=order)]


def timeline(state: State) -> list[Departure]:
    """The rankers that are out, in the order in which they went."""
    gone = state.bandit.decision().eliminated
    names = state.rankers
    return [
        Departure(names[one.arm], one.told, names[one.by] if one.by >= 0 else None, one.evidence, len(names) - place)
        for place, one in enumerate(gone, 1)
    ]


def preferences(state: State) -> Iterator[Meeting]:
    """All pairs that have met, in the order of their first ranker, then of their second."""
    pairs = {(min(pair), max(pair)) for counts in (state.wins, state.ties) for pair in counts}
    for first, second in sorted(pairs):
        won, lost = state.wins.get((first, second), 0), state.wins.get((second, first), 0)
        names = state.rankers
        yield Meeting(names[first], names[second], won, lost, state.ties.get((first, second), 0))


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
