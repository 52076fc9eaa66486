"""The report of a tournament as Markdown."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime

from rankduel.bandits.decision_text import confidence_percent
from rankduel.dashboard.leaderboard import LeaderboardRow
from rankduel.dashboard.report import Report
from rankduel.dashboard.user_effect import UserEffect

__all__ = ["markdown"]

_MAX_TABLE_RANKERS = 20
_STATES = {"left": "remaining"}  # other states are shown by name


def markdown(made: Report) -> str:
    """Return the report as Markdown."""
    lines = [
        f"# {_plain(made.tournament)}",
        "",
        _plain(made.headline),
        "",
        f"Now: {_plain(made.users_see)}",
        "",
        "## What to do next",
        "",
    ]
    lines += [f"{n}. **{_plain(one.action)}.** {_plain(one.reason)}" for n, one in enumerate(made.next_steps, 1)]
    if made.comparisons:
        lines += ["", f"## {_plain(made.comparisons[0].winner)} against the baseline and its rivals", ""]
        lines += [f"- {', '.join(one.roles).capitalize()}: {_plain(one.sentence)}" for one in made.comparisons]
    lines += ["", "## What it cost or gained users", "", _plain(made.effect_text)]
    lines += ["", "## Facts", "", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in _facts(made))]
    lines += ["", "## Timeline", "", "| time | duels | event |", "|---|--:|---|"]
    lines += [f"| {_date(one.time)} | {_number(one.resolved)} | {_plain(one.text)} |" for one in made.timeline]
    lines += ["", "## Rankers", "", *_table(made.rankers)]
    lines += ["", "## Assumptions, and how to read the numbers", ""]
    lines += [f"- {_plain(text)}" for text in made.assumptions]
    return "\n".join([*lines, ""])


def _facts(made: Report) -> Iterator[tuple[str, str]]:
    yield "Status", made.status.replace("_", " ")
    yield "Winner", _winner(made)
    yield "Champion", _code(made.champion)
    yield "Confidence", _confidence(made)
    yield "Duels", f"{made.duels:,} resolved of {made.issued:,} issued, {made.expired:,} expired"
    yield "Ties", f"{made.ties:,} ({100 * made.ties / max(1, made.duels):.1f} % of the resolved duels)"
    yield "Clients", _number(made.clients)
    yield "Time", f"{_date(made.begun)} to {_date(made.until)}"
    yield "Effect on users so far", _effect(made.effect)
    yield "Rankers", f"{len(made.rankers):,}"
    yield "Baseline", "none" if made.baseline is None else _code(made.baseline)
    yield "Algorithm", _code(made.bandit)


def _table(rankers: list[LeaderboardRow]) -> Iterator[str]:
    yield "| ranker | state | rating | duels | decisive wins | 95 % interval | ties | evidence against |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    yield from map(_row, rankers[:_MAX_TABLE_RANKERS])
    more = len(rankers) - _MAX_TABLE_RANKERS
    if more > 0:
        yield from ("", f"{more:,} more rankers are not shown.")


def _row(row: LeaderboardRow) -> str:
    evidence = "–" if row.evidence is None else f"{math.floor(100 * row.evidence)} %"
    duels = row.wins + row.losses + row.ties
    return (
        f"| {_code(row.ranker)} | {_STATES.get(row.state, row.state)} | {100 * row.rating:.1f} % | {duels:,} | "
        f"{100 * row.win_share:.1f} % | {100 * row.low:.1f} to {100 * row.high:.1f} % | {100 * row.tie_share:.1f} % | "
        f"{evidence} |"
    )


def _winner(made: Report) -> str:
    last = [made.winner] if made.winner is not None else made.tied
    if not last:
        return "stopped before a decision" if made.status in ("stopped", "archived") else "no decision yet"
    names = ", ".join(map(_code, last))
    if made.confidence is not None and not made.confidence_reached:
        return f"unclear: {names} left, but no ranker beats all others"
    return names if made.winner is not None else f"tied: {names}"


def _confidence(made: Report) -> str:
    if made.confidence is None:
        return "none, this bandit gives no guarantee"
    percent = confidence_percent(1 - made.confidence)
    return f"at least {percent}" if made.confidence_reached else f"not reached, at least {percent} required"


def _effect(effect: UserEffect | None) -> str:
    if effect is None:
        return "unknown"
    better = "better" if effect.per_page >= 0 else "worse"
    return f"{abs(100 * effect.per_page):.2f} % {better} than {_code(effect.against)}"


def _number(n: int | None) -> str:
    return "unknown" if n is None else f"{n:,}"


def _date(time: float | None) -> str:
    return "unknown" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _code(name: str) -> str:
    """Return a name as code, so that Markdown shows its special characters unchanged."""
    return "`" + name.replace("`", "'").replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Escape the special characters of Markdown."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
