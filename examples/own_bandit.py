"""Your own bandit in thirty lines, checked and compared with MergeDTS: `python examples/own_bandit.py`.

In the folder of this file, every command accepts it as `own_bandit:Halving`:

    rankduel simulate cycle2 --bandit own_bandit:Halving --bandit MergeDTS --horizon 1e4 --runs 5
    rankduel bench own_bandit.toml
"""

import argparse

import numpy as np

import rankduel as rd
from rankduel.testing import check_bandit


class Halving(rd.Bandit):
    """Two random arms meet. After `duels` duels per arm on average, eliminate the worse half."""

    def __init__(self, n_arms: int, *, duels: int = 100, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed, duels=duels)  # by name, for repr, snapshots and the command line
        self.duels = duels
        self.left = self.keep("left", np.ones(n_arms, bool))  # stored in every snapshot
        self.wins = self.keep("wins", np.zeros(n_arms))
        self.met = self.keep("met", np.zeros(n_arms))

    def pick(self) -> tuple[int, int]:
        """Choose a pair. Only this method draws random numbers, from self.random."""
        first, second = self.random.choice(self.alive, 2, replace=self.n_alive == 1)
        return int(first), int(second)

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        """Learn from an outcome. Only this method changes the stored arrays."""
        if outcome is not rd.Outcome.TIE and first != second:
            self.wins[first if outcome is rd.Outcome.FIRST else second] += 1
            self.met[[first, second]] += 1
        if self.n_alive > 1 and self.met[self.alive].mean() >= self.duels:
            worst_first = self.alive[np.argsort(self.rates[self.alive])]
            self.left[worst_first[: self.n_alive // 2]] = False
            self.n_alive = len(self.alive)  # when it is 1, the bandit has a winner
            self.wins[:] = self.met[:] = 0

    @property
    def rates(self) -> np.ndarray:
        """Estimated win rate of each arm."""
        return (self.wins + 1) / (self.met + 2)

    @property
    def alive(self) -> np.ndarray:
        """The arms that are left."""
        return np.flatnonzero(self.left)

    @property
    def champion(self) -> int:
        """The best guess so far."""
        return int(self.alive[self.rates[self.alive].argmax()])


def main() -> None:
    """Check the bandit and compare it with MergeDTS."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20, help="runs of each bandit and problem (default: %(default)s)")
    runs = parser.parse_args().runs

    check_bandit(Halving)
    print("Halving passes the conformance suite.")
    for name in ("cycle2", "bradley_terry(n_arms=50)"):
        problem = rd.problems.named(name)
        print(f"\n{name:26}{'regret':>8}   champion right")
        for bandit in (Halving, rd.MergeDTS):
            played = rd.simulate_runs(bandit, problem, horizon=100_000, runs=runs, seed=1)
            regret = np.mean([run.regret[-1] for run in played])
            right = sum(run.champion == problem.condorcet_winner for run in played)
            print(f"{bandit.__name__:26}{regret:8,.0f}   {right} of {runs}")


if __name__ == "__main__":
    main()
