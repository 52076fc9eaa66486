"""The demo's tournament: MergeDTS on a web search of 136 rankers, scene by scene, until one ranker is left."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rankduel.bandits import MergeDTS, Uniform
from rankduel.lab.plots import Curve
from rankduel.preferences import problems, regret
from rankduel.simulation import MatrixWorld, Play, log_checkpoints, run_seed, simulate

__all__ = ["Scene", "Showcase", "play_showcase"]

_SCENE = 1_000  # duels, and later a fiftieth of all: about two hundred scenes


@dataclass(frozen=True, slots=True)
class Scene:
    """The tournament as it stands."""

    number: int  # 1, 2, ...
    duels: int
    rankers: int  # at the start
    batches: list[list[int]]  # of the rankers left
    champion: int
    regret_per_1000: float  # lately
    finished: bool

    @property
    def left(self) -> int:
        """How many rankers are left."""
        return sum(map(len, self.batches))


@dataclass(frozen=True, slots=True)
class Showcase:
    """How the tournament ended."""

    rankers: int
    winner: int
    condorcet_winner: int | None
    duels: int
    cpu_seconds: float
    curves: tuple[Curve, Curve]  # MergeDTS and, for scale, Uniform over the same duels


def play_showcase(seed: int, watch: Callable[[Scene], object]) -> Showcase:
    """Play to the end: run 0 of `rankduel simulate web_search --seed SEED`. `watch` sees about two hundred scenes."""
    problem = problems.web_search()
    bandit = MergeDTS(problem.n_arms, seed=run_seed(seed, 0))
    play = Play(bandit, MatrixWorld(problem, run_seed(seed, 0)), regret(problem))
    cpu_seconds = 0.0
    scenes = 0
    before = 0, 0.0  # duels and regret at the last scene
    curve = []
    for stop in _stops():
        began = time.thread_time()
        play.advance(stop)
        cpu_seconds += time.thread_time() - began
        now = play.duels, play.regret
        curve.append(now)
        if stop >= _SCENE or play.settled:
            scenes += 1
            lately = 1000 * (now[1] - before[1]) / (now[0] - before[0])
            watch(Scene(scenes, play.duels, problem.n_arms, bandit.batches, bandit.champion, lately, play.settled))
            before = now
        if play.settled:
            break
    points = np.array([duels for duels, _ in curve], np.int64)
    suffered = np.array([total for _, total in curve])
    uniform = simulate(
        Uniform(problem.n_arms, seed=run_seed(seed, 0)),
        problem,
        horizon=play.duels,
        checkpoints=points,
        seed=run_seed(seed, 0),
    )
    return Showcase(
        rankers=problem.n_arms,
        winner=bandit.champion,
        condorcet_winner=problem.condorcet_winner,
        duels=play.duels,
        cpu_seconds=cpu_seconds,
        curves=(Curve("MergeDTS", points, suffered), Curve("Uniform", points, uniform.regret)),
    )


def _stops() -> Iterator[int]:
    """Where to look at the regret: log-spaced within the first scene, then once a scene."""
    yield from log_checkpoints(_SCENE).tolist()
    stop = _SCENE
    while True:
        stop += max(_SCENE, stop // 50)
        yield stop
