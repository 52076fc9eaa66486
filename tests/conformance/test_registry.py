"""Every bandit of the registry passes every check that we ship, and the checks can fail."""

import re
from typing import cast

import numpy as np
import pytest

import rankduel as rd
from conformance.bandits import WRONG, KnockOut, Wins, with_other_prior
from rankduel.testing import CHECKS, Factory, check_bandit

NOT_FOR = {"Uniform": {"beats_uniform", "late_tells_still_teach"}}  # it is the floor
CASES = [(name, check) for name in rd.REGISTRY for check in CHECKS if check not in NOT_FOR.get(name, set())]


@pytest.mark.parametrize(("name", "check"), CASES, ids=[f"{name}-{check}" for name, check in CASES])
def test_registry(name: str, check: str) -> None:
    CHECKS[check](rd.REGISTRY[name])


def small_merge_dts(n_arms: int, *, seed: int) -> rd.Bandit:
    return rd.MergeDTS(n_arms, batch_size=4, c=100.0, seed=seed)


def small_merge_rucb(n_arms: int, *, seed: int) -> rd.Bandit:
    return rd.MergeRUCB(n_arms, batch_size=3, alpha=0.5, c=10.0, seed=seed)


def fixed_rex3(n_arms: int, *, seed: int) -> rd.Bandit:
    return rd.REX3(n_arms, gamma=0.1, seed=seed)


def fixed_exp3(n_arms: int, *, seed: int) -> rd.Bandit:
    return rd.SparringEXP3(n_arms, gamma=0.1, seed=seed)


def bold_rmed1(n_arms: int, *, seed: int) -> rd.Bandit:
    return rd.RMED1(n_arms, f=0.5, seed=seed)


def certified(name: str) -> Factory:
    """Elimination with a promise; at a delta so large that a few hundred duels are enough for some."""

    def made(n_arms: int, /, *, seed: int) -> rd.Bandit:
        return rd.bandit_from(f"{name}(elimination=Certified(delta=0.5))", n_arms, seed=seed)

    return made


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ["MergeDTS", "MergeRUCB", "SelfSparring", "DTS", "Uniform"])
def test_certified(name: str, check: str) -> None:
    if check not in NOT_FOR.get(name, set()):
        CHECKS[check](certified(name))


PARAMETERS = [small_merge_dts, small_merge_rucb, fixed_rex3, fixed_exp3, bold_rmed1]


@pytest.mark.slow
@pytest.mark.parametrize("factory", PARAMETERS)
def test_with_other_parameters(factory: Factory) -> None:
    """Many batches, many merges, a fixed share of exploration: what the defaults do not reach with few arms."""
    check_bandit(factory)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("bandit", [Wins, KnockOut])
def test_a_bandit_in_plain_python(bandit: Factory, check: str) -> None:
    CHECKS[check](bandit)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bandit", "check", "says"), WRONG, ids=[f"{bandit.__name__}-{check}" for bandit, check, _ in WRONG]
)
def test_the_suite_can_fail(bandit: Factory, check: str, says: str) -> None:
    with pytest.raises((AssertionError, ValueError), match=re.escape(says)):
        CHECKS[check](bandit)


def test_a_parameter_that_is_not_kept_is_found() -> None:
    with pytest.raises(AssertionError, match="restored after"):
        CHECKS["snapshot_and_continue"](with_other_prior)


def test_every_check_is_seen_to_fail() -> None:
    untested = set(CHECKS) - {check for _, check, _ in WRONG}
    assert untested == {"repr_round_trips"}, "test_check_bandit_lists_what_failed covers that one"


def test_check_bandit_lists_what_failed() -> None:
    class Nameless(Wins):
        def __repr__(self) -> str:
            return "a bandit"

    fast = CHECKS.keys() - {"repr_round_trips", "counters", "wrong_arguments"}
    with pytest.raises(AssertionError) as caught:
        check_bandit(Nameless, skip=fast)
    assert str(caught.value).startswith("1 of 3 checks failed\nrepr_round_trips: eval(a bandit) raises SyntaxError")


def test_check_bandit_reports_what_a_bandit_raises() -> None:
    class Unmade(rd.Bandit):
        pass

    with pytest.raises(AssertionError, match=re.escape("legal_arms: NotImplementedError: Unmade needs pick()")):
        check_bandit(Unmade, skip=CHECKS.keys() - {"legal_arms"})
    with pytest.raises(ValueError, match="unknown checks in skip: beats_everybody; known checks: legal_arms, "):
        check_bandit(Unmade, skip=["beats_everybody"])


@pytest.mark.parametrize("name", rd.REGISTRY)
def test_numbers_of_numpy_are_numbers(name: str) -> None:
    """A seed or a count out of an array is as good as an int, to the last snapshot."""
    n_arms, seed = cast(int, np.int64(5)), cast(int, np.uint32(7))
    bandit = rd.REGISTRY[name](n_arms, seed=seed)
    same = rd.REGISTRY[name](5, seed=7)
    assert repr(bandit) == repr(same)
    assert bandit.snapshot() == same.snapshot()


@pytest.mark.parametrize(
    ("name", "option"), [("RMED1", "f"), ("REX3", "gamma"), ("SparringEXP3", "gamma"), ("MergeDTS", "alpha")]
)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_parameters_of_numpy_are_parameters(name: str, option: str, kind: type[np.floating]) -> None:
    bandit = rd.REGISTRY[name](5, seed=1, **{option: kind(0.25)})
    assert repr(bandit) == repr(rd.REGISTRY[name](5, seed=1, **{option: 0.25}))
    assert bandit.snapshot()
