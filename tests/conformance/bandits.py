"""Bandits in plain Python: two that are right, and one that is wrong in each way that the suite must notice."""

import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rankduel import Bandit, Duel, Outcome


class Wins(Bandit):
    """Right: Thompson sampling on single arms, from two arrays that it keeps."""

    def __init__(self, n_arms: int, *, prior: float = 1.0, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed, prior=prior)
        self.prior = prior
        self.won = self.keep("won", np.zeros(n_arms))
        self.lost = self.keep("lost", np.zeros(n_arms))

    def draw(self) -> int:
        return int(self.random.beta(self.won + self.prior, self.lost + self.prior).argmax())

    def pick(self) -> tuple[int, int]:
        return self.draw(), self.draw()

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        if outcome is not Outcome.TIE:
            winner, loser = (first, second) if outcome is Outcome.FIRST else (second, first)
            self.won[winner] += 1
            self.lost[loser] += 1

    @property
    def champion(self) -> int:
        return int(((self.won + 1) / (self.won + self.lost + 2)).argmax())


class KnockOut(Bandit):
    """Right: plays random pairs of the arms left, and takes out an arm that is 12 losses behind another."""

    def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed)
        self.lead = self.keep("lead", np.zeros((n_arms, n_arms), np.int64))
        self.out = self.keep("out", np.zeros(n_arms, bool))

    def pick(self) -> tuple[int, int]:
        alive = self.alive
        if len(alive) == 1:
            return int(alive[0]), int(alive[0])
        first, second = self.random.choice(alive, 2, replace=False)
        return int(first), int(second)

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        if outcome is Outcome.TIE or first == second or self.out[[first, second]].any():
            return
        winner, loser = (first, second) if outcome is Outcome.FIRST else (second, first)
        self.lead[winner, loser] += 1
        self.lead[loser, winner] -= 1
        if self.lead[winner, loser] >= 12:
            self.out[loser] = True
            self.n_alive -= 1

    @property
    def alive(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(~self.out)

    @property
    def champion(self) -> int:
        alive = self.alive
        return int(alive[self.lead[alive].sum(axis=1).argmax()])


# Wrong, each in one way


class IgnoresTells(Wins):
    def update(self, first: int, second: int, outcome: Outcome) -> None:
        pass


class CreditsTheLastAsked(Wins):
    """Takes every outcome for that of the duel last asked for."""

    def __init__(self, n_arms: int, *, prior: float = 1.0, seed: int | None = None) -> None:
        super().__init__(n_arms, prior=prior, seed=seed)
        self.last = self.keep("last", np.zeros(2, np.int64))

    def pick(self) -> tuple[int, int]:
        self.last[:] = super().pick()
        return int(self.last[0]), int(self.last[1])

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        super().update(int(self.last[0]), int(self.last[1]), outcome)


class LearnsFromAsks(Wins):
    """Takes being asked for a win."""

    def pick(self) -> tuple[int, int]:
        picked = super().pick()
        self.won[self.n_arms - 1] += 1000
        return picked


class LearnsFlipped(Wins):
    """A bool compared the wrong way round."""

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        super().update(second, first, outcome)


class IgnoresSeed(Wins):
    def __init__(self, n_arms: int, *, prior: float = 1.0, seed: int | None = None) -> None:
        super().__init__(n_arms, prior=prior, seed=seed)
        self.mine = self.keep("mine", np.zeros(1, np.int64))

    def pick(self) -> tuple[int, int]:
        self.mine += 1
        draws = np.random.default_rng(int(self.mine[0])).beta(self.won + 1, self.lost + 1, (2, self.n_arms))
        return int(draws[0].argmax()), int(draws[1].argmax())


class GlobalRandomness(Wins):
    """Draws from a generator that all of the process share."""

    def pick(self) -> tuple[int, int]:
        return random.randrange(self.n_arms), self.draw()


class ForgetsState(Wins):
    """Does not keep what it learns."""

    def __init__(self, n_arms: int, *, prior: float = 1.0, seed: int | None = None) -> None:
        super().__init__(n_arms, prior=prior, seed=seed)
        self.won = self.won.copy()


class ForgetsParameter(Wins):
    """Does not tell the base of its parameter, so that neither repr nor snapshot has it."""

    def __init__(self, n_arms: int, *, seed: int | None = None, prior: float = 1.0) -> None:
        Bandit.__init__(self, n_arms, seed=seed)
        self.prior = prior
        self.won = self.keep("won", np.zeros(n_arms))
        self.lost = self.keep("lost", np.zeros(n_arms))


class NumbersAsArms(Wins):
    """Counts arms from 1."""

    def pick(self) -> tuple[int, int]:
        first, second = super().pick()
        return first + 1, second + 1


class AsksTheDead(KnockOut):
    def pick(self) -> tuple[int, int]:
        first, second = self.random.integers(self.n_arms, size=2)
        return int(first), int(second)


class CountsNobodyOut(KnockOut):
    """Knocks arms out, but leaves n_alive as it is."""

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        super().update(first, second, outcome)
        self.n_alive = self.n_arms


class DeadChampion(KnockOut):
    @property
    def champion(self) -> int:
        return self.n_arms - 1


class NeedsThreeArms(Wins):
    def pick(self) -> tuple[int, int]:
        first, second = self.random.choice(self.n_arms, 2, replace=False)
        return int(first), int(second)


class TrustsAnyTell(Wins):
    def tell(self, duel: Duel, outcome: Outcome) -> None:
        if duel in self.pending:
            super().tell(duel, outcome)


class TellsBools(Wins):
    """Takes True for the first arm's victory."""

    def tell(self, duel: Duel, outcome: Outcome) -> None:
        super().tell(duel, Outcome.FIRST if isinstance(outcome, bool) and outcome else outcome)


class ChangesBeforeItChecks(Wins):
    def tell(self, duel: Duel, outcome: Outcome) -> None:
        self.lost[0] += 1
        super().tell(duel, outcome)


class AcceptsAnything(Wins):
    def __init__(self, n_arms: int, *, prior: float = 1.0, seed: int | None = None) -> None:
        super().__init__(max(1, int(n_arms or 1)), prior=prior, seed=abs(int(seed or 0)))


class LowestLabelFirst(Bandit):
    """Explores in the order of the labels, and breaks ties by them."""

    def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed)
        self.won = self.keep("won", np.zeros(n_arms))
        self.played = self.keep("played", np.zeros(n_arms))

    def pick(self) -> tuple[int, int]:
        if self.played.min() < 20:
            return int(self.played.argmin()), int(self.random.integers(self.n_arms))
        return self.champion, int(self.random.integers(self.n_arms))

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        self.played[[first, second]] += 1
        if outcome is not Outcome.TIE:
            self.won[first if outcome is Outcome.FIRST else second] += 1

    @property
    def champion(self) -> int:
        return int((self.won / np.maximum(self.played, 1)).argmax())


