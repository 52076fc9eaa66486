"""Judging claims: verdicts, the evidence they rest on, and comparisons with a statistical margin."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from rankduel.lab.measurements import Measured, Series

__all__ = [
    "MARGIN_STANDARD_ERRORS",
    "Claim",
    "Evidence",
    "NotTestable",
    "State",
    "Verdict",
    "all_of",
    "apart",
    "same_rate",
    "compare_counts",
    "different",
    "figure",
    "mean",
    "ordered",
]

State = Literal["holds", "does not hold", "not decided here", "not testable here"]
Floats = npt.NDArray[np.float64]

MARGIN_STANDARD_ERRORS = 2.0  # of a difference
SIGNIFICANCE_LEVEL = 0.05  # of the exact test for counts


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a claim."""

    state: State
    measured: str
    why: str = ""

    @property
    def summary(self) -> str:
        """The numbers, and why they decide or do not."""
        return f"{self.measured} ({self.why})" if self.measured and self.why else self.measured or self.why


class NotTestable(Exception):  # noqa: N818 - nothing is wrong
    """A claim needs something that was not measured here."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything that was measured, by question and part. `seen` lists what a claim used."""

    questions: Mapping[str, Mapping[str, Measured]]
    seen: list[Measured] = field(default_factory=list)

    def part(self, question: str, part: str) -> Measured:
        """What was measured in a part."""
        found = self.questions.get(question, {}).get(part)
        if found is None:
            raise NotTestable(f"{question}, part {part}, was not run")
        self.seen.append(found)
        return found

    def series(self, question: str, part: str, label: str) -> Series:
        """The runs of a bandit in a part."""
        found = self.part(question, part)
        if label not in found.series:
            raise NotTestable(f"{label} was not run in {question}, part {part}")
        return found.series[label]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, and the function of the stored results that judges it."""

    id: str  # "rq1-..."
    text: str
    where: str
    judge: Callable[[Evidence], Verdict]
    any_data: bool = False  # does it say something of a stand-in too?

    @property
    def question(self) -> str:
        """The name of the spec that answers it."""
        return self.id.partition("-")[0]

    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge; what rests on a stand-in says nothing of the paper's data, whatever came out."""
        mine = Evidence(evidence.questions)
        try:
            verdict = self.judge(mine)
        except NotTestable as reason:
            return Verdict("not testable here", "", str(reason))
        origins = {measured.facts["origin"]: measured for measured in mine.seen}
        if "stand-in" in origins and not self.any_data and verdict.state != "not testable here":
            name = origins["stand-in"].facts["problem"]
            return Verdict(
                "not testable here", verdict.measured, f"no {name} data; on the stand-in, it {_says(verdict)}"
            )
        if "sample" in origins:
            told = origins["sample"].facts["told"]
            return replace(verdict, why="; ".join(filter(None, [verdict.why, told])))
        return verdict


def _says(verdict: Verdict) -> str:
    return "is not decided" if verdict.state == "not decided here" else verdict.state


def figure(value: float) -> str:
    """A number as tables have it.

    >>> figure(16349.2), figure(0.0123), figure(3.14159)
    ('16,349', '0.0123', '3.14')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def mean(values: Floats) -> tuple[float, float]:
    """With its standard error; one run alone decides nothing."""
    if len(values) < 2:
        raise NotTestable("a single run has no standard error")
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def different(smaller: Floats, larger: Floats) -> State:
    """Is the one mean below the other by more than two standard errors of the difference? Above? Or neither?

    >>> different(np.array([1.0, 1.1, 0.9]), np.array([5.0, 5.1, 5.2]))
    'holds'
    """
    (low, low_error), (high, high_error) = mean(smaller), mean(larger)
    margin = MARGIN_STANDARD_ERRORS * math.hypot(low_error, high_error)
    if high - low > margin:
        return "holds"
    return "does not hold" if low - high > margin else "not decided here"


def all_of(states: Sequence[State]) -> State:
    """One that does not hold decides; else one that is open does."""
    for state in ("does not hold", "not testable here", "not decided here"):
        if state in states:
            return state
    return "holds"


def ordered(series: Sequence[tuple[str, Floats]], *, what: str = "") -> Verdict:
    """Each is lower than the next one. The margin is two standard errors of the difference."""
    states = [different(lower[1], higher[1]) for lower, higher in pairwise(series)]
    told = " < ".join(name for name, _ in series)
    numbers = ", ".join(apart(name, values) for name, values in series)
    state = all_of(states)
    why = f"{told} needs differences of more than 2 standard errors" if state == "not decided here" else ""
    return Verdict(state, f"{numbers}{what}", why)


def apart(name: str, values: Floats) -> str:
    """Mean and standard error, as in "MergeDTS 16,349 ± 273"."""
    middle, error = mean(values)
    return f"{name} {figure(middle)} ± {figure(error)}"


def same_rate(found: int, runs: int, theirs: int, their_runs: int = 100) -> State:
    """Fisher's exact test, two-sided: do both counts fit one probability? With too few runs nobody could tell.

    >>> same_rate(9, 100, 10), same_rate(40, 100, 10), same_rate(0, 5, 10)
    ('holds', 'does not hold', 'not testable here')
    """
    if runs < 50:
        return "not testable here"
    return "holds" if _fisher(found, runs, theirs, their_runs) >= SIGNIFICANCE_LEVEL else "does not hold"


def _fisher(a: int, n: int, b: int, m: int) -> float:
    """The chance of a split at least as unlikely as this one, given the sum of both counts."""
    total = a + b
    ways = {k: math.comb(n, k) * math.comb(m, total - k) for k in range(max(0, total - m), min(n, total) + 1)}
    return sum(way for way in ways.values() if way <= ways[a]) / math.comb(n + m, total)


def compare_counts(found: int, runs: int, theirs: int) -> Verdict:
    """Compare a count with the paper's count of 100 runs."""
    state = same_rate(found, runs, theirs)
    why = f"{runs} runs are too few" if state == "not testable here" else f"Fisher's exact test at {SIGNIFICANCE_LEVEL}"
    return Verdict(state, f"{found} of {runs} (paper: {theirs} of 100)", why)
