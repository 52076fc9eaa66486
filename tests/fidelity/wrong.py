"""Wrong variants, each an error that someone has made or could make. The tests of law must notice every one."""

import math

import numpy as np

from naive import (
    DTS,
    REX3,
    RMED1,
    RUCB,
    MergeDTS,
    MergeRUCB,
    SelfSparring,
    SparringEXP3,
    SparringThompson,
    SparringTsallisINF,
    SparringUCB1,
    Uniform,
)
from naive.base import Floats, argmax, argmin, lower_bounds, pick, sample_thetas, upper_bounds


def independent_thetas(W: np.ndarray, rng: np.random.Generator) -> Floats:
    """theta_ij and theta_ji drawn independently, as in the authors' released program."""
    theta: Floats = rng.beta(W + 1, W.T + 1)
    np.fill_diagonal(theta, 0.5)
    return theta


# MergeDTS


class IndependentThetas(MergeDTS):
    def sample_tournament(self, batch: list[int]) -> int:
        theta = independent_thetas(self.wins[np.ix_(batch, batch)], self.rng)
        return batch[argmax((theta > 0.5).sum(axis=1), self.rng)]


class LowestIndexWinsTies(MergeDTS):
    def sample_tournament(self, batch: list[int]) -> int:
        theta = sample_thetas(self.wins[np.ix_(batch, batch)], self.rng)
        return batch[int((theta > 0.5).sum(axis=1).argmax())]


class StrongestOpponent(MergeDTS):
    """Algorithm 3 with argmax for argmin."""

    def relative_tournament(self, batch: list[int], c: int) -> int:
        phi = self.rng.beta(self.wins[batch, c] + 1, self.wins[c, batch] + 1)
        phi[batch.index(c)] = -np.inf
        return batch[argmax(phi, self.rng)]


class RowForColumn(MergeDTS):
    def relative_tournament(self, batch: list[int], c: int) -> int:
        phi = self.rng.beta(self.wins[c, batch] + 1, self.wins[batch, c] + 1)
        phi[batch.index(c)] = np.inf
        return batch[argmin(phi, self.rng)]


class SelfDuels(MergeDTS):
    """phi_c = 1/2 for the paper's 1."""

    def relative_tournament(self, batch: list[int], c: int) -> int:
        phi = self.rng.beta(self.wins[batch, c] + 1, self.wins[c, batch] + 1)
        phi[batch.index(c)] = 0.5
        return batch[argmin(phi, self.rng)]


class CountsFromOne(MergeDTS):
    """Beta(w + 2, ...): counts that start at 1, as in the authors' released program, with the prior on top."""

    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        self.wins += 1
        pair = super().choose_in(batch)
        self.wins -= 1
        return pair


# MergeRUCB


class RucbRowForColumn(MergeRUCB):
    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        c = pick(range(len(batch)), self.rng)
        u = self.upper(batch, self.t + 1)
        u[c, c] = -np.inf
        return batch[c], batch[argmax(u[c], self.rng)]


class RucbLowestIndex(MergeRUCB):
    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        c = pick(range(len(batch)), self.rng)
        u = self.upper(batch, self.t + 1)
        u[c, c] = -np.inf
        return batch[c], batch[int(u[:, c].argmax())]


class RucbWithoutBonus(MergeRUCB):
    def upper(self, batch: list[int], t: int) -> Floats:
        return upper_bounds(self.wins[np.ix_(batch, batch)], 0.0)


class RucbBestChampion(MergeRUCB):
    """The first arm is the one with the best record, not any."""

    def choose_in(self, batch: list[int]) -> tuple[int, int]:
        W = self.wins[np.ix_(batch, batch)]
        c = argmax((W.sum(axis=1) + 1) / (W.sum(axis=1) + W.sum(axis=0) + 2), self.rng)
        u = self.upper(batch, self.t + 1)
        u[c, c] = -np.inf
        return batch[c], batch[argmax(u[:, c], self.rng)]


# DTS


class DtsRowForColumn(DTS):
    """The error of a public library, which more than doubles its regret."""

    def choose_second(self, first: int) -> int:
        phi = self.rng.beta(self.wins[first, :] + 1, self.wins[:, first] + 1)
        phi[first] = 0.5
        low = lower_bounds(self.wins, self.bonus)[:, first]
        low[first] = 0.5
        phi[low > 0.5] = -np.inf
        return argmax(phi, self.rng)


