"""Tables of certified bandits: regret at several horizons, the oracle's bound, and how often the guarantee held."""

import math
import re
from collections.abc import Sequence

import numpy as np

from rankduel.lab.judging import figure
from rankduel.lab.measurements import Floats, Measured, Series
from rankduel.lab.tables import Table

__all__ = [
    "oracle_regret",
    "delta_of",
    "final_regret",
    "upper_limit",
    "format_mean",
    "guarantee_table",
    "regret_table",
    "regret_until",
]

HORIZONS_DUELS = (10**4, 10**5, 10**6, 10**7)
DEFAULT_DELTA = 0.01  # for the bound of a bandit without a guarantee


def regret_table(title: str, parts: Sequence[Measured]) -> Table:
    """One row per bandit: regret at the horizons, final regret, and the bound for its delta."""
    swept = any(measured.facts["setting"] != parts[0].facts["setting"] for measured in parts)
    longest = max(series.horizon for measured in parts for series in measured.series.values())
    horizons = [duels for duels in HORIZONS_DUELS if duels <= longest]
    head = ["bandit", *(["setting"] if swept else []), "runs"]
    head += [f"regret at {duels:.0e}".replace("+0", "") for duels in horizons]
    head += ["final regret", "bound", "final / bound", "converged at (median)", "winner eliminated", "CPU us per duel"]
    rows = []
    for measured in parts:
        setting = ", ".join(f"{name}={value}" for name, value in measured.facts["setting"].items())
        for series in measured.series.values():
            row = [series.label, *([setting] if swept else []), str(series.runs)]
            row += [format_mean(regret_until(series, duels)) for duels in horizons]
            end, bound = final_regret(series), oracle_regret(measured, delta_of(series))
            row += [format_mean(end), figure(bound), "-" if end is None else figure(float(end.mean()) / bound)]
            row += [figure(_ended(series)), f"{measured.lost(series)}/{series.runs}"]
            rows.append([*row, figure(1e6 * float(series.seconds_per_duel.mean()))])
    return Table(title, head, rows)


def guarantee_table(title: str, parts: Sequence[Measured]) -> Table:
    """One row per bandit: how often a best arm was eliminated, and how often exactly the best arms were left."""
    head = ["problem", "bandit", "delay", "runs", "duels", "a best arm eliminated", "share", "upper limit (95 %)"]
    head += ["all best arms eliminated", "exactly the best arms left", "converged at (median)"]
    rows = []
    for measured in parts:
        best, delay = measured.facts["n_best"], measured.facts["delay"] or "none"
        for series in measured.series.values():
            lost = int((series.best_left < best).sum())
            alone = int(((series.converged_at >= 0) & (series.best_left == best) & (series.left == best)).sum())
            row = [
                measured.facts["problem"],
                _full(series),
                delay,
                f"{series.runs:,}",
                f"{series.horizon:,}",
                f"{lost:,}",
            ]
            row += [f"{lost / series.runs:.2%}", f"{upper_limit(lost, series.runs):.2%}"]
            rows.append([*row, f"{measured.lost(series):,}", f"{alone:,}", figure(_ended(series))])
    return Table(title, head, rows)


def regret_until(series: Series, duels: int) -> Floats | None:
    """The regret of every run after `duels` duels. None if a run was stopped earlier without having converged."""
    if duels > series.horizon and not (series.converged_at >= 0).all():
        return None
    return series.regret_at(duels)


def final_regret(series: Series) -> Floats | None:
    """The regret of every run at the horizon. None if a run did not converge."""
    return series.regret[:, -1] if (series.converged_at >= 0).all() else None


def oracle_regret(measured: Measured, delta: float) -> float:
    """The oracle's lower bound on regret for this delta."""
    return float(measured.facts["oracle"]) * math.log(1 / delta)


def delta_of(series: Series) -> float:
    """The delta of a bandit. 0.01 if it has no guarantee.

    >>> from types import SimpleNamespace
    >>> delta_of(SimpleNamespace(spec="MergeDTS(batch_size=4, elimination=Certified(delta=0.05))"))
    0.05
    """
    found = re.search(r"\bdelta=([\d.e-]+)", series.spec)
    return float(found[1]) if found else DEFAULT_DELTA


def upper_limit(times: int, runs: int, doubt: float = 0.05) -> float:
    """One-sided upper confidence limit for a probability, after `times` events in `runs` runs (Clopper and Pearson).

    The confidence is 1 - `doubt`.

    >>> round(upper_limit(0, 100), 4), round(upper_limit(5, 100), 4), upper_limit(3, 3)
    (0.0295, 0.1023, 1.0)
    """
    if times >= runs:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if _at_most(times, runs, p) > doubt else (low, p)
    return high


def _at_most(times: int, runs: int, p: float) -> float:
    """The probability of at most `times` events in `runs` runs, if each has probability p."""
    k = np.arange(times + 1)
    ways = np.array([math.lgamma(runs + 1) - math.lgamma(i + 1) - math.lgamma(runs - i + 1) for i in k.tolist()])
    return float(np.exp(ways + k * math.log(p) + (runs - k) * math.log1p(-p)).sum())


def _full(series: Series) -> str:
    """The label of a bandit, with its name if the label has only parameters."""
    name = series.spec.partition("(")[0]
    return series.label if series.label.startswith(name) else f"{name}, {series.label}"


def _ended(series: Series) -> float:
    return float(np.median(np.where(series.converged_at < 0, np.inf, series.converged_at)))


def format_mean(values: Floats | None) -> str:
    """Format a mean with its standard error. A dash if the values are not known."""
    if values is None:
        return "-"
    error = f" ± {figure(float(values.std(ddof=1) / math.sqrt(len(values))))}" if len(values) > 1 else ""
    return f"{figure(float(values.mean()))}{error}"
