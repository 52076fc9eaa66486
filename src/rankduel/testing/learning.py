"""Checks of learning: less regret than uniform play on an easy problem, for any labels and delays."""

import numpy as np
import numpy.typing as npt

from rankduel.bandits import Bandit
from rankduel.preferences import PreferenceMatrix, regret
from rankduel.randomness import generator
from rankduel.simulation import simulate
from rankduel.testing.fixtures import Coin, Factory, Trace, ladder, play, require
from rankduel.testing.traces import play_late

N_ARMS = 6
DUELS = 4000
RUNS = 5
MAX_REGRET_SHARE = 0.7  # of the regret of uniform play. Our slowest bandit, an EXP3, has 0.33 +- 0.03 per run


def beats_uniform(factory: Factory) -> None:
    """Regret on an easy problem is clearly lower than with uniform play. Skip this if your bandit does not learn."""
    problem = ladder(N_ARMS)
    total = sum(
        float(simulate(_bandit(factory, run), problem, horizon=DUELS, checkpoints=[DUELS], seed=run).regret[-1])
        for run in range(RUNS)
    )
    _require_less_regret(total, problem, "")


def late_tells_still_teach(factory: Factory) -> None:
    """Like `beats_uniform`, with up to 50 duels in flight. Outcomes arrive in random order, and one in ten never."""
    problem = ladder(N_ARMS)
    cost = regret(problem)
    total = 0.0
    for run in range(RUNS):
        trace = play_late(_bandit(factory, run), problem, DUELS, seed=run)
        total += float(cost.of(*_arms(trace)).sum())
    _require_less_regret(total, problem, " with late tells")


def _bandit(factory: Factory, run: int) -> Bandit:
    return factory(N_ARMS, seed=100 + run)


def _require_less_regret(total: float, problem: PreferenceMatrix, how: str) -> None:
    mean, uniform = total / RUNS, DUELS * float(problem.gaps.mean())
    most = f"less than {MAX_REGRET_SHARE * uniform:.0f}, {MAX_REGRET_SHARE:.0%} of the regret of uniform play"
    message = f"mean regret{how} after {DUELS} duels of {N_ARMS} arms must be {most}, got {mean:.0f}"
    require(mean < MAX_REGRET_SHARE * uniform, message)


def flipped(factory: Factory) -> None:
    """The champion is the best arm. It is the worst arm if all outcomes are reversed."""
    problem = ladder(N_ARMS)
    for matrix, best, how in ((problem, 0, ""), (_flip(problem), N_ARMS - 1, " of the flipped matrix")):
        runs = [simulate(_bandit(factory, run), matrix, horizon=DUELS, seed=run) for run in range(RUNS)]
        champions = [run.champion for run in runs]
        require(
            champions.count(best) > RUNS / 2,
            f"the champion{how} must be arm {best} in most of {RUNS} runs, got {champions}",
        )
        winners = {run.winner for run in runs} - {None}
        require(winners <= {best}, f"the winner{how} must be arm {best} in all of {RUNS} runs, got {winners}")


def _flip(problem: PreferenceMatrix) -> PreferenceMatrix:
    return PreferenceMatrix.from_array(1 - problem.probabilities)


def relabelling(factory: Factory) -> None:
    """The labels of the arms do not matter: each arm is played equally often, as first and as second.

    The second half of the runs has reversed labels. If the bandit prefers low labels, in ties or in the order of its
    first duels, it meets the best arm sooner in one half, and the worst arm sooner in the other. The check counts the
    first ten duels, and the hundred after them. It compares 24 differences of means over 150 runs with 6 standard
    errors. If the means are normal, the probability of a false alarm is 5e-8.
    """
    runs = 150
    problem = ladder(N_ARMS)
    labels = np.arange(N_ARMS)
    plays = []
    for half, names in enumerate((labels, labels[::-1])):
        matrix = problem.subset(names.tolist())
        traces = (_prompt(factory, matrix, 110, seed=1000 * half + run) for run in range(runs))
        plays.append(np.array([[_plays(trace[:10]), _plays(trace[10:])] for trace in traces])[..., names])
    means = [half.mean(axis=0) for half in plays]
    error = np.sqrt(sum(half.var(axis=0, ddof=1) for half in plays) / runs)
    for place in np.ndindex(means[0].shape):
        here, there = means[0][place], means[1][place]
        when, side = ("the first 10", "the next 100")[place[0]], ("first", "second")[place[1]]
        require(
            abs(here - there) <= 6 * error[place] + 1e-9,
            f"the labels of arms must not matter: the arm of rank {place[2]} is {side} in {here:.2f} of {when} duels, "
            f"and in {there:.2f} with reversed labels (+- {error[place]:.2f})",
        )


def _prompt(factory: Factory, matrix: PreferenceMatrix, n_duels: int, *, seed: int) -> Trace:
    return play(factory(matrix.n_arms, seed=seed), Coin(matrix, int(generator(seed, "coin").integers(2**62))), n_duels)


def _plays(trace: Trace) -> npt.NDArray[np.int64]:
    """How many times each arm was first and second."""
    return np.array([np.bincount(side, minlength=N_ARMS) for side in _arms(trace)])


def _arms(trace: Trace) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.array([duel.first for duel in trace]), np.array([duel.second for duel in trace])