class DtsIndependentThetas(DTS):
    def choose_first(self, candidates: list[int]) -> int:
        score = (independent_thetas(self.wins, self.rng) > 0.5).sum(axis=1)
        return candidates[argmax(score[candidates], self.rng)]


class DtsLowestIndex(DTS):
    def choose_first(self, candidates: list[int]) -> int:
        score = (sample_thetas(self.wins, self.rng) > 0.5).sum(axis=1)
        return candidates[int(score[candidates].argmax())]


class DtsEveryCandidate(DTS):
    """No optimism: every arm is a candidate."""

    def candidates(self) -> list[int]:
        return list(range(self.n_arms))


class DtsCandidatesOnly(DTS):
    """Counts victories over other candidates only."""

    def choose_first(self, candidates: list[int]) -> int:
        theta = sample_thetas(self.wins, self.rng)[np.ix_(candidates, candidates)]
        return candidates[argmax((theta > 0.5).sum(axis=1), self.rng)]


class DtsAnySecond(DTS):
    """Forgets the lower bound: arms that are surely better may be chosen."""

    def choose_second(self, first: int) -> int:
        phi = self.rng.beta(self.wins[:, first] + 1, self.wins[first, :] + 1)
        phi[first] = 0.5
        return argmax(phi, self.rng)


# RMED1


class Rmed1OneOpponent(RMED1):
    """I_i of one opponent of O_i, not of all."""

    def divergences(self) -> Floats:
        N = self.wins + self.wins.T
        p = self.means()
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = N * (np.where(p > 0, p * np.log(2 * p), 0) + np.where(p < 1, (1 - p) * np.log(2 * (1 - p)), 0))
        largest: Floats = np.round(np.where(self.beaten_by(), terms, 0).max(axis=1), 9)
        return largest


class Rmed1ToughestOnly(RMED1):
    """The authors' released program: always the toughest opponent, the rule with i* is missing."""

    def opponent(self, arm: int) -> int:
        p = self.means()[arm]
        p[arm] = np.inf
        return argmin(p, self.rng)


class Rmed1StarOnly(RMED1):
    def opponent(self, arm: int) -> int:
        return argmin(self.divergences(), self.rng)


class Rmed1LowestIndex(RMED1):
    """Ties of i* go to the lowest label."""

    def opponent(self, arm: int) -> int:
        best = int(self.divergences().argmin())
        losses_to = self.beaten_by()[arm]
        if losses_to[best] or not losses_to.any():
            return best
        p = self.means()[arm]
        p[arm] = np.inf
        return argmin(p, self.rng)


# Self-Sparring and Sparring


class BestTwoOfOneDraw(SelfSparring):
    def choose(self) -> tuple[int, int]:
        first, second = np.argsort(-self.rng.beta(self.successes + 1, self.failures + 1))[:2]
        return int(first), int(second)


class HalfPrior(SelfSparring):
    """Beta(s + 1/2, f + 1/2)."""

    def best_of_a_draw(self) -> int:
        return argmax(self.rng.beta(self.successes + 0.5, self.failures + 0.5), self.rng)


class NormalDraws(SelfSparring):
    """A normal distribution of the same mean and deviation."""

    def best_of_a_draw(self) -> int:
        a, b = self.successes + 1, self.failures + 1
        mean = a / (a + b)
        return argmax(self.rng.normal(mean, np.sqrt(mean * (1 - mean) / (a + b + 1))), self.rng)


class NoSelfDuelLearnt(SelfSparring):
    def learn(self, first: int, second: int, first_won: bool) -> None:
        if first != second:
            super().learn(first, second, first_won)


class OneThompsonForBoth(SparringThompson):
    """Both sides draw from the same evidence."""

    def choose_side(self, side: int) -> int:
        s, f = self.successes.sum(axis=0), self.failures.sum(axis=0)
        return argmax(self.rng.beta(s + 1, f + 1), self.rng)


class ThompsonSidesSwapped(SparringThompson):
    def choose_side(self, side: int) -> int:
        return super().choose_side(1 - side)


