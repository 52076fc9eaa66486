"""Late feedback: the compiled loop against its literal twin, nothing lost or told twice, and what is refused."""

import math
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankduel as rd
from naive.late import Late, Law, empirical, fixed, geometric
from rankduel import delays
from rankduel.preferences import regret
from rankduel.randomness import generator
from rankduel.simulation import Play, UtilityWorld, delay_from
from rankduel.testing.fixtures import Coin, state

CYCLE2 = rd.problems.cycle2()
SOME = [0, 3, 3, 50, 700]

LAWS: dict[str, tuple[str, Law]] = {
    "none": ("Fixed(duels=0)", fixed(0)),
    "fixed": ("Fixed(duels=100)", fixed(100)),
    "geometric": ("Geometric(mean=40)", geometric(40)),
    "quick": ("Geometric(mean=0.5)", geometric(0.5)),
    "empirical": (f"Empirical(delays={SOME})", empirical(SOME)),
}
BOUNDS: dict[str, dict[str, float]] = {
    "free": {},
    "bound": {"in_flight": 30},
    "single": {"in_flight": 1},
    "lossy": {"unanswered": 0.3, "timeout": 60},
    "impatient": {"timeout": 20},
    "all": {"in_flight": 25, "unanswered": 0.1, "timeout": 80},
}


def spec_of(law: str, options: dict[str, float]) -> str:
    return law.removesuffix(")") + "".join(f", {name}={value}" for name, value in options.items()) + ")"


def twin_of(bandit: rd.Bandit, law: Law, options: dict[str, float], seed: int) -> Late:
    return Late(bandit, Coin(CYCLE2, seed), law, generator(seed, "delay"), **options)  # type: ignore[arg-type]


def known(bandit: rd.Bandit) -> dict[str, object]:
    """Its state, apart from the duels in flight: a simulation has them, not the bandit."""
    return {name: value for name, value in state(bandit).items() if name != "pending"}


