"""Judge claims: verdicts, their evidence, and comparisons with a statistical margin."""

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

MARGIN_STANDARD_ERRORS = 2.0  # margin of a comparison, in standard errors of the difference
SIGNIFICANCE_LEVEL = 0.05  # level of Fisher's exact test for counts


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a claim: the state, the measured numbers, and the reason."""

    state: State
    measured: str
    why: str = ""

    @property
    def summary(self) -> str:
        """The measured numbers, with the reason in parentheses."""
        return f"{self.measured} ({self.why})" if self.measured and self.why else self.measured or self.why


class NotTestable(Exception):  # noqa: N818 - not an error
    """A claim needs a measurement that is missing here."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """All measurements, by question and part. `seen` lists those that a claim has used."""

    questions: Mapping[str, Mapping[str, Measured]]
    seen: list[Measured] = field(default_factory=list)

    def part(self, question: str, part: str) -> Measured:
        """The measurements of a part. NotTestable if it was not run."""
        found = self.questions.get(question, {}).get(part)
        if found is None:
            raise NotTestable(f"{question}, part {part}, was not run")
        self.seen.append(found)
        return found

    def series(self, question: str, part: str, label: str) -> Series:
        """The runs of a bandit in a part. NotTestable if it was not run."""
        found = self.part(question, part)
        if label not in found.series:
            raise NotTestable(f"{label} was not run in {question}, part {part}")
        return found.series[label]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper, and the function that judges it from the stored results."""

    id: str  # "rq1-..."
    text: str
    where: str
    judge: Callable[[Evidence], Verdict]
    any_data: bool = False  # whether a stand-in can decide it

    @property
    def question(self) -> str:
        """The name of the spec that tests the claim."""
        return self.id.partition("-")[0]

    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge the claim. With stand-in data the state is "not testable here", unless `any_data` is set."""
        mine = Evidence(evidence.questions)
        try:
            verdict = self.judge(mine)
        except NotTestable as reason:
            return Verdict("not testable here", "", str(reason))
        origins = {measured.facts["origin"]: measured for measured in mine.seen}
        if "stand-in" in origins and not self.any_data and verdict.state != "not testable here":
            name = origins["stand-in"].facts["problem"]
            return Verdict(
                "not testable here", verdict.measured, f"no {name} data; on the stand-in, the claim {_says(verdict)}"
            )
        if "sample" in origins:
            told = origins["sample"].facts["told"]
            return replace(verdict, why="; ".join(filter(None, [verdict.why, told])))
        return verdict


def _says(verdict: Verdict) -> str:
    return "is not decided" if verdict.state == "not decided here" else verdict.state


def figure(value: float) -> str:
    """Format a number for tables and sentences.

    >>> figure(16349.2), figure(0.0123), figure(3.14159)
    ('16,349', '0.0123', '3.14')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def mean(values: Floats) -> tuple[float, float]:
    """The mean and its standard error. NotTestable for a single run."""
    if len(values) < 2:
        raise NotTestable("a standard error needs at least two runs")
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values)))


def different(smaller: Floats, larger: Floats) -> State:
    """Judge whether one mean is below another, with a margin of two standard errors of the difference.

    >>> different(np.array([1.0, 1.1, 0.9]), np.array([5.0, 5.1, 5.2]))
    'holds'
    """
    (low, low_error), (high, high_error) = mean(smaller), mean(larger)
    margin = MARGIN_STANDARD_ERRORS * math.hypot(low_error, high_error)
    if high - low > margin:
        return "holds"
    return "does not hold" if low - high > margin else "not decided here"


def all_of(states: Sequence[State]) -> State:
    """Combine the states of several comparisons: the claim holds only if all of them hold."""
    for state in ("does not hold", "not testable here", "not decided here"):
        if state in states:
            return state
    return "holds"


def ordered(series: Sequence[tuple[str, Floats]], *, what: str) -> Verdict:
    """Judge whether each mean is lower than the next. The margin is two standard errors of the difference.

    `what` names the quantity, for the sentence.
    """
    states = [different(lower[1], higher[1]) for lower, higher in pairwise(series)]
    numbers = ", ".join(apart(name, values) for name, values in series)
    state = all_of(states)
    why = "a difference counts only if it exceeds 2 standard errors" if state == "not decided here" else ""
    return Verdict(state, f"{what}: {numbers}", why)


def apart(name: str, values: Floats) -> str:
    """Format mean and standard error, as in "MergeDTS 16,349 ± 273"."""
    middle, error = mean(values)
    return f"{name} {figure(middle)} ± {figure(error)}"


def same_rate(found: int, runs: int, theirs: int, their_runs: int = 100) -> State:
    """Judge by Fisher's exact test, two-sided, whether two counts fit one probability. Needs at least 50 runs.

    >>> same_rate(9, 100, 10), same_rate(40, 100, 10), same_rate(0, 5, 10)
    ('holds', 'does not hold', 'not testable here')
    """
    if runs < 50:
        return "not testable here"
    return "holds" if _fisher(found, runs, theirs, their_runs) >= SIGNIFICANCE_LEVEL else "does not hold"


def _fisher(a: int, n: int, b: int, m: int) -> float:
    """The p-value: the probability of all splits at most as likely as this one, given the sum of both counts."""
    total = a + b
    ways = {k: math.comb(n, k) * math.comb(m, total - k) for k in range(max(0, total - m), min(n, total) + 1)}
    return sum(way for way in ways.values() if way <= ways[a]) / math.comb(n + m, total)


def compare_counts(found: int, runs: int, theirs: int) -> Verdict:
    """Compare a count with the paper's count of 100 runs."""
    state = same_rate(found, runs, theirs)
    test = f"Fisher's exact test at level {SIGNIFICANCE_LEVEL}"
    why = f"{runs} runs are too few for {test}" if state == "not testable here" else test
    return Verdict(state, f"{found} of {runs} runs, paper: {theirs} of 100", why)
