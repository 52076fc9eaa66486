"""Named problems: those of the paper, textbook families, and a synthetic web search."""

import inspect
from collections.abc import Callable

import numpy as np

from rankduel.preferences.arrays import Floats
from rankduel.preferences.matrix import PreferenceMatrix
from rankduel.preferences.regret import Problem
from rankduel.preferences.utilities import Utilities
from rankduel.randomness import generator
from rankduel.spec import parse

__all__ = [
    "PROBLEMS",
    "named",
    "cycle",
    "cycle2",
    "non_condorcet",
    "two_winners",
    "web_search",
    "bradley_terry",
    "utilities",
    "twins",
    "uninformative",
    "random_tournament",
]


def cycle() -> PreferenceMatrix:
    """The paper's Cycle: arm 0 narrowly beats all others. The other 19 beat each other in cycles, with certainty.

    >>> cycle().borda_scores[:2].round(2).tolist()
    [10.19, 9.99]
    """
    return _round_table(winner=0.51, neighbour=1.0)


def cycle2() -> PreferenceMatrix:
    """The paper's Cycle2: like Cycle, but the winner is clear and the cycles are weak.

    >>> cycle2().borda_scores[:2].round(2).tolist()
    [11.9, 9.9]
    """
    return _round_table(winner=0.6, neighbour=0.51)


def non_condorcet(matrix: PreferenceMatrix) -> PreferenceMatrix:
    """The paper's MSLR-non-Condorcet: every fourth ranker (3, 7, ..., 127) of the MSLR-Informational matrix.

    The published matrix has 135 rankers: ranker 109 (counted from 0) is missing, so later rankers move down by one.
    """
    if matrix.n_arms not in (135, 136):
        raise ValueError(f"non_condorcet needs the MSLR-Informational matrix of 135 or 136 arms, got {matrix.n_arms}")
    missing = 136 - matrix.n_arms
    return matrix.subset([arm - missing if arm > 109 else arm for arm in range(3, 128, 4)])


def two_winners(n_arms: int = 32, *, seed: int = 0) -> PreferenceMatrix:
    """Like the paper's MSLR-non-Condorcet: no Condorcet winner, and two Copeland winners that lose to one arm each.

    The two best arms of a `web_search` are changed: the first narrowly beats the second and loses to a third, which
    loses to two others. The second beats all other arms.

    >>> len(two_winners().copeland_winners), two_winners().condorcet_winner
    (2, None)
    """
    _check_arms(n_arms)
    if n_arms < 5:
        raise ValueError(f"n_arms must be at least 5 for two_winners, got {n_arms}")
    P = web_search(n_arms, seed=seed).probabilities.copy()
    first, second, third, fourth = np.argsort(-P.sum(axis=1), kind="stable")[:4]
    for arm in (first, second):  # beats all others by at least 0.01
        P[arm] = np.maximum(P[arm], 0.51)
        P[:, arm] = 1 - P[arm]
        P[arm, arm] = 0.5
    for better, worse, lead in ((first, second, 0.003), (third, first, 0.008), (fourth, third, 0.01)):
        P[better, worse], P[worse, better] = 0.5 + lead, 0.5 - lead
    return PreferenceMatrix(P)