def same(one: dict[str, object], other: dict[str, object]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", ["MergeDTS", "SparringEXP3"])  # the second needs what travels in the duel
def test_the_loop_does_what_asking_and_telling_late_does(name: str, law: str, bounds: str) -> None:
    text, slow = LAWS[law]
    ours, theirs = (rd.REGISTRY[name](20, seed=5) for _ in range(2))
    twin = twin_of(theirs, slow, BOUNDS[bounds], seed=3)
    twin.play(3000)
    run = rd.simulate(ours, CYCLE2, horizon=3000, checkpoints=[3000], seed=3, delay=spec_of(text, BOUNDS[bounds]))
    assert (ours.asked, ours.told, run.waited) == (theirs.asked, len(twin.told), twin.waited)
    assert same(known(ours), known(theirs))
    cost = regret(CYCLE2)
    assert run.regret[-1] == pytest.approx(math.fsum(cost.of(*page) for page in twin.shown), rel=1e-13)


@pytest.mark.parametrize("name", rd.REGISTRY)
def test_a_delay_of_nothing_changes_nothing(name: str) -> None:
    at_once, late = (rd.REGISTRY[name](20, seed=2) for _ in range(2))
    one = rd.simulate(at_once, CYCLE2, horizon=5000, seed=7)
    other = rd.simulate(late, CYCLE2, horizon=5000, seed=7, delay="Fixed(duels=0)")
    assert one.regret.tolist() == other.regret.tolist()
    assert at_once.snapshot() == late.snapshot()


def test_a_run_to_the_end_is_the_twins() -> None:
    ours, theirs = (rd.MergeDTS(20, alpha=0.1, c=1.0, seed=1) for _ in range(2))
    twin = twin_of(theirs, geometric(300), {"in_flight": 200}, seed=4)
    twin.play(100_000)
    run = rd.simulate(ours, CYCLE2, horizon=100_000, seed=4, delay="Geometric(mean=300, in_flight=200)")
    assert run.converged_at == len(twin.shown) < 100_000
    assert run.winner == theirs.winner
    assert twin.flight  # what nobody has heard of does not matter any more


class Diary(rd.Bandit):
    """Names each duel by its two arms, and remembers of which it has heard, and what."""

    def __init__(self, *, seed: int | None = None) -> None:
        super().__init__(1000, seed=seed)
        self.heard: list[int] = []
        self.outcomes: list[rd.Outcome] = []

    def pick(self) -> tuple[int, int]:
        return divmod(self.asked + 1, 1000)

    def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
        self.heard.append(1000 * first + second)
        self.outcomes.append(outcome)

    @property
    def champion(self) -> int:
        return 7


THOUSAND = rd.problems.utilities(1000)


def laws(options: Any) -> st.SearchStrategy[delays.Delay]:
    return st.one_of(
        st.integers(0, 300).map(lambda duels: delays.Fixed(duels, **options)),
        st.floats(0.01, 300).map(lambda mean: delays.Geometric(mean, **options)),
        st.lists(st.integers(0, 300), min_size=1).map(lambda some: delays.Empirical(some, **options)),
    )


PLACES = st.none() | st.integers(1, 300)
BOUND = st.fixed_dictionaries({"in_flight": PLACES, "timeout": st.none() | st.integers(0, 300)})
LOSSY = st.fixed_dictionaries({"in_flight": PLACES, "timeout": st.integers(0, 300), "unanswered": st.floats(0.01, 0.9)})


@given((BOUND | LOSSY).flatmap(laws), st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(0, 2**32))
def test_nothing_is_lost_or_told_twice_and_the_bound_holds(delay: delays.Delay, steps: list[int], seed: int) -> None:
    bandit = Diary(seed=1)
    play = Play(bandit, UtilityWorld(THOUSAND, seed), None, delay)
    for pages in np.cumsum(steps).tolist():
        play.advance(pages)
        assert play.duels == bandit.asked + play.waited == pages
        assert len(set(bandit.heard)) == len(bandit.heard) == bandit.told
        assert set(bandit.heard) <= set(range(1, bandit.asked + 1))
        forgotten = bandit.asked - bandit.told - play.in_flight
        assert forgotten == 0 if delay.timeout is None else forgotten >= 0
        if delay.in_flight is None:
            assert play.waited == 0
        else:
            assert play.in_flight <= delay.in_flight


def test_outcomes_come_when_they_are_due_and_together_in_the_order_of_asking() -> None:
    late = [0, 5, 5, 30]
    bandit = Diary(seed=1)
    play = Play(bandit, UtilityWorld(THOUSAND, 3), None, delays.Empirical(late))
    draw = generator(3, "delay")
    due = sorted((page + late[int(draw.random() * 4)], page) for page in range(1, 2001))
    for page in range(1, 2001):
        play.advance(page)
        assert bandit.heard == [number for when, number in due if when <= page]


def test_how_late_it_is_told_does_not_depend_on_who_won() -> None:
    heard = []
    for problem in (THOUSAND, rd.Utilities(-THOUSAND.utilities)):  # who wins here loses there, nearly always
        bandit = Diary(seed=1)
        Play(bandit, UtilityWorld(problem, 3), None, delays.Geometric(50, unanswered=0.2, timeout=200)).advance(5000)
        heard.append((bandit.heard, bandit.outcomes))
    (one, won), (other, lost) = heard
    assert one == other
    assert sum(a is not b for a, b in zip(won, lost, strict=True)) > 500


def test_a_page_without_a_duel_shows_the_champion_and_costs_its_regret() -> None:
    """One duel in flight for a hundred pages: the other hundred of each 101 show arm 7, whose gap is 0.1."""

    class Seven(rd.Bandit):
        def pick(self) -> tuple[int, int]:
            return 0, 0

        def update(self, first: int, second: int, outcome: rd.Outcome) -> None:
            pass

        @property
        def champion(self) -> int:
            return 7

    run = rd.simulate(
        Seven(20, seed=1), CYCLE2, horizon=10_100, checkpoints=[10_100], delay="Fixed(duels=100, in_flight=1)"
    )
    assert run.waited == 10_000
    assert run.regret[0] == pytest.approx(1000.0)


def test_searches_are_late_too() -> None:
    collection = rd.datasets.synthetic(n_queries=20, n_rankers=6, seed=1)
    world = rd.SearchWorld(collection)
    bandit = rd.SelfSparring(6, seed=1)
    run = rd.simulate(bandit, world, horizon=4000, delay="Geometric(mean=100, in_flight=50)")
    assert bandit.asked + run.waited == 4000
    assert 0 <= bandit.asked - bandit.told <= 50
    assert 1000 < run.waited < 3000
    assert run.measures["ndcg@10"][-1] / 4000 > 0.3  # pages without a duel are seen as well


@pytest.mark.slow
def test_late_feedback_costs_regret() -> None:
    """Means of 20 runs, about 8 standard errors apart. Catches a loop that tells at once whatever the delay."""
    at_once, late = (
        np.mean([run.regret[-1] for run in rd.simulate_runs("MergeDTS", CYCLE2, horizon=40_000, runs=20, delay=delay)])
        for delay in (None, "Fixed(duels=10_000)")
    )
    assert late > 1.2 * at_once


@pytest.mark.parametrize("mean", [0.5, 3.0, 1000.0])
def test_the_mean_of_a_geometric_delay(mean: float) -> None:
    """A million draws within 5 standard errors of the mean: false alarm 6e-7. Catches counting from 1 instead of 0."""
    sample = delays.Geometric(mean).sample(1_000_000, seed=1)
    error = math.sqrt(mean * (mean + 1) / 1_000_000)
    assert sample.min() == 0
    assert abs(sample.mean() - mean) < 5 * error
    if mean < 100:
        assert abs((sample + 1).mean() - mean) > 5 * error


def test_every_measured_delay_is_as_likely() -> None:
    """Each within 5.5 standard deviations: false alarm 4 x 4e-8. Catches one that is never drawn, or twice as often."""
    values, counts = np.unique(delays.Empirical([5, 7, 11, 13]).sample(400_000, seed=2), return_counts=True)
    assert values.tolist() == [5, 7, 11, 13]
    assert (abs(counts - 100_000) < 5.5 * math.sqrt(75_000)).all()


def test_the_share_of_lost_answers() -> None:
    """Within 5 standard deviations: false alarm 6e-7. Catches a timeout that is taken for an answer."""
    bandit = Diary(seed=1)
    Play(bandit, UtilityWorld(THOUSAND, 2), None, delays.Fixed(10, unanswered=0.25, timeout=10)).advance(200_010)
    assert abs(bandit.told - 150_000) < 5 * math.sqrt(200_000 * 0.25 * 0.75)


def test_a_law_is_read_printed_and_pickled(tmp_path: Path) -> None:
    for law in ("Fixed(duels=3)", "Geometric(mean=2.5, in_flight=7)", "Empirical(delays=[1, 2], timeout=1)"):
        assert repr(delay_from(law)) == law
        assert pickle.loads(pickle.dumps(delay_from(law))) == delay_from(law)
    (tmp_path / "delays.txt").write_text("1, 2\n3 1e3\n")
    assert delays.Empirical(file=tmp_path / "delays.txt").delays.tolist() == [1, 2, 3, 1000]
    assert repr(delays.Empirical(range(1000))) == "<Empirical: 1,000 delays, 499.5 on average>"


def test_what_differs_has_another_fingerprint() -> None:
    long = list(range(100))
    every = [
        *(delays.Fixed(5), delays.Fixed(6), delays.Fixed(5, in_flight=6), delays.Fixed(5, timeout=6)),
        *(delays.Geometric(5), delays.Fixed(5, timeout=6, unanswered=0.1)),
        *(delays.Empirical([5]), delays.Empirical(long), delays.Empirical([*long[:-1], 100])),
    ]
    assert len({delay.fingerprint for delay in every}) == len(every)


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ("Fixed", "options of Fixed: duels, in_flight, unanswered, timeout"),
        ("Fixed(duels=-1)", "duels must be a whole number of duels from 0 to 1e+15, got -1"),
        ("Fixed(duels=1.5)", "duels must be a whole number of duels from 0 to 1e+15, got 1.5"),
        ("Fixed(duels='soon')", "duels must be a whole number of duels from 0 to 1e+15, got 'soon'"),
        ("Fixed(duels=10**16)", "duels must be a whole number of duels from 0 to 1e+15, got 10000000000000000"),
        ("Fixed(duels=5, in_flight=0)", "in_flight must be a whole number of duels from 1 to 1e+15, got 0"),
        ("Fixed(duels=5, timeout=-1)", "timeout must be a whole number of duels from 0 to 1e+15, got -1"),
        ("Fixed(duels=5, unanswered=1, timeout=9)", "unanswered must be at least 0 and below 1, got 1"),
        ("Fixed(duels=5, unanswered=0.1)", "unanswered=0.1 needs a timeout"),
        ("Geometric(mean=0)", "mean must be > 0 and <= 1e+15, got 0"),
        ("Geometric(duels=5)", "options of Geometric: mean, in_flight, unanswered, timeout"),
        ("Empirical(delays=[])", "Empirical needs at least one delay, got none"),
        ("Empirical(delays=[1, -2])", "a delay must be a whole number of duels from 0 to 1e+15, got -2"),
        ("Empirical", "Empirical needs either delays=[...] or file='...'"),
        ("Empirical(file='words.txt')", "words.txt: expected whole numbers of duels, got 'soon'"),
        ("Never", "unknown delay 'Never', expected one of Fixed, Geometric, Empirical"),
    ],
)
def test_a_wrong_delay_is_refused(delay: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("3 4 soon")
    with pytest.raises(ValueError, match=re.escape(message)):
        rd.simulate(rd.Uniform(20), CYCLE2, horizon=10, delay=delay)


def test_only_laws_are_delays_and_only_duels_are_late() -> None:
    with pytest.raises(TypeError, match=r"delay must be a Delay of rankduel\.delays or a text like .*, got 5"):
        rd.simulate(rd.Uniform(20), CYCLE2, horizon=10, delay=5)  # type: ignore[arg-type]
    world = rd.SearchWorld(rd.datasets.synthetic(n_queries=20, n_rankers=5, seed=1))
    with pytest.raises(ValueError, match="MultiUCB plays more than two arms per duel and supports no delay"):
        rd.simulate(rd.MultiUCB(5, seed=1), world, horizon=10, delay="Fixed(duels=5)")
