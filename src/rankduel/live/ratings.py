"""Bradley-Terry ratings of rankers, fitted to all duels."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Ratings", "fit_ratings"]

Floats = npt.NDArray[np.float64]
_MAX_ITERATIONS = 100
_MAX_CHANGE = 1e-6  # of a rating in the last iteration
_MIN_RATING_DEVIATION = 0.02  # of the prior of the ratings, around 0


class Ratings(NamedTuple):
    """Ratings r with their standard deviations: i beats j with probability 1 / (1 + exp(r_j - r_i))."""

    means: Floats
    deviations: Floats

    def chance(self, i: int, j: int) -> float:
        """Return the estimated probability that i beats j, ties counted half."""
        return float(1 / (1 + np.exp(self.means[j] - self.means[i])))


def fit_ratings(meetings: npt.NDArray[np.int64], n: int) -> Ratings:
    """Fit the Bradley-Terry model to the duels of n rankers. A tie is half a win for both.

    `meetings` has a row for each pair: ranker i, ranker j, wins of i, wins of j, and ties. The prior is a normal
    distribution around 0. Its variance is estimated from the duels too (EM), so that a few duels make no ranker look
    much better than the others. The fit takes damped Newton steps, one rating at a time. The standard deviation of a
    rating ignores the uncertainty of the others.
    """
    i, j, won, lost, tied = meetings[meetings[:, 0] != meetings[:, 1]].T
    duels, score = (won + lost + tied).astype(float), won + tied / 2
    rating, variance = np.zeros(n), 0.25
    for _ in range(_MAX_ITERATIONS):
        chance = 1 / (1 + np.exp(rating[j] - rating[i]))
        surprise, information = score - duels * chance, duels * chance * (1 - chance)
        slope = np.bincount(i, surprise, n) - np.bincount(j, surprise, n) - rating / variance
        bend = np.bincount(i, information, n) + np.bincount(j, information, n) + 1 / variance
        step = slope / (2 * bend)
        rating += step
        variance = max(_MIN_RATING_DEVIATION**2, float((rating**2 + 1 / bend).mean()))
        if np.abs(step).max() < _MAX_CHANGE:
            break
    return Ratings(rating, 1 / np.sqrt(bend))