class TiesKnockOut(KnockOut):
    """Takes a tie for a victory of the lower label."""

    def update(self, first: int, second: int, outcome: Outcome) -> None:
        lower = Outcome.FIRST if first < second else Outcome.SECOND
        super().update(first, second, lower if outcome is Outcome.TIE else outcome)


class AsksDifferentlyByHand(Wins):
    """Live and simulated play go different ways."""

    def ask(self) -> Duel:
        self.random.random()
        return super().ask()


class RestoresAnything(Wins):
    @classmethod
    def restore(cls, data: bytes) -> "RestoresAnything":
        try:
            return super().restore(data)
        except ValueError:
            return cls(6, seed=1)


class ForgetsPending(Wins):
    @classmethod
    def restore(cls, data: bytes) -> "ForgetsPending":
        bandit = super().restore(data)
        for duel in bandit.pending:
            bandit.forget(duel)
        return bandit


class SharedState(Wins):
    """A copy that writes into the arrays of the original."""

    def __deepcopy__(self, memo: object) -> "SharedState":
        twin = SharedState(self.n_arms, seed=self.seed)
        for duel in self.pending:
            assert twin.ask().number <= duel.number
        twin.won, twin.lost = self.won, self.lost
        return twin


class MiscountsTells(Wins):
    """Swallows every fifth tell without a word."""

    def tell(self, duel: Duel, outcome: Outcome) -> None:
        if duel.number % 5 == 0:
            self.forget(duel)
        else:
            super().tell(duel, outcome)


WRONG: Sequence[tuple[type[Bandit], str, str]] = [  # the bandit, the check that must fail, part of what it must say
    (IgnoresTells, "beats_uniform", "uniform play"),
    (IgnoresTells, "late_tells_still_teach", "uniform play"),
    (CreditsTheLastAsked, "late_tells_still_teach", "uniform play"),
    (LearnsFromAsks, "adopted", "the champions differ"),
    (LearnsFlipped, "flipped", "the champion must be arm 0"),
    (LearnsFlipped, "beats_uniform", "uniform play"),
    (IgnoresSeed, "different_seeds", "the seed has no effect"),
    (GlobalRandomness, "same_seed", "same seed"),
    (GlobalRandomness, "late_tells", "same seed"),
    (ForgetsState, "snapshot_and_continue", "restored after"),
    (ForgetsState, "snapshot_keeps_pending", "restored after"),
    (ForgetsState, "copies", "champion is"),
    (NumbersAsArms, "legal_arms", "chose arm"),
    (NumbersAsArms, "few_arms", "chose arm"),
    (AsksTheDead, "legal_arms", "which was eliminated"),
    (CountsNobodyOut, "alive_champion_winner", "n_alive"),
    (DeadChampion, "alive_champion_winner", "champion"),
    (NeedsThreeArms, "few_arms", "Cannot take a larger sample"),
    (TrustsAnyTell, "wrong_duels", "got no error"),
    (ChangesBeforeItChecks, "wrong_duels", "the states differ in lost"),
    (TellsBools, "wrong_outcomes", "got no error"),
    (ChangesBeforeItChecks, "wrong_outcomes", "the states differ in lost"),
    (AcceptsAnything, "wrong_arguments", "n_arms=0"),
    (LowestLabelFirst, "relabelling", "with reversed labels"),
    (TiesKnockOut, "ties_and_self_duels", "ties alone eliminated arms"),
    (AsksDifferentlyByHand, "live_is_compiled", "by hand"),
    (RestoresAnything, "restore_refuses", "got no error"),
    (ForgetsPending, "snapshot_keeps_pending", "pending"),
    (SharedState, "copies", "copy after"),
    (MiscountsTells, "counters", "2 tells"),
]


def with_other_prior(n_arms: int, *, seed: int) -> Bandit:
    """A factory that fills in a parameter which the class then forgets."""
    return ForgetsParameter(n_arms, seed=seed, prior=3.0)
