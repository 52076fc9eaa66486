"""The loop: regret at checkpoints, convergence, kinds of regret, many runs, and what it refuses."""

import io
import math
from collections import Counter

import numpy as np
import pytest

import rankduel as rd
from rankduel.preferences import Kind, regret
from rankduel.simulation import MatrixWorld, Play, log_checkpoints
from rankduel.testing.fixtures import Coin

CYCLE2 = rd.problems.cycle2()


class Recorder(rd.Bandit):
    """Plays what another bandit chooses, and remembers it."""

    def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed)
        self.inner = rd.SelfSparring(n_arms, seed=seed)
        self.played: list[tuple[int, int]] = []

    def pick(self) -> tuple[int, int]:
        self.duel = self.inner.ask()
        self.played.append((self.duel.first, self.duel.second))
        return self.played[-1]

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        self.inner.tell(self.duel, outcome)

    @property
    def champion(self) -> int:
        return self.inner.champion


@pytest.mark.parametrize("kind", ["average", "weak", "strong", "copeland"])
def test_regret_is_the_sum_over_the_duels_played(kind: Kind) -> None:
    recorder = Recorder(20, seed=1)
    points = [1, 2, 50, 999, 1000]
    run = rd.simulate(recorder, CYCLE2, horizon=1000, checkpoints=points, seed=2, kind=kind)
    cost = regret(CYCLE2, kind)
    by_hand = [math.fsum(cost.of(a, b) for a, b in recorder.played[:point]) for point in points]
    assert run.checkpoints.tolist() == points
    assert run.regret.tolist() == pytest.approx(by_hand, rel=1e-14)


def test_a_python_bandit_plays_the_same_duels_as_the_compiled_one_inside_it() -> None:
    recorder, compiled = Recorder(20, seed=5), rd.SelfSparring(20, seed=5)
    ours = rd.simulate(recorder, CYCLE2, horizon=2000, seed=3)
    theirs = rd.simulate(compiled, CYCLE2, horizon=2000, seed=3)
    assert ours.regret.tolist() == theirs.regret.tolist()
    assert recorder.inner.snapshot() == compiled.snapshot()


def test_asking_and_telling_by_hand_is_the_same_run() -> None:
    bandit, coin = rd.MergeDTS(20, seed=5), Coin(CYCLE2, 3)
    cost, total = regret(CYCLE2), []
    for _ in range(3000):
        duel = bandit.ask()
        bandit.tell(duel, coin(duel))
        total.append(cost.of(duel.first, duel.second))
    run = rd.simulate(rd.MergeDTS(20, seed=5), CYCLE2, horizon=3000, seed=3, checkpoints=[3000])
    assert run.regret[0] == pytest.approx(math.fsum(total), rel=1e-14)


def test_ten_million_terms_lose_nothing() -> None:
    """Against the exact sum: how often each arm was played, times its gap, in whole numbers of 2^-60."""
    problem = rd.problems.web_search(20)
    bandit = rd.Uniform(20, seed=4)
    run = rd.simulate(bandit, problem, horizon=10_000_000, checkpoints=[10_000_000], seed=1)
    fought = np.load(io.BytesIO(bandit.snapshot()))["fought"]
    exact = math.fsum(int(n) * gap / 2 for n, gap in zip(fought, problem.gaps, strict=True))
    assert run.regret[0] == pytest.approx(exact, rel=1e-13)  # a plain running sum is off by about 1e-10


def test_after_convergence_the_last_arm_meets_itself_at_no_cost() -> None:
    run = rd.simulate(rd.MergeDTS(20, seed=1), CYCLE2, horizon=10**15, checkpoints=[10, 10**9, 10**15])
    assert run.winner == run.champion == 0
    assert run.converged_at is not None
    assert run.converged_at == run.computed < 1_000_000
    assert run.regret[1] == run.regret[2]
    assert run.duels == 10**15
    assert run.cpu_seconds < 5


