"""Claims on the parameters alpha, M and C. Section 6.7."""

import numpy as np

from rankduel.lab.claims.forms import Judge, until, within
from rankduel.lab.judging import Claim, Evidence, Verdict, compare_counts, ordered, same_rate
from rankduel.lab.measurements import Measured, Series

__all__ = ["CLAIMS"]

WHERE = "Section 6.7, Figure 6"


def _alpha(evidence: Evidence, power: int) -> tuple[Measured, Series]:
    part = "alpha" if power < 6 else "alpha-low"
    series = evidence.series("rq7", part, f"alpha=0.8**{power}")
    until([series], 1e7)
    return evidence.part("rq7", part), series


def _third(evidence: Evidence) -> Verdict:
    (_, low), (_, high) = _alpha(evidence, 4), _alpha(evidence, 0)
    return within(low.regret[:, -1], high.regret[:, -1], low=0.25, high=0.42, what="regret at alpha 0.8^4 / alpha 1")


def _failures(power: int, theirs: int) -> Judge:
    def judged(evidence: Evidence) -> Verdict:
        measured, series = _alpha(evidence, power)
        return compare_counts(measured.lost(series) or 0, series.runs, theirs)

    return judged


def _larger_batches(evidence: Evidence) -> Verdict:
    series = [evidence.series("rq7", "batch", f"M={size}") for size in (16, 8, 4, 2)]
    duels = until(series, 1e7)
    return ordered([(each.label, each.regret_at(duels)) for each in series], what=f"regret after {duels:,.0f} duels")


def _lost_by_c(evidence: Evidence) -> dict[str, tuple[int, int]]:
    measured = evidence.part("rq7", "c")
    until(list(measured.series.values()), 1e7)
    return {label: (measured.lost(series) or 0, series.runs) for label, series in measured.series.items()}


def _smallest_c(evidence: Evidence) -> Verdict:
    lost = _lost_by_c(evidence)
    counts = ", ".join(f"{label} {failures}/{runs}" for label, (failures, runs) in lost.items())
    told = f"runs that eliminated the winner: {counts}"
    safe = same_rate(*lost["C=4000000"], 0)
    if safe != "holds":
        return Verdict(safe, told)
    below = [failures for label, (failures, _) in lost.items() if float(label[2:]) < 4e6]
    if lost["C=4000000"][0] == 0 and all(below):
        return Verdict("holds", told)
    return Verdict("not decided here", told, "these runs are too few to see a failure that happens in 1 of 100 runs")


def _lower_c(evidence: Evidence) -> Verdict:
    """Compare when runs converge. A run that eliminates the winner counts as a failure in `_smallest_c`."""
    series = [evidence.series("rq7", "c", f"C={c}") for c in (400, 4_000_000)]
    duels = until(series, 1e7)
    ends = [(each.label, np.where(each.converged_at < 0, duels, each.converged_at)) for each in series]
    return ordered(ends, what="duels until one arm is left")


CLAIMS = (
    Claim("rq7-third", "The regret at alpha = 0.8^4 is about a third of the regret at alpha = 1", WHERE, _third),
    *(
        Claim(
            f"rq7-failures-{power}",
            f"At alpha = 0.8^{power}, MergeDTS eliminates the winner in {failures} of 100 runs",
            "Section 6.7",
            _failures(power, failures),
        )
        for power, failures in ((9, 10), (8, 4), (7, 1), (6, 0))
    ),
    Claim("rq7-batches", "Regret falls as M grows (2, 4, 8, 16)", WHERE, _larger_batches),
    Claim(
        "rq7-smallest-c", "C = 4,000,000 is the lowest value at which no run eliminates the winner", WHERE, _smallest_c
    ),
    Claim(
        "rq7-lower-c", "With lower C, runs converge sooner, and regret is lower if the winner is kept", WHERE, _lower_c
    ),
)
