"""Report of a tournament: the decision as data (JSON) and as Markdown."""

from dataclasses import dataclass
from datetime import UTC, datetime

from rankduel.dashboard.leaderboard import LeaderboardRow, leaderboard
from rankduel.dashboard.ratings import Harm, harm, ratings
from rankduel.dashboard.summary import summary_sentence
from rankduel.live import LocalTournament

__all__ = ["Report", "markdown", "report"]

_MAX_TABLE_RANKERS = 20


@dataclass(frozen=True, slots=True)
class Report:
    """The decision of a tournament, or its state before one."""

    tournament: str
    status: str
    sentence: str
    promise: str  # what is guaranteed, in words
    winner: str | None
    tied: list[str]
    champion: str
    certainty: float | None
    bandit: str
    baseline: str | None
    begun: float
    until: float
    duels: int  # resolved
    issued: int
    expired: int
    harm: Harm | None
    rankers: list[LeaderboardRow]  # all that were tried, in the order of the leaderboard
    best_exists: float  # a p-value of "some ranker is at least as good as each other one"


def report(t: LocalTournament) -> Report:
    """The report of a tournament now."""
    view, found, health = t.view(), t.decision(), t.health()
    confidence = view.decision.confidence
    return Report(
        tournament=t.name,
        status=view.status,
        sentence=summary_sentence(view, None, 0, failing=health.failure is not None),
        promise=_promise(str(found)),
        winner=found.winner,
        tied=list(found.tied),
        champion=found.champion,
        certainty=None if found.delta is None else 1 - found.delta,
        bandit=view.settings.bandit,
        baseline=view.settings.baseline,
        begun=t.audit(1, before=2)[0].time,
        until=view.time,
        duels=view.resolved,
        issued=health.counts.issued,
        expired=health.counts.expired,
        harm=harm(view, ratings(view)),
        rankers=leaderboard(view),
        best_exists=confidence.p_best_exists,
    )


def _promise(decided: str) -> str:
    """What a decision guarantees: its last sentence."""
    start = decided.rfind("With probability ")
    return decided[start:] if start >= 0 else "Nothing is guaranteed."


def markdown(made: Report) -> str:
    """The report as Markdown."""
    facts = [
        ("Winner", _code(made.winner) if made.winner else ", ".join(map(_code, made.tied)) or "not decided"),
        ("Leader now", _code(made.champion)),
        ("Certainty", "none is promised" if made.certainty is None else f"{100 * made.certainty:g} %, at any time"),
        ("Duels", f"{made.duels:,} resolved of {made.issued:,} asked for; {made.expired:,} expired"),
        ("Time", f"{_date(made.begun)} to {_date(made.until)}"),
        ("Harm to users", _harm(made.harm)),
        ("Rankers tried", f"{len(made.rankers):,}"),
        ("Baseline", "none" if made.baseline is None else _code(made.baseline)),
        ("Algorithm", _code(made.bandit)),
    ]
    head = [f"# {_plain(made.tournament)}", "", _plain(made.sentence), "", "| | |", "|---|---|"]
    table = [
        "",
        "| ranker | state | duels | share of wins | 95 % interval | evidence against it |",
        "|---|---|--:|--:|--:|--:|",
    ]
    more = len(made.rankers) - _MAX_TABLE_RANKERS
    tail = ["", f"… and {more:,} more rankers."] if more > 0 else []
    rows = [f"| {name} | {value} |" for name, value in facts]
    return "\n".join(
        [*head, *rows, "", _plain(made.promise), *table, *map(_row, made.rankers[:_MAX_TABLE_RANKERS]), *tail, ""]
    )


def _row(line: LeaderboardRow) -> str:
    evidence = "" if line.evidence is None else f"{line.evidence:.2f}"
    duels = line.wins + line.losses + line.ties
    return (
        f"| {_code(line.ranker)} | {line.state} | {duels:,} | {100 * line.rate:.1f} % | "
        f"{100 * line.low:.1f} to {100 * line.high:.1f} % | {evidence} |"
    )


def _harm(found: Harm | None) -> str:
    if found is None:
        return "not known"
    better = "worse" if found.per_page > 0 else "better"
    return (
        f"pages were {abs(100 * found.per_page):.2f} % {better} than those of {_code(found.against)}, "
        f"{abs(found.pages):,.0f} of all pages"
    )


def _date(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _code(name: str) -> str:
    """A name that stays what it is: nothing in it is markup, nor the end of a cell."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