def test_a_wrong_winner_goes_on_to_cost() -> None:
    class Stubborn(rd.Bandit):
        def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
            super().__init__(n_arms, seed=seed)
            self.n_alive = 1

        @property
        def alive(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            return np.array([7])

    run = rd.simulate(Stubborn(20, seed=1), CYCLE2, horizon=1000, checkpoints=[10, 1000])
    assert (run.winner, run.converged_at) == (7, 0)
    assert run.regret.tolist() == pytest.approx([1.0, 100.0])


def test_one_arm_is_a_winner_from_the_start() -> None:
    run = rd.simulate(rd.MergeDTS(1, seed=1), rd.PreferenceMatrix.from_array([[0.5]]), horizon=100)
    assert (run.winner, run.converged_at, run.regret[-1]) == (0, 0, 0)


def test_the_world_and_the_bandit_have_streams_of_their_own() -> None:
    def curve(bandit: int, world: int) -> list[float]:
        result: list[float] = rd.simulate(rd.DTS(20, seed=bandit), CYCLE2, horizon=500, seed=world).regret.tolist()
        return result

    assert curve(1, 1) == curve(1, 1)
    assert curve(1, 1) != curve(1, 2)
    assert curve(1, 1) != curve(2, 1)


def test_outcomes_follow_the_matrix() -> None:
    """First wins with p = 0.6: 5 standard deviations, false alarm 6e-7. Catches a flipped or transposed outcome."""
    problem = rd.PreferenceMatrix.from_array([[0.5, 0.6], [0.4, 0.5]])
    won: Counter[tuple[int, int]] = Counter()

    class Watcher(rd.Bandit):
        def pick(self) -> tuple[int, int]:
            return (0, 1) if self.asked % 2 else (1, 0)

        def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
            won[first, outcome is rd.Outcome.FIRST] += 1

        @property
        def champion(self) -> int:
            return 0

    rd.simulate(Watcher(2, seed=1), problem, horizon=100_000, seed=6)
    for first, expected in ((0, 0.6), (1, 0.4)):
        share = won[first, True] / 50_000
        assert abs(share - expected) < 5 * math.sqrt(0.24 / 50_000)


def test_the_watcher_sees_the_play_and_may_end_it() -> None:
    seen: list[int] = []

    def watch(play: Play) -> None:
        seen.append(play.duels)
        if play.duels > 100_000:
            raise RuntimeError("enough")

    bandit = rd.Uniform(20, seed=1)
    with pytest.raises(RuntimeError, match="enough"):
        rd.simulate(bandit, CYCLE2, horizon=10**12, watch=watch)
    assert seen == sorted(seen)
    assert bandit.told == seen[-1] < 10**9
    bandit.tell(bandit.ask(), rd.Outcome.FIRST)  # and the bandit is as usable as before


def test_same_numbers_whatever_the_number_of_jobs() -> None:
    def runs(jobs: int) -> list[tuple[str, list[float], int]]:
        done = rd.simulate_runs("MergeDTS(batch_size=4)", CYCLE2, horizon=30_000, runs=6, jobs=jobs, seed=9)
        return [(run.bandit, run.regret.tolist(), run.champion) for run in done]

    one, two = runs(1), runs(2)
    assert one == two
    assert len({tuple(regret) for _, regret, _ in one}) == 6


def test_an_error_in_one_run_is_raised_at_once() -> None:
    class Broken(rd.Uniform):
        def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
            super().__init__(n_arms, seed=seed)
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        rd.simulate_runs(Broken, CYCLE2, horizon=10**15, runs=3, jobs=2)


def test_a_pick_out_of_range_is_refused() -> None:
    class Wild(rd.Bandit):
        def pick(self) -> tuple[int, int]:
            return 0, 20

    with pytest.raises(ValueError, match=r"Wild.pick\(\) chose arm 20, expected 0 to 19"):
        rd.simulate(Wild(20, seed=1), CYCLE2, horizon=10)


@pytest.mark.parametrize("horizon", [0, -1, 2.5])
def test_horizon_is_a_whole_number(horizon: int) -> None:
    with pytest.raises(ValueError, match="horizon must be a whole number of at least 1"):
        rd.simulate(rd.Uniform(20), CYCLE2, horizon=horizon)


@pytest.mark.parametrize("checkpoints", [[], [0, 5], [5, 5], [7, 3], [11], [1.5, 3.0]])
def test_checkpoints_increase_within_the_horizon(checkpoints: list[int]) -> None:
    with pytest.raises(ValueError, match="checkpoints must be increasing whole numbers from 1 to 10"):
        rd.simulate(rd.Uniform(20), CYCLE2, horizon=10, checkpoints=checkpoints)


def test_a_bandit_must_fit_its_problem() -> None:
    with pytest.raises(ValueError, match="the bandit has 5 arms, but the problem has 20"):
        rd.simulate(rd.Uniform(5), CYCLE2, horizon=10)


def test_only_bandits_and_problems_are_played() -> None:
    with pytest.raises(TypeError, match="bandit must be a rankduel Bandit"):
        rd.simulate(object(), CYCLE2, horizon=10)  # type: ignore[arg-type]


def test_default_checkpoints_are_log_spaced_and_end_at_the_horizon() -> None:
    points = log_checkpoints(10**8)
    assert points[0] == 1
    assert points[-1] == 10**8
    assert 120 < len(points) <= 161
    assert log_checkpoints(1).tolist() == [1]


def test_utilities_are_played_as_their_matrix() -> None:
    """Same seeds, so the same uniform numbers against the same probabilities: the same run."""
    problem = rd.problems.utilities(30, seed=2)
    ours = rd.simulate(rd.MergeRUCB(30, seed=1), problem, horizon=20_000, seed=4)
    theirs = rd.simulate(rd.MergeRUCB(30, seed=1), problem.matrix(), horizon=20_000, seed=4)
    assert ours.champion == theirs.champion
    assert ours.regret.tolist() == pytest.approx(theirs.regret.tolist(), rel=1e-9)


def test_play_is_what_simulate_runs() -> None:
    play = Play(rd.MergeDTS(20, seed=1), MatrixWorld(CYCLE2, 3), regret(CYCLE2))
    play.advance(700)
    play.advance(1000)
    run = rd.simulate(rd.MergeDTS(20, seed=1), CYCLE2, horizon=1000, seed=3)
    assert (play.duels, play.regret) == (1000, run.regret[-1])


def test_a_run_tells_who_is_left() -> None:
    problem = rd.problems.cycle2()
    merged = rd.simulate(rd.MergeDTS(20, seed=1), problem, horizon=1_000_000)
    assert (merged.left, merged.best_left) == (1, 1)
    lost = next(
        run
        for seed in range(50)
        if (run := rd.simulate(rd.MergeDTS(20, alpha=0.01, c=1.0, seed=seed), problem, horizon=100_000)).winner
        not in (None, 0)
    )
    assert (lost.left, lost.best_left) == (1, 0)
    uniform = rd.simulate(rd.Uniform(20, seed=1), problem, horizon=1000)
    assert (uniform.left, uniform.best_left) == (20, 1)
    two = rd.problems.two_winners()
    assert rd.simulate(rd.Uniform(32, seed=1), two, horizon=10, kind="copeland").best_left == 2
    world = rd.SearchWorld(rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1))
    bandit = rd.MultiUCB(5, seed=1)
    online = rd.simulate(bandit, world, horizon=10)
    assert (online.left, online.best_left) == (5, None)
