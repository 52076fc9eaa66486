"""`plan`: forecast duration and cost of a live tournament by simulation, with and without late feedback."""

import math
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from rankduel.bandits import bandit_from, split
from rankduel.lab.engine import execute
from rankduel.lab.plan import Unit, normal_form, problem_from
from rankduel.lab.progress import Progress
from rankduel.lab.store import Store
from rankduel.live.defaults import DEFAULT, DEFAULT_DELTA
from rankduel.preferences import PreferenceMatrix, Utilities, problems
from rankduel.simulation import Delay, Run, delay_from
from rankduel.spec import parse

__all__ = ["Forecast", "RunSummary", "Spread", "plan"]

STAND_IN_PROBLEMS = 10  # number of synthetic web searches, used if no problem is given
MAX_STAND_IN_RANKERS = 5_000  # their matrix takes 200 MB

KnownProblem = PreferenceMatrix | Utilities


@dataclass(frozen=True, slots=True)
class Spread:
    """Distribution of a quantity over the runs. A value that depends on runs that did not end is None."""

    mean: float | None
    error: float | None  # standard error of the mean; None for a single run
    p10: float | None  # 10th percentile: a tenth of the runs had at most this value
    p50: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Outcome of the simulated runs, with or without delay."""

    runs: int
    ended: int  # with one ranker left, or with some that are tied
    in_time: int  # within the deadline
    right: int  # ended, with the true best ranker left
    waited: float  # share of the pages that showed the champion because too many duels were in flight
    duels: Spread  # until the end, including pages without a duel
    days: Spread
    regret: Spread


@dataclass(frozen=True, slots=True)
class Forecast:
    """Forecast of a live tournament: `late` has the runs with the given delay, `prompt` the runs without delay."""

    problem: str
    n_rankers: int
    bandit: str  # with all parameters
    delta: float | None  # the best ranker is eliminated with at most this probability; None: no guarantee
    daily_duels: int
    deadline: float  # in days
    delay: str | None
    horizon: int
    seed: int
    prompt: RunSummary
    late: RunSummary | None  # None without a delay

    @property
    def expected(self) -> RunSummary:
        """The runs with delay, or without it if no delay was given."""
        return self.prompt if self.late is None else self.late

    def price(self, quantity: str) -> tuple[float, float] | None:
        """The relative increase of the mean of "duels", "days" or "regret" by the delay, and its standard error.

        None if there is no delay or only one run, or if some runs did not end.
        """
        if self.late is None:
            return None
        late, prompt = getattr(self.late, quantity), getattr(self.prompt, quantity)
        if None in (late.mean, late.error, prompt.mean, prompt.error) or not prompt.mean:
            return None
        return late.mean / prompt.mean - 1, math.hypot(late.error, prompt.error) / prompt.mean

    def rows(self) -> list[dict[str, object]]:
        """One row per quantity: first with the delay, if there is one, then without."""
        rows: list[dict[str, object]] = []
        for delay, summary in ((self.delay, self.late), (None, self.prompt)):
            if summary is not None:
                counts = {name: getattr(summary, name) for name in ("runs", "ended", "in_time", "right", "waited")}
                rows += [
                    {"delay": delay, "quantity": quantity, **asdict(getattr(summary, quantity)), **counts}
                    for quantity in ("duels", "days", "regret")
                ]
        return rows

    def __str__(self) -> str:
        summary, runs = self.expected, self.expected.runs
        lines = [
            f"{self.problem}: {self.n_rankers} rankers, {self.daily_duels:,} duels a day; {runs} runs, "
            f"seed {self.seed}",
            self.bandit,
            f"{'':12}{'mean':>12}{'10 %':>12}{'50 %':>12}{'90 %':>12}",
        ]
        if self.late is not None:
            lines += [f"with {self.delay}", *_lines(self.late, self.horizon), "without delay"]
        lines += _lines(self.prompt, self.horizon)
        if prices := {name: price for name in ("duels", "regret") if (price := self.price(name)) is not None}:
            told = [f"{price:+.0%} ± {error:.0%} {name}" for name, (price, error) in prices.items()]
            lines.append(f"cost of delay:     {', '.join(told)}")
        if summary.waited:
            lines.append(f"without a duel:    {summary.waited:.1%} of the pages (they showed the champion)")
        lines += [
            f"within {f'{self.deadline:g} days:':12}{summary.in_time} of {runs} runs ended",
            f"best ranker won:   {summary.right} of {runs} runs (another ranker: {summary.ended - summary.right}, "
            f"no winner: {runs - summary.ended})",
            "guarantee:         "
            + (
                "none"
                if self.delta is None
                else f"the best ranker is eliminated with probability at most {self.delta:g}"
            ),
        ]
        return "\n".join(lines)


def plan(
    n_rankers: int | None = None,
    *,
    problem: KnownProblem | str | PathLike[str] | None = None,
    bandit: str = DEFAULT,
    delta: float = DEFAULT_DELTA,
    daily_duels: int = 200_000,
    deadline: float = 30,
    delay: Delay | str | None = None,
    runs: int = 100,
    horizon: int = 10**8,
    seed: int = 0,
    jobs: int = 1,
    out: str | PathLike[str] | None = None,
    watch: Callable[[Progress], object] | None = None,
) -> Forecast:
    """Forecast a live tournament: duels, days and regret until it ends, and how often the best ranker wins.

    `problem` is a matrix, its file, or a named problem. Without it, the runs use ten synthetic web searches with
    `n_rankers` rankers. `delta` is the maximum probability of eliminating the best ranker, for bandits with that
    option. The forecast counts the runs that end within `deadline` days. `delay` is the same as for `simulate`. If you
    give one, the same runs are also simulated without it. A run stops after `horizon` duels. Finished runs are stored
    in `out`, if you give it. `jobs` and `watch` are the same as for `rankduel.lab.execute`.

    >>> import rankduel as rd
    >>> forecast = rd.plan(20, daily_duels=10_000, deadline=200, runs=4)
    >>> forecast.prompt.ended, forecast.prompt.days.p10 < forecast.prompt.days.p90 < 200
    (4, True)
    """
    _check(delta=delta, daily_duels=daily_duels, deadline=deadline, runs=runs, horizon=horizon)
    name, played = _problems_of(n_rankers, problem, runs)
    n_arms = played[0].n_arms
    spec = _with_delta(bandit, n_arms, delta)
    law = delay_from(delay) if isinstance(delay, str) else delay
    laws = [None] if law is None else [law, None]
    units = [
        Unit(played[index % len(played)], spec, horizon, (horizon,), "average", seed, index, each)
        for index in range(runs)
        for each in laws
    ]
    with tempfile.TemporaryDirectory() if out is None else nullcontext(fspath(out)) as folder:
        store = Store(Path(folder))
        store.prepare()
        done = list(zip(units, execute(units, store, jobs=jobs, watch=watch), strict=True))
    summaries = {
        each: _summarise([pair for pair in done if pair[0].delay == each], daily_duels=daily_duels, deadline=deadline)
        for each in laws
    }
    return Forecast(
        problem=name,
        n_rankers=n_arms,
        bandit=spec,
        delta=bandit_from(spec, n_arms, seed=0).parameters.get("delta"),
        daily_duels=daily_duels,
        deadline=deadline,
        delay=None if law is None else repr(law),
        horizon=horizon,
        seed=seed,
        prompt=summaries[None],
        late=None if law is None else summaries[law],
    )


def _check(*, delta: float, daily_duels: int, deadline: float, runs: int, horizon: int) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be above 0 and below 1, got {delta!r}")
    if not deadline > 0:
        raise ValueError(f"deadline must be above 0 days, got {deadline!r}")
    for name, value in (("daily_duels", daily_duels), ("runs", runs), ("horizon", horizon)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")


def _problems_of(
    n_rankers: int | None, problem: KnownProblem | str | PathLike[str] | None, runs: int
) -> tuple[str, Sequence[KnownProblem]]:
    """The name of the problem, and the problems that the runs use in turn."""
    if problem is None:
        if isinstance(n_rankers, bool) or not isinstance(n_rankers, int) or not 2 <= n_rankers <= MAX_STAND_IN_RANKERS:
            raise ValueError(
                f"n_rankers must be a whole number from 2 to {MAX_STAND_IN_RANKERS}, got {n_rankers!r}; "
                "for more rankers, pass problem='utilities(n_arms=100_000)'"
            )
        made = [problems.web_search(n_rankers, seed=number) for number in range(min(STAND_IN_PROBLEMS, runs))]
        return "synthetic web search", made
    name, truth = problem_from(fspath(problem)) if isinstance(problem, str | PathLike) else (repr(problem), problem)
    if not isinstance(truth, PreferenceMatrix | Utilities):
        raise TypeError(
            f"problem must be a PreferenceMatrix, Utilities, a named problem or a matrix file, got {problem!r}"
        )
    if n_rankers not in (None, truth.n_arms):
        raise ValueError(f"{name} has {truth.n_arms} rankers, got n_rankers={n_rankers!r}")
    if truth.condorcet_winner is None:
        raise ValueError(f"{name} has no Condorcet winner; plan needs a ranker that beats all others")
    return name, [truth]


def _with_delta(bandit: str, n_arms: int, delta: float) -> str:
    """The bandit in normal form. It gets this delta, if it has that option and the spec does not set it."""
    module, rest = split(bandit)
    name, options = parse(rest)
    if "delta" in bandit_from(bandit, n_arms, seed=0).parameters and "delta" not in options:
        options["delta"] = delta
    typed = f"{name}({', '.join(f'{option}={value!r}' for option, value in options.items())})"
    return normal_form(typed if module is None else f"{module}:{typed}", n_arms)


def _summarise(done: Sequence[tuple[Unit, Run]], *, daily_duels: int, deadline: float) -> RunSummary:
    ends = np.array([math.inf if run.converged_at is None else run.converged_at for _, run in done])
    regret = np.array([_regret_to_the_end(unit, run) for unit, run in done])
    pages = sum(run.duels if run.converged_at is None else run.converged_at for _, run in done)
    return RunSummary(
        runs=len(done),
        ended=int(np.isfinite(ends).sum()),
        in_time=int((ends <= deadline * daily_duels).sum()),
        right=sum(run.converged_at is not None and run.best_left == 1 for _, run in done),
        waited=sum(run.waited for _, run in done) / max(1, pages),
        duels=_spread(ends),
        days=_spread(ends / daily_duels),
        regret=_spread(regret),
    )


def _regret_to_the_end(unit: Unit, run: Run) -> float:
    """The regret until the end of the run, without the regret of a wrong winner afterwards. Infinite without an end."""
    if run.converged_at is None:
        return math.inf
    assert isinstance(unit.problem, PreferenceMatrix | Utilities)
    return float(run.regret[-1] - (run.duels - run.converged_at) * unit.problem.gaps[run.champion])


def _spread(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Spread:
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
    whole = bool(np.isfinite(values).all())
    return Spread(
        mean=float(values.mean()) if whole else None,
        error=float(values.std(ddof=1) / math.sqrt(len(values))) if whole and len(values) > 1 else None,
        p10=_finite(low),
        p50=_finite(middle),
        p90=_finite(high),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _lines(summary: RunSummary, horizon: int) -> list[str]:
    """The rows of the table."""
    lines = []
    for quantity in ("duels", "days", "regret"):
        spread = getattr(summary, quantity)
        cells = [spread.mean, spread.p10, spread.p50, spread.p90]
        lines.append(f"{quantity:12}" + "".join(f"{_figure(quantity, cell, horizon):>12}" for cell in cells))
    return lines


def _figure(quantity: str, value: float | None, horizon: int) -> str:
    if value is None:
        return f"> {horizon:.0e}" if quantity == "duels" else "-"
    return f"{value:,.1f}" if quantity == "days" else f"{value:,.0f}"
