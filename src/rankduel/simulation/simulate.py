"""Play a bandit against a problem: one run, or many in threads, with the regret at checkpoints."""

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

Problem = Truth | SearchWorld  # what a bandit can be played against
Watch = Callable[[Any], object]  # is called with the `Play`, or `MultiPlay`, as it is
_WATCH_INTERVAL_SECONDS = 0.05  # between two checks for Ctrl-C and calls of `watch`


@dataclass(frozen=True, eq=False)
class Run:
    """What came of one simulation."""

    bandit: str  # its repr: with it and the world's seed, the run can be repeated
    checkpoints: npt.NDArray[np.int64]
    regret: npt.NDArray[np.float64]  # cumulative, after that many duels; NaN where the world does not know it
    winner: int | None  # None while several arms are left
    champion: int
    converged_at: int | None  # the duel that left one arm
    duels: int
    cpu_seconds: float
    measures: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)  # what else the world sums up, likewise
    left: int | None = None  # arms that were not eliminated
    best_left: int | None = None  # Copeland winners among them; None where the world does not know its preferences
    waited: int = 0  # pages that showed the champion, for too many duels were in flight

    @property
    def computed(self) -> int:
        """The duels that had to be computed: up to convergence, where there is nothing to measure afterwards."""
        return self.duels if self.converged_at is None or self.measures else self.converged_at

    @property
    def cpu_per_duel(self) -> float:
        """Seconds of CPU per computed duel."""
        return self.cpu_seconds / max(1, self.computed)


def log_checkpoints(horizon: int, per_decade: int = 20) -> npt.NDArray[np.int64]:
    """About so many checkpoints per decade, from 1 to the horizon.

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
    """Play `horizon` duels; when one arm is left, the rest costs nothing, but where the world measures what it shows.

    `seed` is the world's; the bandit has its own. `kind` of regret: "average" is the paper's. `delay` says how late
    the bandit hears who won, as in "Geometric(mean=1000)"; None: at once. `watch` is called about twenty times a second
    with the play as it is (`duels`, `regret`, `bandit`); what it raises ends the run.

    >>> import rankduel as rd
    >>> run = simulate(rd.MergeDTS(20, seed=1), rd.problems.cycle2(), horizon=10_000_000, checkpoints=[100, 10_000_000])
    >>> run.winner, run.converged_at < 1_000_000, len(run.regret)
    (0, True, 2)
    """
    if not isinstance(bandit, Bandit | MultiBandit):
        raise TypeError(f"bandit must be a rankduel Bandit or MultiBandit, got {bandit!r}")
    if bandit.n_arms != problem.n_arms:
        raise ValueError(f"the bandit has {bandit.n_arms} arms, the problem {problem.n_arms}")
    if horizon != int(horizon) or horizon < 1:
        raise ValueError(f"horizon must be a whole number of at least 1, got {horizon!r}")
    horizon = int(horizon)
    points = log_checkpoints(horizon) if checkpoints is None else np.asarray(checkpoints)
    whole = points.dtype.kind in "iu" and points.ndim == 1 and len(points) > 0
    if not whole or points[0] < 1 or points[-1] > horizon or (np.diff(points) <= 0).any():
        raise ValueError(f"checkpoints must be whole, from at least 1 up to at most {horizon}, got {checkpoints}")

    cost = regret_of(problem, kind)
    play = _play(bandit, problem, seed, cost, _delay(delay))
    started = time.thread_time()
    curve = []
    measures: dict[str, list[float]] = {name: [] for name in play.world.measures()}
    for point in points.tolist():
        _advance(play, point, watch)
        rest = point - play.duels  # one arm is left, or tied ones: the champion meets itself
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
    """Who meets itself when all is over: the winner, or the best guess among those that are tied."""
    return bandit.champion if bandit.winner is None else bandit.winner


def regret_of(problem: Problem, kind: Kind = "average") -> Regret | None:
    """The regret of a problem, or None for a search world whose preferences nobody knows."""
    if isinstance(problem, SearchWorld):
        return None if problem.preferences is None else regret(problem.preferences, kind)
    return regret(problem, kind)


def _delay(delay: Delay | str | None) -> Delay | None:
    if isinstance(delay, str):
        return delay_from(delay)
    if delay is not None and not isinstance(delay, Delay):
        raise TypeError(f"delay must be a law of rankduel.delays, or one as people type it, got {delay!r}")
    return delay


def _play(
    bandit: Bandit | MultiBandit, problem: Problem, seed: int, cost: Regret | None, delay: Delay | None
) -> Play | MultiPlay:
    world = _world(problem, seed)
    if isinstance(bandit, Bandit):
        return Play(bandit, world, cost, delay)
    if delay is not None:
        raise ValueError(f"{type(bandit).__name__} needs outcomes at once: only bandits of two arms can be delayed")
    if isinstance(world, Users) and isinstance(problem, SearchWorld):
        return MultiPlay(bandit, world, problem.multileaving, cost)
    raise TypeError(f"{type(bandit).__name__} shares pages among many rankers: it needs a SearchWorld, got {problem!r}")


def _advance(play: Play | MultiPlay, until: int, watch: Watch | None) -> None:
    """Play in steps of about the watch interval, so that Ctrl-C works and `watch` is called."""
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
    """Many independent runs of one bandit, in `jobs` threads; same seed, same numbers, whatever `jobs`.

    `bandit` is a spec as in "MergeRUCB(alpha=0.26)", or a class. Run r has streams of its own, for bandit and world.

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
    """The bandit of run `index`, from a spec or a class."""
    if isinstance(bandit, str):
        return any_bandit_from(bandit, n_arms, seed=run_seed(seed, index))
    return bandit(n_arms, seed=run_seed(seed, index))
