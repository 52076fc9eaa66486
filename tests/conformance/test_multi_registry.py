"""Every bandit that plays sets keeps the promises of `MultiBandit`, and so does one in plain Python."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import rankduel as rd

Floats = npt.NDArray[np.float64]
Factory = Callable[..., rd.MultiBandit]


class BestThree(rd.MultiBandit):
    """The three arms with the best of a normal draw around their lead."""

    def __init__(self, n_arms: int, *, noise: float = 3.0, seed: int | None = None) -> None:
        super().__init__(n_arms, seed=seed, noise=noise)
        self.noise = noise
        self.lead = self.keep("lead", np.zeros(n_arms))

    def pick(self) -> list[int]:
        drawn: list[int] = np.argsort(self.random.normal(self.lead, self.noise))[-3:].tolist()
        return drawn

    def update(self, arms: tuple[int, ...], preferences: Floats) -> None:
        self.lead[list(arms)] += np.sign(preferences).sum(1)

    @property
    def champion(self) -> int:
        return int(self.lead.argmax())


BANDITS: dict[str, Factory] = {**rd.MULTI_REGISTRY, "BestThree": BestThree}
EACH = pytest.mark.parametrize("make", BANDITS.values(), ids=list(BANDITS))


def answer(arms: tuple[int, ...], rng: np.random.Generator, best: int = 0) -> Floats:
    """Arms are preferred by their distance from the best one, most of the time."""
    n, quality = len(arms), -np.abs(np.array(arms) - best).astype(float)
    difference = quality[:, None] - quality[None, :] + rng.normal(scale=2.0, size=(n, n))
    upper = np.triu(np.sign(difference) * (rng.random((n, n)) > 0.2), 1)
    return np.asarray(upper - upper.T)


def play(bandit: rd.MultiBandit, n: int, seed: int = 1, best: int = 0) -> list[rd.MultiDuel]:
    """Ask and tell at once."""
    rng, trace = np.random.default_rng(seed), []
    for _ in range(n):
        trace.append(bandit.ask())
        bandit.tell(trace[-1], answer(trace[-1].arms, rng, best))
    return trace


@EACH
@pytest.mark.parametrize("n_arms", [1, 2, 3, 9, 30])
def test_legal_sets(make: Factory, n_arms: int) -> None:
    bandit, rng = make(n_arms, seed=1), np.random.default_rng(1)
    for number in range(1, 301):
        alive = set(bandit.alive.tolist())
        duel = bandit.ask()
        assert duel.number == number
        assert all(type(arm) is int for arm in duel.arms)
        assert 1 <= len(set(duel.arms)) == len(duel.arms)
        assert set(duel.arms) <= alive
        bandit.tell(duel, answer(duel.arms, rng))
        assert set(bandit.alive.tolist()) <= alive
        assert bandit.n_alive == len(bandit.alive)
        assert bandit.champion in bandit.alive
        assert bandit.winner == (bandit.alive[0] if bandit.n_alive == 1 else None)


@EACH
def test_counters_and_pending(make: Factory) -> None:
    bandit = make(6, seed=2)
    duels = [bandit.ask() for _ in range(6)]
    assert (bandit.asked, bandit.told, bandit.pending) == (6, 0, duels)
    bandit.tell(duels[4], np.zeros((len(duels[4].arms),) * 2))
    bandit.forget(duels[2])
    assert (bandit.asked, bandit.told) == (6, 1)
    assert bandit.pending == [duels[k] for k in (0, 1, 3, 5)]


@EACH
def test_same_seed_same_trace(make: Factory) -> None:
    one, other, third = make(9, seed=3), make(9, seed=3), make(9, seed=4)
    assert play(one, 200) == play(other, 200)
    assert one.snapshot() == other.snapshot()
    if make not in (rd.MultiUCB, rd.MDB):  # these draw nothing
        assert [duel.arms for duel in play(third, 200)] != [duel.arms for duel in play(make(9, seed=3), 200)]


@EACH
def test_a_restored_bandit_goes_on_as_the_original(make: Factory) -> None:
    bandit = make(9, seed=5)
    play(bandit, 150)
    pending = [bandit.ask() for _ in range(3)]
    cls: Any = type(bandit)
    copies = [cls.restore(bandit.snapshot()), copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))]
    if cls is not BestThree:
        copies.append(rd.MultiBandit.restore(bandit.snapshot()))
    for each in (bandit, *copies):
        assert each.pending == pending
        each.tell(pending[1], answer(pending[1].arms, np.random.default_rng(1)))
    traces = [play(each, 150, seed=2) for each in (bandit, *copies)]
    assert all(trace == traces[0] for trace in traces)
    assert all(each.snapshot() == bandit.snapshot() for each in copies)


@EACH
def test_repr_and_parameters(make: Factory) -> None:
    bandit = make(9, seed=2**80)
    again = eval(repr(bandit), {type(bandit).__name__: type(bandit)})
    assert repr(again) == repr(bandit)
    assert again.parameters == bandit.parameters
    assert (again.n_arms, again.seed) == (9, 2**80)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("best", [0, 7])
def test_finds_the_best(make: Factory, best: int) -> None:
    """Whatever its label."""
    for seed in (1, 2, 3):
        bandit = make(8, seed=seed)
        play(bandit, 1500, seed=seed, best=best)
        assert bandit.champion == best


@EACH
def test_wrong_tells_change_nothing(make: Factory) -> None:
    bandit = make(4, seed=6)
    duel = next(duel for _ in range(50) if len((duel := bandit.ask()).arms) > 1)
    n = len(duel.arms)
    before = bandit.snapshot()
    right = np.zeros((n, n))
    uneven, nan = right.copy(), right.copy()
    uneven[0, 1], nan[0, 1], nan[1, 0] = 1, np.nan, np.nan
    for preferences, message in (
        (np.zeros((n + 1, n + 1)), f"preferences of {n} arms must be {n} x {n}, got shape"),
        (uneven, r"preferences\[0, 1\] is 1.0 and preferences\[1, 0\] is 0.0, expected an antisymmetric matrix"),
        (nan, r"preferences\[0, 1\] is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            bandit.tell(duel, preferences)
    other = rd.MultiDuel(duel.number, tuple(reversed(duel.arms)))
    for wrong in (other, rd.MultiDuel(99, (0, 1))):
        with pytest.raises(rd.UnknownDuel, match="is not pending"):
            bandit.tell(wrong, right)
        with pytest.raises(rd.UnknownDuel, match="is not pending"):
            bandit.forget(wrong)
    for nonsense in ((0, 1), None, rd.Duel(duel.number, 0, 1)):
        with pytest.raises(TypeError, match="duel must be a MultiDuel"):
            bandit.tell(nonsense, right)  # type: ignore[arg-type]
    assert bandit.snapshot() == before
    bandit.tell(duel, right)
    with pytest.raises(rd.UnknownDuel, match="is not pending"):
        bandit.tell(duel, right)


@EACH
def test_wrong_arguments(make: Factory) -> None:
    for n_arms in (0, -1, 2.5, True, None, "3"):
        with pytest.raises(ValueError, match="n_arms must be a whole number of at least 1"):
            make(n_arms, seed=1)
    for seed in (-1, 2.5, True, "1"):
        with pytest.raises(ValueError, match="seed must be a non-negative int"):
            make(3, seed=seed)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("MultiUCB(alpha=0)", "alpha must be > 0, got 0"),
        ("MultiUCB(rule='broken')", "rule must be corrected or released, got 'broken'"),
        ("MDB(alpha=-1)", "alpha must be > 0, got -1"),
        ("MDB(beta=0.9)", "beta must be at least 1, got 0.9"),
        ("MultiSelfSparring(arms_per_duel=1)", "arms_per_duel must be a whole number of at least 2, got 1"),
        ("CertifiedMulti(arms_per_duel=2.5)", "arms_per_duel must be a whole number of at least 2, got 2.5"),
        ("CertifiedMulti(delta=0)", "delta must be > 0 and < 1, got 0"),
        ("CertifiedMulti(delta=1)", "delta must be > 0 and < 1, got 1"),
        ("MDB(gamma=1)", "MDB has no option 'gamma'; its options: alpha, beta"),
    ],
)
def test_wrong_parameters(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rd.bandits.any_bandit_from(spec, 4)


def test_certified_refuses_preferences_beyond_one() -> None:
    bandit = rd.CertifiedMulti(4, seed=1)
    duel = bandit.ask()
    far = np.zeros((4, 4))
    far[2, 0], far[0, 2] = 1.5, -1.5
    with pytest.raises(ValueError, match=r"preferences must be from -1 to 1, got -1\.5"):
        bandit.tell(duel, far)
    assert (bandit.told, bandit.pending) == (0, [duel])
    assert bandit.evidence.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([], "expected a sequence of arm numbers"),
        ([0.5, 1], "expected a sequence of arm numbers"),
        ([[0, 1]], "expected a sequence of arm numbers"),
        ([0, 0], "expected different arms from 0 to 3"),
        ([0, 4], "expected different arms from 0 to 3"),
        ([-1, 2], "expected different arms from 0 to 3"),
    ],
)
def test_wrong_picks(chosen: Any, message: str) -> None:
    class Wrong(BestThree):
        def pick(self) -> list[int]:
            picked: list[int] = chosen
            return picked

    with pytest.raises(ValueError, match=message):
        Wrong(4, seed=1).ask()


def test_unfinished_bandits_say_what_they_need() -> None:
    class Unmade(rd.MultiBandit):
        pass

    class Unborn(BestThree):
        def __init__(self, n_arms: int) -> None:
            pass

    with pytest.raises(NotImplementedError, match="Unmade needs pick"):
        Unmade(3).ask()
    with pytest.raises(NotImplementedError, match="Unmade needs the property champion"):
        _ = Unmade(3).champion
    with pytest.raises(TypeError, match=r"Unborn is not initialised"):
        Unborn(3).ask()


@EACH
def test_bad_snapshots(make: Factory) -> None:
    bandit = make(3, seed=1)
    good, cls = bandit.snapshot(), type(bandit)
    with pytest.raises(rd.SnapshotError, match="not a rankduel snapshot"):
        cls.restore(good[:50])
    with pytest.raises(rd.SnapshotError, match="snapshot of RUCB, expected"):
        cls.restore(rd.RUCB(3, seed=1).snapshot())
    with pytest.raises(rd.SnapshotError, match="unknown bandit 'RUCB'"):
        rd.MultiBandit.restore(rd.RUCB(3, seed=1).snapshot())
