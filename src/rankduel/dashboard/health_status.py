"""Health status of a tournament: good, warning or bad, with the reasons, worst first."""

import math
from dataclasses import dataclass

from rankduel.live import Event, Health, View

__all__ = ["HealthStatus", "fair_sides", "health_status"]

_MIN_RESOLVED_DUELS = 200  # before shares are judged
_MIN_RESOLVED_SHARE = 0.5  # of duels, in time
_FALSE_ALARM_PROBABILITY = 0.001  # of a false alarm about the sides, at any time


@dataclass(frozen=True, slots=True)
class HealthStatus:
    """`state` is good, warning or bad; `reasons` say why, in whole sentences."""

    state: str
    reasons: list[str]


def fair_sides(health: Health) -> float:
    """A p-value, good at any time, of "first and second win equally often".

    Each duel is an A/A check of pages and clicks: a coin says who is first, and nobody else knows it. So whatever the
    rankers are, whoever chose them, and however that hangs on what happened before, each outcome that is no tie is
    "first" with a chance of 1/2. By a bet on the side, uniform over its chance, and Ville's inequality.
    """
    first, second = health.outcomes.get("first", 0), health.outcomes.get("second", 0)
    n = first + second
    evidence = math.lgamma(first + 1) + math.lgamma(second + 1) - math.lgamma(n + 2) + n * math.log(2)
    return min(1.0, math.exp(-evidence)) if evidence < 700 else 0.0


def health_status(view: View, health: Health, paused: Event | None = None) -> HealthStatus:
    """What should be looked at; `paused` is the event that has paused the tournament."""
    counts = health.counts
    bad, warnings = [], []
    if health.failure is not None:
        bad.append(f"What has failed: {health.failure}. The server's log has more.")
    if health.maintenance is not None:
        bad.append(f"Maintenance fails: {health.maintenance}. Guardrails may be off. The server's log has more.")
    if counts.failed:
        warnings.append(f"{counts.failed:,} duels could not be resolved; the page of each duel says why.")
    over = counts.resolved + counts.no_signal + counts.expired
    if over >= _MIN_RESOLVED_DUELS and health.joined < _MIN_RESOLVED_SHARE:
        warnings.append(f"Only {health.joined:.0%} of the duels were resolved in time; the others teach nothing.")
    if counts.resolved >= _MIN_RESOLVED_DUELS and health.conflicts > counts.resolved / 100:
        warnings.append(f"{health.conflicts:,} outcomes were told twice and differently: the first one stays.")
    if counts.resolved >= _MIN_RESOLVED_DUELS and health.unknown > counts.resolved / 100:
        warnings.append(f"{health.unknown:,} outcomes were told of duels that there never were.")
    p = fair_sides(health)
    if p < _FALSE_ALARM_PROBABILITY:
        warnings.append(f"One side wins too often (p = {p:.1g}): are pages shown as they were made?")
    decided = view.decision.winner is not None or view.decision.tied
    if view.status == "paused" and health.failure is None and not decided:
        warnings.append(f"{_pause(paused)}. Users see the baseline.")
    return HealthStatus("bad" if bad else "warning" if warnings else "good", bad + warnings)


def _pause(paused: Event | None) -> str:
    """Who has paused a tournament, and why."""
    by, reason = ("", "") if paused is None else (paused.body["by"], paused.body["reason"])
    who = "A guardrail has paused it" if by == "guardrail" else f"{by} has paused it" if by else "It is paused"
    return f"{who}: {reason}" if reason else who
