"""Report of a tournament: the decision and all rankers, as data (JSON) and as Markdown."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from rankduel.bandits.decision_text import DOUBT_P_VALUE, confidence_percent
from rankduel.dashboard.evidence import evidence_share
from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.dashboard.ratings import UserEffect, ratings, user_effect
from rankduel.live import LiveDecision, LocalTournament
from rankduel.live.standings import decision

__all__ = ["Report", "confidence_reached", "markdown", "report"]

_MAX_TABLE_RANKERS = 20
_STATES = {"left": "remaining", "out": "eliminated"}  # other states are shown by name


@dataclass(frozen=True, slots=True)
class Report:
    """The decision of a tournament, or its state before one.

    `confidence` is the confidence that a decision has. It is reached only if `confidence_reached` is true. `enough` is
    the evidence that eliminates a ranker, a natural logarithm.
    """

    tournament: str
    status: str
    headline: str  # what is decided, in one line
    meaning: str  # the assumptions on which the headline holds
    winner: str | None
    tied: list[str]
    champion: str
    confidence: float | None  # None: the bandit gives no guarantee
    confidence_reached: bool
    bandit: str
    baseline: str | None
    begun: float
    until: float
    duels: int  # resolved
    issued: int
    expired: int
    effect: UserEffect | None  # on users so far
    rankers: list[LeaderboardRow]  # all rankers, in the order of the leaderboard
    enough: float | None  # None: the elimination rule keeps no evidence
    best_exists: float  # p-value of "one ranker is at least as good as all others"


def report(t: LocalTournament) -> Report:
    """Return the report of a tournament now."""
    view, health = t.view(), t.health()
    found = decision(view)
    return Report(
        tournament=t.name,
        status=view.status,
        headline=found.headline,
        meaning=found.meaning,
        winner=found.winner,
        tied=list(found.tied),
        champion=found.champion,
        confidence=None if found.delta is None else 1 - found.delta,
        confidence_reached=confidence_reached(found),
        bandit=view.settings.bandit,
        baseline=view.settings.baseline,
        begun=t.audit(1, before=2)[0].time,
        until=view.time,
        duels=view.resolved,
        issued=health.counts.issued,
        expired=health.counts.expired,
        effect=user_effect(view, ratings(view)),
        rankers=leaderboard(view),
        enough=view.enough,
        best_exists=found.p_best_exists,
    )


def confidence_reached(found: LiveDecision) -> bool:
    """Return whether a decision is reached, with its confidence. This is when its headline names the confidence."""
    decided = found.winner is not None or bool(found.tied)
    return decided and found.delta is not None and found.p_best_exists > DOUBT_P_VALUE


def markdown(made: Report) -> str:
    """Return the report as Markdown."""
    facts = [
        ("Winner", _winner(made)),
        ("Champion", _code(made.champion)),
        ("Confidence", _confidence(made)),
        ("Duels", f"{made.duels:,} resolved of {made.issued:,} issued, {made.expired:,} expired"),
        ("Time", f"{_date(made.begun)} to {_date(made.until)}"),
        ("Effect on users so far", _effect(made.effect)),
        ("Rankers", f"{len(made.rankers):,}"),
        ("Baseline", "none" if made.baseline is None else _code(made.baseline)),
        ("Algorithm", _code(made.bandit)),
    ]
    table = [
        "",
        "| ranker | state | duels | win rate | 95 % interval | evidence against |",
        "|---|---|--:|--:|--:|--:|",
    ]
    rows = [_row(row, made.enough) for row in made.rankers[:_MAX_TABLE_RANKERS]]
    more = len(made.rankers) - _MAX_TABLE_RANKERS
    tail = ["", f"{more:,} more rankers are not shown."] if more > 0 else []
    title = f"# {_plain(made.tournament)}"
    head = [title, "", _plain(made.headline), "", _plain(made.meaning), "", "| | |", "|---|---|"]
    lines = [*head, *(f"| {name} | {value} |" for name, value in facts), *table, *rows, *tail]
    return "\n".join([*lines, "", " ".join(_notes(made)), ""])


def _notes(made: Report) -> Iterator[str]:
    yield "Intervals: each contains the mean win probability over the duels played, with 95 % confidence at any time."
    if made.enough is not None:
        yield "Evidence against: high is bad for the ranker, and 100 % eliminates it."
    if made.effect is not None:
        against = _code(made.effect.against)
        yield f"Effect: the estimated probability that users prefer the rankers of a duel to {against}, minus 50 %."


def _winner(made: Report) -> str:
    last = [made.winner] if made.winner is not None else made.tied
    if not last:
        return "no decision yet"
    names = ", ".join(map(_code, last))
    if made.confidence is not None and not made.confidence_reached:
        return f"unclear: {names} left, but no ranker beats all others"
    return names if made.winner is not None else f"tied: {names}"


def _confidence(made: Report) -> str:
    if made.confidence is None:
        return "none, this bandit gives no guarantee"
    percent = confidence_percent(1 - made.confidence)
    return f"at least {percent}" if made.confidence_reached else f"not reached, at least {percent} required"


def _row(row: LeaderboardRow, enough: float | None) -> str:
    share = evidence_share(row, enough)
    evidence = "–" if share is None else f"{math.floor(100 * share)} %"
    duels = row.wins + row.losses + row.ties
    return (
        f"| {_code(row.ranker)} | {_STATES.get(row.state, row.state)} | {duels:,} | {100 * row.rate:.1f} % | "
        f"{100 * row.low:.1f} to {100 * row.high:.1f} % | {evidence} |"
    )


def _effect(effect: UserEffect | None) -> str:
    if effect is None:
        return "unknown"
    better = "better" if effect.per_page >= 0 else "worse"
    return f"{abs(100 * effect.per_page):.2f} % {better} than {_code(effect.against)}"


def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _code(name: str) -> str:
    """Return a name as code, so that Markdown shows its special characters unchanged."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Escape the special characters of Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
