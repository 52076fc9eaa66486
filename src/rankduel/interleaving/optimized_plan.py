"""Linear program of Optimized Interleaving: the allowed lists, and the probability of each."""

from functools import lru_cache
from math import log2
from typing import Any

__all__ = ["CREDITS", "MAX_LISTS", "Plan", "plan"]

CREDITS = ("linear", "inverse", "binary")
MAX_LISTS = 20_000  # each place of the page can double the number of lists

Ranking = tuple[int, ...]
Plan = tuple[
    tuple[Ranking, ...], tuple[float, ...], dict[int, float]
]  # lists, their probabilities, credits of documents


@lru_cache(maxsize=256)
def plan(first: Ranking, second: Ranking, k: int, credit: str) -> Plan:
    """Compute the lists to draw from, their probabilities, and the credit of a click on each document.

    Positive credits are for the first ranker.

    >>> lists, chances, credits = plan((0, 1, 2), (1, 2, 0), 3, "linear")
    >>> [(shown, round(chance, 3)) for shown, chance in zip(lists, chances)]
    [((0, 1, 2), 0.333), ((1, 0, 2), 0.333), ((1, 2, 0), 0.333)]
    >>> credits[0] > 0 > credits[1]
    True
    """
    lists = allowed(first, second, k)
    worth = credits_of(first, second, k, credit)
    chances = solve([[worth[document] for document in shown] for shown in lists])
    kept = [(shown, chance) for shown, chance in zip(lists, chances, strict=True) if chance > 0]
    return tuple(shown for shown, _ in kept), tuple(chance for _, chance in kept), worth


def allowed(first: Ranking, second: Ranking, k: int) -> list[Ranking]:
    """List all pages on which each next document is the best unused one of either ranking."""
    lists: list[Ranking] = [()]
    for _ in range(min(k, len({*first, *second}))):
        longer: dict[Ranking, None] = {}
        for shown in lists:
            for ranking in (first, second):
                best = next((document for document in ranking if document not in shown), None)
                if best is not None:
                    longer[(*shown, best)] = None
        lists = list(longer)
        if len(lists) > MAX_LISTS:
            raise ValueError(f"k = {k} gives more than {MAX_LISTS:,} lists; use OptimizedInterleaving with a smaller k")
    return lists


def credits_of(first: Ranking, second: Ranking, k: int, credit: str) -> dict[int, float]:
    """Compute the credit of a click on each document, scaled so that the sum over a page is from -1 to 1."""
    below = max(len(first), len(second)) + 1  # rank of a missing document
    raw: dict[int, float] = {}
    for document in {**dict.fromkeys(first), **dict.fromkeys(second)}:
        a = first.index(document) + 1 if document in first else below
        b = second.index(document) + 1 if document in second else below
        raw[document] = b - a if credit == "linear" else 1 / a - 1 / b if credit == "inverse" else (a < b) - (a > b)
    largest = max(abs(value) for value in raw.values())
    return {document: value / (k * largest) if largest else 0.0 for document, value in raw.items()}


def sensitivity(worths: list[float]) -> float:
    """Sensitivity of a list: the entropy, in bits, of the ranker that a random click credits.

    Position i is clicked with a probability proportional to 1 / i.
    """
    total = sum(1 / rank for rank in range(1, len(worths) + 1))
    a = sum(1 / rank for rank, worth in enumerate(worths, 1) if worth > 0) / total
    b = sum(1 / rank for rank, worth in enumerate(worths, 1) if worth < 0) / total
    return _entropy_part(a) + _entropy_part(b) - _entropy_part(a + b)


def _entropy_part(share: float) -> float:
    return -share * log2(share) if share > 0 else 0.0


def solve(worths: list[list[float]]) -> list[float]:
    """Solve the linear program: probabilities of the lists without bias at any position, with maximum sensitivity.

    `worths` has the credit of a click at each position of each list. If no probabilities are unbiased, the sum of the
    biases is minimal.
    """
    try:
        import numpy as np  # noqa: PLC0415 - needed only with scipy
        from scipy.optimize import linprog  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        message = "OptimizedInterleaving needs scipy, which is not installed: pip install 'rankduel[optimized]'"
        raise ImportError(message) from error
    scale = max((abs(worth) for shown in worths for worth in shown), default=0.0) or 1.0
    positions = np.array(worths).T / scale
    n_positions, n_lists = positions.shape
    gain = np.array([sensitivity(shown) for shown in worths])
    ones = np.ones((1, n_lists))
    right = np.append(np.zeros(n_positions), 1.0)
    answer: Any = linprog(-gain, A_eq=np.vstack([positions, ones]), b_eq=right, method="highs")
    if not answer.success:
        # Two more variables for each position: positive bias and negative bias.
        eye = np.eye(n_positions)
        equal = np.block([[positions, eye, -eye], [ones, np.zeros((1, 2 * n_positions))]])
        biases = np.append(np.zeros(n_lists), np.ones(2 * n_positions))
        least: Any = linprog(biases, A_eq=equal, b_eq=right, method="highs")
        answer = linprog(
            np.append(-gain, np.zeros(2 * n_positions)),
            A_eq=equal,
            b_eq=right,
            A_ub=biases[None],
            b_ub=[least.fun + 1e-9],
            method="highs",
        )
    chances = np.clip(answer.x[:n_lists], 0, None)
    chances[chances < 1e-9] = 0
    return [float(chance) for chance in chances / chances.sum()]