class OneUcbForBoth(SparringUCB1):
    def choose_side(self, side: int) -> int:
        wins, n = self.wins.sum(axis=0), self.plays.sum(axis=0)
        if (n == 0).any():
            return pick(np.flatnonzero(n == 0), self.rng)
        return argmax(wins / n + np.sqrt(self.alpha * math.log(self.t + 1) / n), self.rng)


class UcbLowestIndex(SparringUCB1):
    def choose_side(self, side: int) -> int:
        n = self.plays[side]
        if (n == 0).any():
            return int(np.flatnonzero(n == 0)[0])
        return super().choose_side(side)


class UcbWithoutBonus(SparringUCB1):
    def choose_side(self, side: int) -> int:
        wins, n = self.wins[side], self.plays[side]
        return argmax(wins / np.maximum(n, 1), self.rng)


class Exp3PunishesLosers(SparringEXP3):
    def reward(self, side: int, arm: int, reward: int) -> None:
        self.log_weights[side, arm] += self.gamma * ((2 * reward - 1) / self.probs[side, arm]) / self.n_arms


class Exp3WithoutPropensity(SparringEXP3):
    def reward(self, side: int, arm: int, reward: int) -> None:
        self.log_weights[side, arm] += self.gamma * reward


class Exp3SidesSwapped(SparringEXP3):
    def choose(self) -> tuple[int, int]:
        first, second = super().choose()
        return second, first


class TsallisWithoutPropensity(SparringTsallisINF):
    def reward(self, side: int, arm: int, reward: int) -> None:
        self.losses[side, arm] += 1 - reward


class TsallisRewardsAsLosses(SparringTsallisINF):
    """Subtracts what is won instead of adding what is lost."""

    def reward(self, side: int, arm: int, reward: int) -> None:
        self.losses[side, arm] -= reward / self.probs[side, arm]


class TsallisTwiceAsFast(SparringTsallisINF):
    """Learns at 4 / sqrt(t), which is for losses of less variance."""

    def weights(self, L: Floats, eta: float) -> Floats:
        return super().weights(L, 2 * eta)


class TsallisSidesSwapped(SparringTsallisINF):
    def reward(self, side: int, arm: int, reward: int) -> None:
        super().reward(1 - side, arm, reward)


# REX3, RUCB, Uniform


class Rex3WithoutFactor2(REX3):
    """As the released program."""

    def learn(self, first: int, second: int, first_won: bool) -> None:
        self.gamma *= 2
        super().learn(first, second, first_won)


class Rex3WithoutExploration(REX3):
    def choose(self) -> tuple[int, int]:
        super().choose()
        a, b = self.rng.choice(self.n_arms, size=2, p=(self.probs - self.gamma / self.n_arms) / (1 - self.gamma))
        return int(a), int(b)


class Rex3WinnerOnly(REX3):
    def learn(self, first: int, second: int, first_won: bool) -> None:
        loser = second if first_won else first
        kept = self.log_weights[loser]
        super().learn(first, second, first_won)
        if first != second:
            self.log_weights[loser] = kept


class RucbEvenChampions(RUCB):
    """B's arm has no privilege."""

    def choose_champion(self, C: list[int]) -> int:
        return pick(C or range(self.n_arms), self.rng)


class RucbNoSelfDuels(RUCB):
    """The champion meets another arm although all bounds say that it beats them."""

    def choose(self) -> tuple[int, int]:
        c, _ = super().choose()
        u = upper_bounds(self.wins, self.alpha * math.log(self.t + 1))
        u[c, c] = -np.inf
        return c, argmax(u[:, c], self.rng)


class RucbAnyChampion(RUCB):
    """Champions are drawn without regard to who may be unbeaten."""

    def choose_champion(self, C: list[int]) -> int:
        return pick(range(self.n_arms), self.rng)


class RucbSecondByRow(RUCB):
    def choose(self) -> tuple[int, int]:
        c, _ = super().choose()
        u = upper_bounds(self.wins, self.alpha * math.log(self.t + 1))
        u[c, c] = -np.inf
        return c, argmax(u[c], self.rng)


class WithSelfDuels(Uniform):
    def choose(self) -> tuple[int, int]:
        return int(self.rng.integers(self.n_arms)), int(self.rng.integers(self.n_arms))


class LowerLabelFirst(Uniform):
    def choose(self) -> tuple[int, int]:
        first, second = super().choose()
        return min(first, second), max(first, second)
