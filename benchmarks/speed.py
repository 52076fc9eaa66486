"""CPU time per duel of every bandit, compared with its literal twin and with one NumPy call, in one process."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

import numpy as np

import rankduel as rd
from benchmarks.problem import ROOT, check, navigational

sys.path.insert(0, str(ROOT / "tests"))

from naive import NAIVE


@dataclass(frozen=True)
class Case:
    """A bandit, its maximum number of duels, and its target time per duel in units of (b)."""

    bandit: str
    horizon: int
    target: float | None = None


CASES = [
    Case("MergeDTS", 100_000_000, 1 / 80),
    Case("MergeRUCB", 100_000_000, 1 / 200),
    Case("DTS", 1_000_000, 1 / 4),
    Case("RMED1", 1_000_000, 1 / 60),
    Case("SelfSparring", 1_000_000, 1 / 10),
    Case("REX3", 1_000_000, 1 / 100),
]


def cases() -> list[Case]:
    """All bandits of the registry, those with a target first."""
    named = {case.bandit for case in CASES}
    return CASES + [Case(name, 1_000_000) for name in rd.REGISTRY if name not in named]


@dataclass
class Times:
    """CPU seconds of several repetitions."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def minimum(self) -> float:
        return min(self.seconds)


@dataclass(frozen=True)
class Measured:
    """Measurements of one bandit, a row of the table."""

    case: Case
    run: rd.Run
    kernel: Times  # seconds per duel
    whole: Times  # seconds per run
    unit: Times  # seconds per call of (b), measured between the runs
    twin: Times  # seconds per duel


def per_call(work: Callable[[], object], seconds: float) -> float:
    """CPU seconds of one call, averaged over as many calls as fit into the time."""
    calls, started = 0, time.thread_time()
    while (took := time.thread_time() - started) < seconds:
        work()
        calls += 1
    return took / calls


def beta_call() -> Callable[[], object]:
    """(b): one draw of 16 x 16 Beta variables, the first step of each duel of MergeDTS if it were written in NumPy."""
    draw = np.random.default_rng(1)
    wins = draw.integers(0, 200, (16, 16)) + 1
    losses = wins.T.copy()
    return lambda: draw.beta(wins, losses)


def twin_duel(name: str, problem: rd.PreferenceMatrix) -> Callable[[], object]:
    """(a): one duel of the literal twin."""
    draw = np.random.default_rng(1)
    twin, P = NAIVE[name](problem.n_arms, rng=draw), problem.probabilities

    def duel() -> None:
        first, second = twin.choose()
        twin.learn(first, second, bool(draw.random() < P[first, second]))

    return duel


def measure(case: Case, problem: rd.PreferenceMatrix, *, repeat: int, quick: bool) -> Measured:
    """Play the same run several times, with a measurement of (b) before and after each."""
    kernel, whole, unit, twin = Times(), Times(), Times(), Times()
    beta, moment = beta_call(), 0.01 if quick else 0.15
    unit.seconds.append(per_call(beta, moment))
    for _ in range(repeat):
        bandit = rd.REGISTRY[case.bandit](problem.n_arms, seed=1)
        run = rd.simulate(bandit, problem, horizon=2_000 if quick else case.horizon, seed=1)
        if not quick:
            check(run, problem)
        kernel.seconds.append(run.cpu_per_duel)
        whole.seconds.append(run.cpu_seconds)
        unit.seconds.append(per_call(beta, moment))
    twin.seconds.append(per_call(twin_duel(case.bandit, problem), 0.01 if quick else 1.0))
    return Measured(case, run, kernel, whole, unit, twin)


def report(*, only: list[str], repeat: int, quick: bool) -> None:
    """Print the table, each row as soon as it is measured."""
    name, problem = navigational()
    runs = "1 run" if repeat == 1 else f"{repeat} runs"
    print(f"{name}: {problem.n_arms} arms, {runs} of each bandit, CPU microseconds per duel")
    print("(a) literal twin in tests/naive, in its first second")
    print("(b) one numpy.random.Generator.beta call on a 16 x 16 array of counts, measured between the runs\n")
    if quick:
        print("--quick: 2,000 duels each, too few for meaningful times\n")
    print(
        f"{'':18}{'duels':>10}{'median':>9}{'minimum':>9}{'(a)':>9}{'speedup':>9}{'(b)':>8}"
        f"{'median/(b)':>12}{'minimum/(b)':>13}{'target':>9}"
    )
    for case in cases():
        if not only or case.bandit in only:
            print(row(measure(case, problem, repeat=repeat, quick=quick)), flush=True)


def row(m: Measured) -> str:
    """One line of the table."""
    duels = m.run.converged_at or m.run.duels
    of_medians, of_minima = m.kernel.median / m.unit.median, m.kernel.minimum / m.unit.minimum
    line = (
        f"{m.case.bandit:18}{duels:10,}{1e6 * m.kernel.median:9.3f}{1e6 * m.kernel.minimum:9.3f}"
        f"{1e6 * m.twin.median:9.1f}{m.twin.median / m.kernel.median:8.0f}x{1e6 * m.unit.median:8.1f}"
        f"{fraction(of_medians):>12}{fraction(of_minima):>13}"
    )
    if m.case.target is not None:
        line += f"{fraction(m.case.target):>9}"
        if duels > 100_000:
            line += " reached" if of_medians <= m.case.target else " missed"
    if m.run.converged_at is not None:
        line += f"\n{'':18}converged; all {m.run.duels:.0e} duels took {m.whole.median:.2f} s"
        line += " (target: under 1 s)" if m.case.bandit == "MergeDTS" else ""
    return line


def fraction(ratio: float) -> str:
    """Format a ratio as a fraction.

    >>> fraction(0.0125), fraction(1.5)
    ('1/80', '1.5')
    """
    return f"1/{1 / ratio:.0f}" if ratio < 0.1 else f"1/{1 / ratio:.1f}" if ratio < 1 else f"{ratio:.1f}"
