"""Posterior of the true preferences, given all duels: Bradley-Terry ratings, and a deviation of each pair from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rankduel.preferences import PreferenceMatrix

__all__ = ["PreferencePosterior"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_ITERATIONS = 12  # of each fit, which begins at the previous one
_DEVIATIONS = 0.01 * 2.0 ** np.arange(8)  # standard deviations of e that are tried
_TYPICAL_DEVIATION, _FACTOR = 0.06, 3.0  # their prior: log-normal, with this median and standard deviation
_TYPICAL_RATING, _PRIOR_RANKERS = 0.5, 2.0  # prior of the standard deviation of r, and its weight in rankers
_MAX_LOGIT = 6.0  # a probability of 0.25 %
_MAX_TRIES = 20  # draws until one ranker beats all others


@dataclass(frozen=True, slots=True)
class _Fit:
    """The posterior for one standard deviation of e. `pull` is how far a pair follows its own record, from 0 to 1."""

    likelihood: float  # logarithm
    rating_variance: float
    deviation: float
    mean: Floats  # of the ratings
    root: Floats  # of their covariance
    response: Floats  # logit of each pair, according to its own record
    pull: Floats


class PreferencePosterior:
    """Preferences given the decisive duels: logit p_ij = r_i - r_j + e_ij, with normal ratings r and deviations e.

    The standard deviation of r is estimated from the duels (EM). For e, several standard deviations are tried, and
    weighted by their likelihood. So a pair that hardly met is drawn near the prediction of the ratings, and a pair that
    met often near its own record. The ratings have a joint normal distribution (Laplace), which knows the difference of
    two rankers with the same opponents better than either rating.

    >>> posterior = PreferencePosterior(3, np.array([[0, 1, 60, 40], [1, 2, 600, 400]]))
    >>> random = np.random.default_rng(0)
    >>> drawn = [posterior.draw(np.arange(3), random).probabilities for _ in range(1000)]
    >>> np.mean(drawn, 0)[[0, 1], [1, 2]].round(1).tolist(), np.std(drawn, 0)[[0, 1], [1, 2]].round(2).tolist()
    ([0.6, 0.6], [0.05, 0.02])
    """

    def __init__(self, n_arms: int, meetings: Integers) -> None:
        """Fit to rows of ranker i, ranker j, once for each pair, wins of i and wins of j. More columns are ignored."""
        met = meetings[(meetings[:, 0] != meetings[:, 1]) & (meetings[:, 2] + meetings[:, 3] > 0)]
        self._n = n_arms
        self._i, self._j, self._won, lost = met[:, :4].T
        self._duels = (self._won + lost).astype(float)
        self._fits: list[_Fit] = []
        rating_variance, logit = _TYPICAL_RATING**2, np.zeros(len(met))
        for deviation in _DEVIATIONS.tolist():
            fit = self._fit(deviation, rating_variance, logit)
            self._fits.append(fit)
            rating_variance = fit.rating_variance
        prior = -0.5 * (np.log(_DEVIATIONS / _TYPICAL_DEVIATION) / np.log(_FACTOR)) ** 2
        weights = prior + [fit.likelihood for fit in self._fits]
        weights = np.exp(weights - weights.max())
        self._weights = weights / weights.sum()

    def _fit(self, deviation: float, rating_variance: float, logit: Floats) -> _Fit:
        """Fit the ratings by Newton steps, for one standard deviation of e. Changes `logit`, the start."""
        i, j, n, variance = self._i, self._j, self._n, deviation**2
        for _ in range(_ITERATIONS):
            chance = 1 / (1 + np.exp(-logit))
            information = self._duels * chance * (1 - chance)
            response = logit + (self._won - self._duels * chance) / information
            weight = information / (1 + information * variance)
            precision = np.zeros((n, n))
            precision[i, j] = precision[j, i] = -weight
            precision[np.diag_indices(n)] = 1 / rating_variance - precision.sum(1)
            covariance = np.linalg.inv(precision)
            mean = covariance @ (np.bincount(i, weight * response, n) - np.bincount(j, weight * response, n))
            lead = mean[i] - mean[j]
            pull = weight * variance
            logit[:] = np.clip(lead + pull * (response - lead), -_MAX_LOGIT, _MAX_LOGIT)
            squares = float((mean**2 + np.diag(covariance)).sum())
            rating_variance = (squares + _PRIOR_RANKERS * _TYPICAL_RATING**2) / (n + _PRIOR_RANKERS)
        likelihood = (
            float((self._won * logit - self._duels * np.logaddexp(0, logit)).sum())
            - 0.5 * float(((logit - lead) ** 2).sum() / variance + np.log1p(information * variance).sum())
            - 0.5 * float((mean**2).sum() / rating_variance + n * np.log(rating_variance))
            - 0.5 * float(np.linalg.slogdet(precision)[1])
            - 0.5 * _PRIOR_RANKERS * (np.log(rating_variance) + _TYPICAL_RATING**2 / rating_variance)
        )
        root = np.linalg.cholesky(covariance)
        return _Fit(likelihood, rating_variance, deviation, mean, root, response, pull)

    def draw(self, arms: Integers, random: np.random.Generator) -> PreferenceMatrix:
        """Draw the preferences between some arms, and 1/2 for all other pairs.

        Draws are repeated until one of the arms beats all others: the certificate assumes that there is one. After 20
        draws without such an arm, the last one is returned.
        """
        fit = self._fits[random.choice(len(self._fits), p=self._weights)]
        place = np.full(self._n, -1)
        place[arms] = np.arange(len(arms))
        met = (place[self._i] >= 0) & (place[self._j] >= 0)
        i, j, pull, response = place[self._i[met]], place[self._j[met]], fit.pull[met], fit.response[met]
        for _ in range(_MAX_TRIES):
            ratings = (fit.mean + fit.root @ random.standard_normal(self._n))[arms]
            noise = np.triu(fit.deviation * random.standard_normal((len(arms), len(arms))), 1)
            logits = ratings[:, None] - ratings + noise - noise.T
            lead = ratings[i] - ratings[j]
            logits[i, j] = (
                lead + pull * (response - lead) + fit.deviation * np.sqrt(1 - pull) * random.standard_normal(len(i))
            )
            logits[j, i] = -logits[i, j]
            if ((logits > 0).sum(1) == len(arms) - 1).any():
                break
        full = np.full((self._n, self._n), 0.5)
        full[np.ix_(arms, arms)] = 0.5 + 0.5 * np.tanh(logits / 2)
        return PreferenceMatrix(full)