def web_search(n_arms: int = 136, *, clarity: float = 1.0, seed: int = 0) -> PreferenceMatrix:
    """Synthetic problem like the paper's MSLR-Navigational: a long tail of bad rankers, near-duplicates, and cycles.

    MSLR-Navigational / this problem with 136 arms: mean |p - 1/2| .092 / .096, mean gap .105 / .101, smallest gap
    .0056 / .0096, pairs closer than .005: 468 / 512, groups of duplicates 22 / 21, 3-cycles 377 / 420. A `clarity`
    above 1 moves all preferences away from 1/2, like users who make fewer mistakes. Below 1, it moves them towards 1/2.

    >>> web_search().condorcet_winner is not None
    True
    """
    _check_arms(n_arms)
    _check_clarity(clarity)
    draw = generator(seed, "web_search")
    copies, bad = round(0.16 * n_arms), round(0.08 * n_arms)
    originals = n_arms - copies
    # Quality: most rankers are good, some are worse, and a tail is very bad (in MSLR: constant features).
    quality = -draw.gamma(1.6, 0.2, originals)
    quality[:bad] = -draw.uniform(1.3, 1.6, bad)
    # Style: the strengths of a ranker count more against some opponents than against others. This makes cycles.
    strength, weakness = 0.085 * draw.standard_normal((2, originals, 3))
    lead = clarity * (quality[:, None] - quality + strength @ weakness.T - weakness @ strength.T)
    which = draw.permutation(np.concatenate([np.arange(originals), draw.integers(0, originals, copies)]))
    P = _logistic(lead[np.ix_(which, which)])
    noise = np.triu(draw.standard_normal((n_arms, n_arms)), 1)  # noise of an estimate from 414,620 duels per pair
    P += (noise - noise.T) * np.sqrt(P * (1 - P) / 414_620)
    # Shift the best arm against all others by the same amount, so that its closest rival has the given gap.
    best, smallest_gap = P.sum(axis=1).argmax(), clarity * draw.uniform(0.006, 0.01)
    rivals = np.arange(n_arms) != best
    leads = np.log(P[best, rivals] / P[rivals, best])
    P[best, rivals] = _logistic(leads - leads.min(initial=np.inf) + 2 * np.arctanh(2 * smallest_gap))
    P[rivals, best] = 1 - P[best, rivals]
    return PreferenceMatrix(P)


def bradley_terry(n_arms: int, *, spread: float = 1.0, winner: float | None = 0.55, seed: int = 0) -> PreferenceMatrix:
    """The matrix of `utilities` with the same options. It is transitive: there are no cycles.

    >>> bradley_terry(50, seed=3).three_cycles
    0
    """
    return utilities(n_arms, spread=spread, winner=winner, seed=seed).matrix()


def utilities(n_arms: int, *, spread: float = 1.0, winner: float | None = 0.55, seed: int = 0) -> Utilities:
    """Utilities from a normal distribution with standard deviation `spread`, for up to a million arms.

    The best arm is moved so that it beats the second best with probability `winner`. None leaves it unchanged.

    >>> utilities(1_000_000).n_arms
    1000000
    """
    _check_arms(n_arms)
    if not spread > 0:
        raise ValueError(f"spread must be above 0, got {spread!r}")
    u = spread * generator(seed, "utilities").standard_normal(n_arms)
    if winner is not None and n_arms > 1:
        _check_winner(winner)
        second, best = np.argpartition(u, n_arms - 2)[-2:]
        u[best] = u[second] + 2 * np.arctanh(2 * winner - 1)
    return Utilities(u)


def twins(
    n_arms: int = 20, copies: int = 3, *, spread: float = 1.0, winner: float = 0.55, seed: int = 0
) -> PreferenceMatrix:
    """Like `bradley_terry`, with several copies of the best arm, which tie with each other and beat all others.

    >>> twins().copeland_winners, twins().condorcet_winner
    ((0, 1, 2), None)
    """
    _check_arms(n_arms)
    if not 2 <= copies <= n_arms:
        raise ValueError(f"copies must be from 2 to n_arms = {n_arms}, got {copies!r}")
    u = np.sort(utilities(n_arms - copies + 1, spread=spread, winner=winner, seed=seed).utilities)[::-1]
    return Utilities(np.repeat(u, [copies, *[1] * (n_arms - copies)])).matrix()


