"""Health status of a tournament: good, warning or bad, with reasons."""

import math
from dataclasses import dataclass

from rankduel.live import Event, Health, View

__all__ = ["HealthStatus", "fair_sides", "fallback", "health_status"]

_MIN_RESOLVED_DUELS = 200  # with fewer, no share is checked
_MIN_JOINED_SHARE = 0.5  # of finished duels that did not expire
_FALSE_ALARM_PROBABILITY = 0.001  # of the side check, over the whole tournament


@dataclass(frozen=True, slots=True)
class HealthStatus:
    """The health of a tournament. `state` is good, warning or bad. `reasons` are sentences, the worst first."""

    state: str
    reasons: list[str]


def fair_sides(health: Health) -> float:
    """Return the p-value of "first and second win equally often". It is valid whenever you look.

    Each duel is an A/A test of pages and clicks. A secret coin flip decides which ranker is first. So each outcome that
    is not a tie is "first" with probability 1/2, given the past, whatever the rankers are and however they were chosen.
    The p-value is 1 over the wealth of a bet on the side, a uniform mixture over all probabilities of "first" (Ville's
    inequality).
    """
    first, second = health.outcomes.get("first", 0), health.outcomes.get("second", 0)
    n = first + second
    evidence = math.lgamma(first + 1) + math.lgamma(second + 1) - math.lgamma(n + 2) + n * math.log(2)
    return min(1.0, math.exp(-evidence)) if evidence < 700 else 0.0


def health_status(view: View, health: Health, paused: Event | None = None) -> HealthStatus:
    """Return the health status of a tournament. `paused` is the event that paused it."""
    counts = health.counts
    bad, warnings = [], []
    if health.failure is not None:
        bad.append(f"Failure: {health.failure}. See the server's log.")
    if health.maintenance is not None:
        bad.append(f"Maintenance failed: {health.maintenance}. Guardrails may be off. See the server's log.")
    if health.clock is not None:
        warnings.append(health.clock)
    if counts.failed:
        warnings.append(f"{counts.failed:,} duels could not be resolved. The page of each duel shows the reason.")
    finished = counts.resolved + counts.no_signal + counts.expired
    if finished >= _MIN_RESOLVED_DUELS and health.joined < _MIN_JOINED_SHARE:
        warnings.append(f"{100 * (1 - health.joined):.0f} % of the duels expired without an outcome.")
    if counts.resolved >= _MIN_RESOLVED_DUELS and health.conflicts > counts.resolved / 100:
        warnings.append(f"{health.conflicts:,} tells contradict the stored outcome of their duel. They are ignored.")
    if counts.resolved >= _MIN_RESOLVED_DUELS and health.unknown > counts.resolved / 100:
        warnings.append(f"{health.unknown:,} tells name an unknown duel.")
    p = fair_sides(health)
    if p < _FALSE_ALARM_PROBABILITY:
        warnings.append(
            f"One side wins too often (p = {p:.1g}). Check that users see pages as they were built, and that clicks "
            "are credited to the right ranker."
        )
    if view.status == "paused" and health.failure is None:
        warnings.append(f"{_pause(paused)}. Users see {fallback(view)}.")
    return HealthStatus("bad" if bad else "warning" if warnings else "good", bad + warnings)


def fallback(view: View) -> str:
    """Name the ranker that users see without a duel."""
    return "the champion" if view.settings.baseline is None else "the baseline"


def _pause(paused: Event | None) -> str:
    """Say who paused a tournament, and why."""
    by, reason = ("", "") if paused is None else (paused.body["by"], paused.body["reason"])
    text = "Paused by a guardrail" if by == "guardrail" else f"Paused by {by}" if by else "Paused"
    return f"{text}: {reason}" if reason else text
