"""Searches in the loop: what is measured, who wins, and what is refused."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest

import rankduel as rd
from rankduel.datasets import Collection, synthetic
from rankduel.preferences import Kind
from rankduel.simulation import SearchWorld, simulate_runs

COLLECTION = synthetic(n_queries=60, n_rankers=12, n_documents=30, seed=3)


def alike(grade: int, n_rankers: int = 4) -> Collection:
    """Ten documents of one grade, in random orders."""
    scores = np.random.default_rng(1).normal(size=(20, n_rankers))
    return Collection.from_scores(np.full(20, grade), [0, 10, 20], scores)


@pytest.mark.parametrize("grade", [0, 1, 4])
@pytest.mark.parametrize("clicks", ["navigational", "informational"])
def test_clicks_are_those_of_the_user(clicks: str, grade: int) -> None:
    """On lists of one grade the number of clicks has a known mean. False alarm: 1e-6 (4.9 standard errors).

    Caught: clicks after the user has left, clicks of the part of the list that a duel need not build.
    """
    user = rd.clicks.clicks_from(clicks, grades=5)
    run = rd.simulate(
        rd.Uniform(4, seed=1), SearchWorld(alike(grade), clicks=user), horizon=40_000, checkpoints=[40_000]
    )
    mean = run.measures["clicks@10"][0] / 40_000
    assert abs(mean - user.expected_clicks([grade] * 10)) < 4.9 * 2.0 / np.sqrt(40_000)  # a deviation of at most 2
    assert run.measures["ndcg@10"][0] == pytest.approx(40_000 if grade else 0)


def test_ndcg_of_a_ranker_on_its_own() -> None:
    """The only ranker shows its own list. One query: no chance is involved."""
    grades = np.array([0, 1, 0, 4, 2, 0])
    scores = np.array([[5.0], [6.0], [1.0], [4.0], [2.0], [3.0]])  # the list: grades 1, 0, 4, 0, 2, 0
    world = SearchWorld(Collection.from_scores(grades, [0, 6], scores), k=4, clicks="navigational(grades=5)")
    run = rd.simulate(rd.MergeDTS(1, seed=1), world, horizon=100, checkpoints=[1, 100])
    got = 1 / np.log2(2) + 15 / np.log2(4)
    best = 15 / np.log2(2) + 3 / np.log2(3) + 1 / np.log2(4)
    assert run.measures["ndcg@4"].tolist() == pytest.approx([got / best, 100 * got / best])
    assert (run.winner, run.converged_at, run.computed) == (0, 0, 100)


def test_the_winner_goes_on_being_shown() -> None:
    world = SearchWorld(COLLECTION, clicks="perfect")
    run = rd.simulate(rd.MergeDTS(12, seed=1), world, horizon=300_000, checkpoints=[150_000, 300_000], seed=1)
    assert run.winner is not None
    assert run.converged_at is not None
    assert run.converged_at < 100_000
    own = world.collection.select(rankers=[run.winner])
    alone = rd.simulate(rd.MergeDTS(1), SearchWorld(own, clicks="perfect"), horizon=150_000, checkpoints=[150_000])
    for name in ("clicks@10", "ndcg@10"):  # both are means of 150,000 lists: within 1 %
        late = run.measures[name][1] - run.measures[name][0]
        assert late == pytest.approx(alone.measures[name][0], rel=0.01)
    assert np.isnan(run.regret).all()
    assert run.computed == 300_000


def test_regret_where_the_preferences_are_known() -> None:
    estimate = rd.estimate_preferences(COLLECTION, clicks="perfect", duels=2000)
    world = SearchWorld(COLLECTION, clicks="perfect", preferences=estimate.matrix)
    run = rd.simulate(rd.MergeDTS(12, seed=1), world, horizon=200_000, seed=1)
    assert run.winner == estimate.matrix.condorcet_winner == world.condorcet_winner
    assert run.regret[-1] == run.regret[-5] > 0  # the winner on its own costs nothing


def test_same_seed_same_numbers() -> None:
    world = SearchWorld(COLLECTION)
    once, twice = (simulate_runs("MergeDTS", world, horizon=3000, runs=3, jobs=jobs, seed=5) for jobs in (1, 3))
    for a, b in zip(once, twice, strict=True):
        assert a.champion == b.champion
        assert [*a.measures] == [*b.measures] == ["clicks@10", "ndcg@10"]
        for name in a.measures:
            assert a.measures[name].tolist() == b.measures[name].tolist()
    assert once[0].measures["ndcg@10"][-1] != once[1].measures["ndcg@10"][-1]


@pytest.mark.parametrize("interleaving", ["probabilistic", "team_draft", "balanced", "optimized"])
@pytest.mark.parametrize("ties", ["consistent", "redraw", "file"])
def test_every_method_and_rule_finds_the_best(interleaving: str, ties: rd.simulation.Ties) -> None:
    """The first ranker is perfect, the others know nothing."""
    small = synthetic(n_queries=5, n_rankers=4, n_documents=8, quality=[1.0, 0.0, 0.0, 0.0], tieness=[0] * 4, seed=1)
    world = SearchWorld(small, clicks="perfect", interleaving=interleaving, ties=ties, k=4)
    run = rd.simulate(rd.MergeDTS(4, seed=1), world, horizon=5000, seed=1)
    assert run.champion == 0


def test_many_rankers_share_a_page() -> None:
    world = SearchWorld(COLLECTION, clicks="perfect")
    corrected = rd.simulate(rd.MultiUCB(12, seed=1), world, horizon=20_000, checkpoints=[100, 20_000])
    released = rd.simulate(rd.MultiUCB(12, rule="released"), world, horizon=20_000, checkpoints=[100, 20_000])
    best = rd.estimate_preferences(COLLECTION, clicks="perfect", duels=1000).matrix.condorcet_winner
    assert corrected.champion == released.champion == best
    ndcg = [run.measures["ndcg@10"][1] / 20_000 for run in (corrected, released)]
    assert ndcg[0] > ndcg[1] + 0.1  # the corrected rule shows the best alone, the released one all, for ever
    assert corrected.converged_at is released.converged_at is None
    assert np.isnan(corrected.regret).all()


class Always(rd.MultiBandit):
    """The same set of arms, for ever; what it is told is summed up."""

    def __init__(self, n_arms: int, *, arms: Sequence[int], seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed, arms=list(arms))
        self.arms = arms
        self.sums = self.keep("sums", np.zeros((len(arms), len(arms))))

    def pick(self) -> Sequence[int]:
        return self.arms

    def update(self, arms: tuple[int, ...], preferences: npt.NDArray[np.float64]) -> None:
        assert list(arms) == list(self.arms)
        self.sums += preferences

    @property
    def champion(self) -> int:
        return int(self.arms[self.sums.sum(axis=1).argmax()])


def test_the_regret_of_a_page_is_the_mean_of_its_rankers() -> None:
    matrix = rd.estimate_preferences(COLLECTION, clicks="perfect", duels=500).matrix
    world = SearchWorld(COLLECTION, clicks="perfect", preferences=matrix)
    arms = [3, 0, 7]
    kinds: tuple[tuple[Kind, Callable[..., float]], ...] = (("average", np.mean), ("weak", np.min), ("strong", np.max))
    for kind, rule in kinds:
        run = rd.simulate(Always(12, arms=arms), world, horizon=40, checkpoints=[1, 40], kind=kind)
        expected = rule(rd.regret(matrix, kind).gaps[arms])
        assert run.regret == pytest.approx([expected, 40 * expected])


def test_a_page_of_one_is_its_own_list() -> None:
    """And nothing is learnt from it, whatever the method would make of it."""
    for method in ("probabilistic", "team_draft"):
        world = SearchWorld(COLLECTION, clicks="perfect", multileaving=method)
        alone = Always(12, arms=[5])
        shown = rd.simulate(alone, world, horizon=3000, checkpoints=[3000], seed=2)
        assert alone.sums.tolist() == [[0]]
        best = rd.simulate(Itself(12, arm=5), world, horizon=3000, checkpoints=[3000], seed=2)
        assert shown.measures["ndcg@10"] == pytest.approx(best.measures["ndcg@10"])


class Itself(rd.Bandit):
    """One arm meets itself, for ever."""

    def __init__(self, n_arms: int, *, arm: int, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed, arm=arm)
        self.arm = arm

    def pick(self) -> tuple[int, int]:
        return self.arm, self.arm

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        pass

    @property
    def champion(self) -> int:
        return self.arm


@pytest.mark.parametrize("method", ["probabilistic", "team_draft"])
def test_a_certified_tournament_ends(method: str) -> None:
    """With the best ranker, which goes on being shown on its own."""
    world = SearchWorld(COLLECTION, clicks="perfect", multileaving=method)
    bandit = rd.CertifiedMulti(12, delta=0.01, seed=1)
    run = rd.simulate(bandit, world, horizon=30_000, checkpoints=[100, 30_000])
    best = rd.estimate_preferences(COLLECTION, clicks="perfect", duels=1000).matrix.condorcet_winner
    assert run.winner == run.champion == best
    assert run.left == 1
    assert run.converged_at is not None
    assert bandit.told == bandit.asked == run.converged_at < run.duels == 30_000
    alone = rd.simulate(Always(12, arms=[run.winner]), world, horizon=3000, checkpoints=[3000])
    assert run.measures["ndcg@10"][1] / 30_000 > 0.95 * alone.measures["ndcg@10"][0] / 3000


@pytest.mark.parametrize("spec", ["MDB", "MultiSelfSparring(arms_per_duel=3)", "CertifiedMulti"])
def test_bandits_that_play_sets_learn_online(spec: str) -> None:
    world = SearchWorld(COLLECTION, clicks="perfect", multileaving="team_draft")
    runs = rd.simulate_runs(spec, world, horizon=5000, runs=2, jobs=2, checkpoints=[500, 5000])
    again = rd.simulate_runs(spec, world, horizon=5000, runs=2, jobs=1, checkpoints=[500, 5000])
    best = rd.estimate_preferences(COLLECTION, clicks="perfect", duels=1000).matrix.condorcet_winner
    for run, same in zip(runs, again, strict=True):
        assert run.champion == best
        assert run.measures["ndcg@10"] == pytest.approx(same.measures["ndcg@10"])
        early, late = run.measures["ndcg@10"] / run.checkpoints
        assert late > early


def test_live_is_compiled_for_sets_too() -> None:
    """A loop in Python over the same preferences ends in the same state as the compiled one."""

    class Listens(rd.MultiSelfSparring):
        pass

    world = SearchWorld(COLLECTION, clicks="perfect", multileaving="team_draft")
    told: list[tuple[tuple[int, ...], npt.NDArray[np.float64]]] = []

    class Relay(rd.MultiBandit):
        """Asks and tells another bandit."""

        def __init__(self, n_arms: int, *, seed: int | None = None) -> None:
            super().__init__(n_arms, seed=seed)
            self.live = Listens(n_arms, seed=seed)

        def pick(self) -> tuple[int, ...]:
            self.duel = self.live.ask()
            return self.duel.arms

        def update(self, arms: tuple[int, ...], preferences: npt.NDArray[np.float64]) -> None:
            told.append((arms, preferences))
            self.live.tell(self.duel, preferences)

        @property
        def champion(self) -> int:
            return self.live.champion

    relay, compiled = Relay(12, seed=3), Listens(12, seed=3)
    one = rd.simulate(relay, world, horizon=500)
    other = rd.simulate(compiled, world, horizon=500)
    assert relay.live.snapshot() == compiled.snapshot()
    assert one.measures["ndcg@10"] == pytest.approx(other.measures["ndcg@10"])
    assert all((preferences == -preferences.T).all() for _, preferences in told)


def test_pages_of_many_need_users() -> None:
    with pytest.raises(TypeError, match="MultiUCB plays many arms per duel and needs a SearchWorld"):
        rd.simulate(rd.MultiUCB(20), rd.problems.cycle2(), horizon=10)
    redraw = SearchWorld(COLLECTION, ties="redraw")
    with pytest.raises(ValueError, match="ties must be 'file' or 'consistent' for multileaving, got 'redraw'"):
        rd.simulate(rd.MultiUCB(12), redraw, horizon=10)


def test_lists_end_with_the_documents() -> None:
    tiny = Collection.from_scores([1, 0, 1], [0, 1, 3], [[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    run = rd.simulate(rd.Uniform(2, seed=1), SearchWorld(tiny, clicks="perfect", k=500), horizon=2000)
    assert run.measures["ndcg@500"][-1] <= 2000
    assert run.measures["clicks@500"][-1] == 2000  # one relevant document in each list, clicked by the perfect user


def test_what_is_refused() -> None:
    wide = Collection.from_scores([7, 0], [0, 2], [[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match="grades 0 to 7, but published click models have at most 5 grades"):
        SearchWorld(wide)
    with pytest.raises(ValueError, match=r"grades 0 to 7, but .* has only 5 grades"):
        SearchWorld(wide, clicks=rd.clicks.navigational(grades=5))
    for k in (0, -1, 2.5, True, 5000):
        with pytest.raises(ValueError, match=f"k must be a whole number from 1 to 1000, got {k!r}"):
            SearchWorld(COLLECTION, k=k)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ties must be one of consistent, redraw, file, got 'random'"):
        SearchWorld(COLLECTION, ties="random")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unknown click model 'navigator'"):
        SearchWorld(COLLECTION, clicks="navigator")
    with pytest.raises(ValueError, match="unknown interleaving 'sosm'"):
        SearchWorld(COLLECTION, interleaving="sosm")
    with pytest.raises(ValueError, match="unknown multileaving 'balanced'"):
        SearchWorld(COLLECTION, multileaving="balanced")
    with pytest.raises(ValueError, match="preferences have 20 arms, but the collection has 12 rankers"):
        SearchWorld(COLLECTION, preferences=rd.problems.cycle2())
    with pytest.raises(TypeError, match="collection must be a rankduel Collection, got 'MSLR'"):
        SearchWorld("MSLR")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="clicks must be a ClickModel, got 5"):
        SearchWorld(COLLECTION, clicks=5)  # type: ignore[arg-type]


def test_fingerprints_tell_worlds_apart() -> None:
    worlds = [
        SearchWorld(COLLECTION),
        SearchWorld(COLLECTION, clicks="perfect"),
        SearchWorld(COLLECTION, interleaving="probabilistic(tau=2.0)"),
        SearchWorld(COLLECTION, multileaving="sosm"),
        SearchWorld(COLLECTION, k=5),
        SearchWorld(COLLECTION, ties="file"),
        SearchWorld(COLLECTION.select(queries=range(30))),
    ]
    assert len({world.fingerprint for world in worlds}) == len(worlds)
    assert SearchWorld(COLLECTION).fingerprint == worlds[0].fingerprint
