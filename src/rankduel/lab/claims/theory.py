"""Claims on the bound of Theorem 1 and the measured regret. Section 4.2."""

import math

from rankduel.lab.claims.forms import until
from rankduel.lab.judging import Claim, Evidence, Verdict, figure, mean, ordered
from rankduel.lab.measurements import Measured, Series

__all__ = ["CLAIMS", "theorem"]

WHERE = "Section 4.2, Theorem 1"
THEORETICAL = "MergeDTS.theoretical"


def theorem(measured: Measured, series: Series) -> float | None:
    """The bound of Theorem 1: 8 alpha M K ln(T + C) / Delta_min^2. None if Delta_min is not known."""
    gap = measured.facts["smallest_difference"]
    if not gap:
        return None
    options = dict(option.split("=") for option in series.spec.partition("(")[2].rstrip(")").split(", "))
    alpha, size, c = (float(options[name]) for name in ("alpha", "batch_size", "c"))
    return 8 * alpha * size * measured.n_arms * math.log(series.horizon + c) / float(gap) ** 2


def _bounded(evidence: Evidence) -> Verdict:
    told, kept = [], True
    for part in ("cycle2", "tournament", "mslr"):
        measured, series = evidence.part("theory", part), evidence.series("theory", part, THEORETICAL)
        bound = theorem(measured, series)
        assert bound is not None
        worst = float(series.regret[:, -1].max())
        kept &= worst < bound
        told.append(f"{part}: largest regret {figure(worst)}, bound {bound:.2g}")
    return Verdict("holds" if kept else "does not hold", "; ".join(told))


def _winner_kept(evidence: Evidence) -> Verdict:
    told, lost = [], 0
    for part in ("cycle2", "tournament", "mslr"):
        measured, series = evidence.part("theory", part), evidence.series("theory", part, THEORETICAL)
        until([series], 1e6)
        lost += measured.lost(series) or 0
        told.append(f"{part}: {measured.lost(series)} of {series.runs}")
    return Verdict("holds" if lost == 0 else "does not hold", f"runs that eliminated the winner: {', '.join(told)}")


def _linear(evidence: Evidence) -> Verdict:
    few, many = (evidence.series("theory", f"growth-{n_arms}", THEORETICAL) for n_arms in (32, 256))
    until([few, many], 1e6)
    (low, low_error), (high, high_error) = mean(few.regret[:, -1]), mean(many.regret[:, -1])
    exponent = math.log(high / low) / math.log(8)
    error = math.hypot(low_error / low, high_error / high) / math.log(8)
    measured = f"regret {figure(low)} at K = 32 and {figure(high)} at K = 256: K^{exponent:.2f} ± {error:.2f}"
    if exponent <= 1.15:
        return Verdict("holds", measured, "an exponent of at most 1.15 counts as linear")
    return Verdict("not decided here" if exponent - 1.15 <= 2 * error else "does not hold", measured)


def _tuned(evidence: Evidence) -> Verdict:
    both = [evidence.series("theory", "mslr", label) for label in ("MergeDTS", THEORETICAL)]
    duels = until(both, 1e6)
    return ordered([(each.label, each.regret_at(duels)) for each in both], what=f"regret after {duels:,.0f} duels")


CLAIMS = (
    Claim(
        "theory-bound",
        "With the parameters of the theorem, the regret of MergeDTS stays below the bound",
        WHERE,
        _bounded,
        any_data=True,
    ),
    Claim(
        "theory-winner",
        "With the parameters of the theorem, MergeDTS never eliminates the winner",
        WHERE,
        _winner_kept,
        any_data=True,
    ),
    Claim("theory-linear", "With the parameters of the theorem, regret grows linearly with K", WHERE, _linear),
    Claim("theory-tuned", "Tuned parameters have less regret than the theorem's (MSLR)", "Section 6.7", _tuned),
)
