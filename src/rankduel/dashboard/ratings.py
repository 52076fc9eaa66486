"""Bradley-Terry ratings of rankers, and the effect on users that follows from them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rankduel.live import View

__all__ = ["Ratings", "UserEffect", "ratings", "user_effect"]

Floats = npt.NDArray[np.float64]
_ITERATIONS = 100
_MIN_RATING_DEVIATION = 0.02  # of the prior of the ratings, around 0


class Ratings(NamedTuple):
    """Ratings r with their standard deviations: i beats j with probability 1 / (1 + exp(r_j - r_i))."""

    means: Floats
    deviations: Floats


def ratings(view: View) -> Ratings:
    """Fit the Bradley-Terry model to all duels. A tie is half a win for both.

    The prior is a normal distribution around 0. Its variance is estimated from the duels too (EM), so that a few duels
    make no ranker look much better than the others. The fit takes damped Newton steps, one rating at a time. The
    standard deviation of a rating ignores the uncertainty of the others.
    """
    n = len(view.names)
    i, j, won, lost, tied = view.meetings[view.meetings[:, 0] != view.meetings[:, 1]].T
    duels, score = (won + lost + tied).astype(float), won + tied / 2
    rating, variance = np.zeros(n), 0.25
    for _ in range(_ITERATIONS):
        chance = 1 / (1 + np.exp(rating[j] - rating[i]))
        surprise, information = score - duels * chance, duels * chance * (1 - chance)
        slope = np.bincount(i, surprise, n) - np.bincount(j, surprise, n) - rating / variance
        bend = np.bincount(i, information, n) + np.bincount(j, information, n) + 1 / variance
        rating += slope / (2 * bend)
        variance = max(_MIN_RATING_DEVIATION**2, float((rating**2 + 1 / bend).mean()))
    return Ratings(rating, 1 / np.sqrt(bend))


@dataclass(frozen=True, slots=True)
class UserEffect:
    """The estimated effect of the duels on users, compared with showing one ranker (`against`) all the time.

    `per_page` is the probability that users prefer a ranker of a duel to `against`, minus one half, averaged over all
    duels. Above 0, users were better off.
    """

    against: str  # the baseline, or the champion if there is no baseline
    per_page: float
    pages: float  # per_page, summed over all duels


def user_effect(view: View, rated: Ratings) -> UserEffect | None:
    """Return the effect on users. None before the first duel, and if the baseline is not one of the rankers.

    Each ranker of a duel contributes half of the page. So a page of i and j has the mean effect of i and j.
    """
    if not len(view.meetings):
        return None
    baseline = view.settings.baseline
    against = view.champion if baseline is None else _arm_of(view, baseline)
    if against is None:
        return None
    gain = 1 / (1 + np.exp(rated.means[against] - rated.means)) - 0.5
    i, j = view.meetings[:, 0], view.meetings[:, 1]
    duels = view.meetings[:, 2:].sum(1)
    total = float(((gain[i] + gain[j]) / 2 * duels).sum())
    return UserEffect(view.names[against], total / float(duels.sum()), total)


def _arm_of(view: View, name: str) -> int | None:
    return view.names.index(name) if name in view.names else None