def uninformative(
    n_arms: int = 700, share: float = 181 / 700, *, clarity: float = 1.0, seed: int = 0
) -> PreferenceMatrix:
    """Like the paper's Yahoo: a `share` of the rankers is useless. They tie with each other and lose to all others.

    The other rankers follow a Bradley-Terry model. They beat the useless ones with probability .6 (the worst) to .85
    (the best). `clarity` is the same as for `web_search`.

    >>> max(len(group) for group in uninformative(70).duplicates())
    18
    """
    _check_arms(n_arms)
    useless = round(n_arms * share)
    if not 0 <= useless < n_arms:
        raise ValueError(f"share must leave at least one informative arm among {n_arms}, got {share!r}")
    _check_clarity(clarity)
    informative = utilities(n_arms - useless, spread=0.4 * clarity, winner=0.5 + 0.05 * clarity, seed=seed)
    P = np.full((n_arms, n_arms), 0.5)
    P[useless:, useless:] = informative.matrix().probabilities
    P[useless:, :useless] = 0.5 + clarity * (0.1 + 0.25 * informative.copeland_scores[:, None])
    P[:useless, useless:] = 1 - P[useless:, :useless].T
    return PreferenceMatrix(P).subset(generator(seed, "uninformative").permutation(n_arms).tolist())


def random_tournament(n_arms: int, *, winner: float | None = 0.55, seed: int = 0) -> PreferenceMatrix:
    """Random preferences: each p_ij is uniform, except that one arm beats all others with probability `winner`.

    With `winner=None` there is no such arm, and almost never a Condorcet winner.

    >>> round(random_tournament(10).smallest_gap, 6)
    0.05
    """
    _check_arms(n_arms)
    draw = generator(seed, "random_tournament")
    P = np.triu(draw.random((n_arms, n_arms)), 1)
    best = draw.integers(n_arms)
    P += np.tril(1 - P.T, -1)
    if winner is not None:
        _check_winner(winner)
        P[best], P[:, best] = winner, 1 - winner
    np.fill_diagonal(P, 0.5)
    return PreferenceMatrix(P)


PROBLEMS: dict[str, Callable[..., Problem]] = {
    problem.__name__: problem
    for problem in (
        cycle,
        cycle2,
        two_winners,
        web_search,
        bradley_terry,
        utilities,
        twins,
        uninformative,
        random_tournament,
    )
}


def named(spec: str) -> Problem:
    """Return a named problem, from a text on the command line or in a spec file.

    >>> named("bradley_terry(n_arms=100, seed=3)").n_arms
    100
    """
    name, options = parse(spec)
    if name not in PROBLEMS:
        raise ValueError(f"unknown problem {name!r}, expected one of {', '.join(PROBLEMS)}")
    parameters = inspect.signature(PROBLEMS[name]).parameters
    known = f"its options: {', '.join(parameters) or 'none'}"
    for option in options:
        if option not in parameters:
            raise ValueError(f"{name} has no option {option!r}; {known}")
    for option, parameter in parameters.items():
        if parameter.default is parameter.empty and option not in options:
            raise ValueError(f"{name} needs the option {option}; {known}")
    try:
        return PROBLEMS[name](**options)
    except TypeError as error:  # a value of the wrong type
        raise ValueError(f"invalid value in {spec}: {error}; {known}") from error


def _round_table(winner: float, neighbour: float) -> PreferenceMatrix:
    """Arm 0 beats all others. The other 19 form a circle: each beats the nine to its left and loses to the rest."""
    left = (np.arange(19) - np.arange(19)[:, None]) % 19
    P = np.full((20, 20), 0.5)
    P[0, 1:], P[1:, 0] = winner, 1 - winner
    P[1:, 1:] = np.select([left == 0, left <= 9], [0.5, neighbour], 1 - neighbour)
    return PreferenceMatrix(P)


def _logistic(lead: Floats) -> Floats:
    return np.asarray(0.5 + 0.5 * np.tanh(lead / 2))


def _check_arms(n_arms: int) -> None:
    if isinstance(n_arms, bool) or not isinstance(n_arms, int | np.integer) or n_arms < 1:
        raise ValueError(f"n_arms must be a whole number of at least 1, got {n_arms!r}")


def _check_clarity(clarity: float) -> None:
    if not 0 < clarity <= 1.4:
        raise ValueError(f"clarity must be above 0 and at most 1.4, got {clarity!r}")


def _check_winner(winner: float) -> None:
    if not 0.5 < winner < 1:
        raise ValueError(f"winner must be above 0.5 and below 1, got {winner!r}")
