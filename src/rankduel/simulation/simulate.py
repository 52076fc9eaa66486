"""Simulate a bandit on a problem, once or many times in threads, and record the regret at checkpoints."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from rankduel.bandits import Bandit, MultiBandit, any_bandit_from
from rankduel.preferences import Kind, PreferenceMatrix, Regret, Utilities, regret
from rankduel.preferences import Problem as Truth
from rankduel.randomness import subseed
from rankduel.simulation.delays import Delay, delay_from
from rankduel.simulation.multi_play import MultiPlay
from rankduel.simulation.play import Play
from rankduel.simulation.search import Users
from rankduel.simulation.search_world import SearchWorld
from rankduel.simulation.worlds import MatrixWorld, UtilityWorld, World

__all__ = ["Problem", "Run", "Watch", "log_checkpoints", "regret_of", "simulate", "simulate_runs"]

Problem = Truth | SearchWorld  # the problems that `simulate` accepts
Watch = Callable[[Any], object]  # called with the current `Play` or `MultiPlay`
_WATCH_INTERVAL_SECONDS = 0.05  # time between two calls of `watch`, and checks for Ctrl-C


@dataclass(frozen=True, eq=False)
class Run:
    """The result of one simulation."""

    bandit: str  # its repr. With it and the seed of the world you can repeat the run
    checkpoints: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]  # cumulative regret at each checkpoint, NaN if preferences are not known
    winner: int | None  # None if several arms are left
    champion: int
    converged_at: int | None  # the duel after which one arm was left, or all arms left were tied
    duels: int
    cpu_seconds: float
    measures: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)  # other sums, such as clicks, likewise
    left: int | None = None  # number of arms that were not eliminated
    best_left: int | None = None  # number of Copeland winners among them, None if the preferences are not known
    waited: int = 0  # pages that showed the champion, because too many duels were in flight

    @property
    def computed(self) -> int:
        """The number of duels that were computed: up to convergence, unless the world measures each page."""
        return self.duels if self.converged_at is None or self.measures else self.converged_at

    @property
    def cpu_per_duel(self) -> float:
        """CPU seconds per computed duel."""
        return self.cpu_seconds / max(1, self.computed)


def log_checkpoints(horizon: int, per_decade: int = 20) -> npt.NDArray[np.int64]:
    """Logarithmically spaced checkpoints from 1 to the horizon, about `per_decade` per factor of ten.

    >>> log_checkpoints(100, per_decade=2)
    array([  1,   3,  10,  32, 100])
    """
    points = np.geomspace(1, horizon, int(per_decade * np.log10(horizon)) + 1)
    return np.unique(points.round().astype(np.int64))


def simulate(
    bandit: Bandit | MultiBandit,
    problem: Problem,
    *,
    horizon: int,
    checkpoints: Sequence[int] | npt.NDArray[np.int64] | None = None,
    seed: int = 0,
    kind: Kind = "average",
    delay: Delay | str | None = None,
    watch: Watch | None = None,
) -> Run:
    """Simulate a bandit on a problem for `horizon` duels.

    `seed` is the seed of the world. The bandit has its own. `kind` is the kind of regret. "average" is the regret of
    the paper. `delay` says how late outcomes are told, for example "Geometric(mean=1000)". None tells them at once.
    `watch` is called about twenty times per second with the current play (`duels`, `regret`, `bandit`). An exception in
    it ends the run.

    When one arm is left, the remaining duels cost no time, except on a `SearchWorld`, which measures each page.

    >>> import rankduel as rd
    >>> run = simulate(rd.MergeDTS(20, seed=1), rd.problems.cycle2(), horizon=10_000_000, checkpoints=[100, 10_000_000])
    >>> run.winner, run.converged_at < 1_000_000, len(run.regret)
    (0, True, 2)
    """
    if not isinstance(bandit, Bandit | MultiBandit):
        raise TypeError(f"bandit must be a rankduel Bandit or MultiBandit, got {bandit!r}")
    if bandit.n_arms != problem.n_arms:
        raise ValueError(f"the bandit has {bandit.n_arms} arms, but the problem has {problem.n_arms}")
    if horizon != int(horizon) or horizon < 1:
        raise ValueError(f"horizon must be a whole number of at least 1, got {horizon!r}")
    horizon = int(horizon)
    points = log_checkpoints(horizon) if checkpoints is None else np.asarray(checkpoints)
    whole = points.dtype.kind in "iu" and points.ndim == 1 and len(points) > 0
    if not whole or points[0] < 1 or points[-1] > horizon or (np.diff(points) <= 0).any():
        raise ValueError(f"checkpoints must be increasing whole numbers from 1 to {horizon}, got {checkpoints}")

    cost = regret_of(problem, kind)
    play = _play(bandit, problem, seed, cost, _delay(delay))
    started = time.thread_time()
    curve = []
    measures: dict[str, list[float]] = {name: [] for name in play.world.measures()}
    for point in points.tolist():
        _advance(play, point, watch)
        rest = point - play.duels  # after convergence, the champion meets itself
        curve.append(play.regret + (rest * cost.gaps[_left(bandit)] if cost is not None and rest else 0.0))
        for name, value in play.world.measures().items():
            measures[name].append(value)
    _advance(play, horizon, watch)
    if watch is not None:
        watch(play)
    left = bandit.alive
    return Run(
        bandit=repr(bandit),
        checkpoints=points.astype(np.int64),
        regret=np.array(curve),
        winner=bandit.winner,
        champion=_left(bandit),
        converged_at=play.settled_at,
        duels=horizon,
        cpu_seconds=time.thread_time() - started,
        measures={name: np.array(values) for name, values in measures.items()},
        left=len(left),
        best_left=len(np.intersect1d(left, problem.copeland_winners)) if problem.copeland_winners else None,
        waited=play.waited if isinstance(play, Play) else 0,
    )


def _left(bandit: Bandit | MultiBandit) -> int:
    """The arm that is played after convergence: the winner, or the champion of the tied arms."""
    return bandit.champion if bandit.winner is None else bandit.winner


def regret_of(problem: Problem, kind: Kind = "average") -> Regret | None:
    """The regret of a problem, or None for a search world without known preferences."""
    if isinstance(problem, SearchWorld):
        return None if problem.preferences is None else regret(problem.preferences, kind)
    return regret(problem, kind)


def _delay(delay: Delay | str | None) -> Delay | None:
    if isinstance(delay, str):
        return delay_from(delay)
    if delay is not None and not isinstance(delay, Delay):
        raise TypeError(f"delay must be a Delay of rankduel.delays or a text like 'Fixed(duels=100)', got {delay!r}")
    return delay


def _play(
    bandit: Bandit | MultiBandit, problem: Problem, seed: int, cost: Regret | None, delay: Delay | None
) -> Play | MultiPlay:
    world = _world(problem, seed)
    if isinstance(bandit, Bandit):
        return Play(bandit, world, cost, delay)
    if delay is not None:
        raise ValueError(f"{type(bandit).__name__} plays more than two arms per duel and supports no delay")
    if isinstance(world, Users) and isinstance(problem, SearchWorld):
        return MultiPlay(bandit, world, problem.multileaving, cost)
    raise TypeError(f"{type(bandit).__name__} plays many arms per duel and needs a SearchWorld, got {problem!r}")


def _advance(play: Play | MultiPlay, until: int, watch: Watch | None) -> None:
    """Play in steps of about the watch interval, so that Ctrl-C works and `watch` is called in time."""
    step = 256
    while play.duels < until and not play.over:
        begun = time.perf_counter()
        play.advance(min(until, play.duels + step))
        took = time.perf_counter() - begun
        step = max(1, min(2 * step, int(step * _WATCH_INTERVAL_SECONDS / took))) if took > 0 else 2 * step
        if watch is not None:
            watch(play)


def _world(problem: Problem, seed: int) -> World:
    if isinstance(problem, PreferenceMatrix):
        return MatrixWorld(problem, seed)
    if isinstance(problem, Utilities):
        return UtilityWorld(problem, seed)
    if isinstance(problem, SearchWorld):
        return Users(problem, seed)
    raise TypeError(f"problem must be a PreferenceMatrix, Utilities or a SearchWorld, got {problem!r}")


def simulate_runs(
    bandit: str | Callable[..., Bandit | MultiBandit],
    problem: Problem,
    *,
    horizon: int,
    runs: int,
    jobs: int = 1,
    seed: int = 0,
    checkpoints: Sequence[int] | npt.NDArray[np.int64] | None = None,
    kind: Kind = "average",
    delay: Delay | str | None = None,
    watch: Callable[[int, Play | MultiPlay], object] | None = None,
) -> list[Run]:
    """Simulate many independent runs of a bandit, in `jobs` threads.

    `bandit` is a spec such as "MergeRUCB(alpha=0.26)", or a class. Each run has its own random streams for bandit and
    world. The same seed gives the same numbers for any number of jobs.

    >>> import rankduel as rd
    >>> runs = simulate_runs("MergeRUCB(batch_size=4)", rd.problems.cycle2(), horizon=100_000, runs=4, jobs=2)
    >>> [run.champion for run in runs]
    [0, 0, 0, 0]
    """
    stop = threading.Event()

    def one(index: int) -> Run:
        def check(play: Play | MultiPlay) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if watch is not None:
                watch(index, play)

        return simulate(
            run_bandit(bandit, problem.n_arms, seed, index),
            problem,
            horizon=horizon,
            checkpoints=checkpoints,
            seed=run_seed(seed, index),
            kind=kind,
            delay=delay,
            watch=check,
        )

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, index) for index in range(runs)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            return [future.result() for future in futures]
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def run_seed(seed: int, index: int) -> int:
    """The seed of run `index` of an experiment."""
    return subseed(seed, "run", index)


def run_bandit(
    bandit: str | Callable[..., Bandit | MultiBandit], n_arms: int, seed: int, index: int
) -> Bandit | MultiBandit:
    """Make the bandit of run `index`, from a spec or a class."""
    if isinstance(bandit, str):
        return any_bandit_from(bandit, n_arms, seed=run_seed(seed, index))
    return bandit(n_arms, seed=run_seed(seed, index))
