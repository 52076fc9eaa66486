"""A snapshot that is not one of its bandit is refused; one that is accepted is played without a crash.

`RANKDUEL_MUTATIONS` says how many mutated snapshots of each bandit are tried.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankduel as rd
from rankduel.bandits import MULTI_REGISTRY, REGISTRY

MUTATIONS = int(os.environ.get("RANKDUEL_MUTATIONS", "30"))  # `make soak` tries more
FUZZER = Path(__file__).with_name("snapshot_fuzzer.py")
ARM = 2147483647


def changed(bandit: Any, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> bytes:
    """The snapshot of a bandit, with something changed in its arrays or its header."""
    with np.load(io.BytesIO(bandit.snapshot())) as file:
        arrays = dict(file)
    header = json.loads(str(arrays.pop("header")))
    change(arrays, header)
    data = io.BytesIO()
    np.savez(data, header=np.array(json.dumps(header)), **arrays)
    return data.getvalue()


def played(bandit: Any, duels: int = 300) -> Any:
    """A bandit that was told that the lower arm has won."""
    for _ in range(duels):
        duel = bandit.ask()
        bandit.tell(duel, rd.Outcome.FIRST if duel.first < duel.second else rd.Outcome.SECOND)
    return bandit


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the fuzzer forks")
@pytest.mark.parametrize("names", [tuple(REGISTRY), tuple(MULTI_REGISTRY)], ids=["duels", "multi-duels"])
def test_a_mutated_snapshot_is_refused_or_played(names: tuple[str, ...]) -> None:
    """Mutated snapshots of every registered bandit neither crash nor hang the process, nor choose an unknown arm."""
    command = [sys.executable, str(FUZZER), str(MUTATIONS), *names]
    fuzzed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert fuzzed.returncode == 0, fuzzed.stdout + fuzzed.stderr


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize("arm", [ARM, 6, -1, 0.5, None, 2**70])
def test_a_pending_duel_names_arms_of_the_bandit(name: str, arm: Any) -> None:
    """A pending duel with an arm that does not exist, or is no whole number, is refused by every bandit."""
    bandit = REGISTRY[name](6, seed=1)
    bandit.ask()
    data = changed(bandit, lambda _, header: header["pending"][0].__setitem__(1, arm))
    with pytest.raises(rd.SnapshotError, match="an arm of a pending duel is"):
        rd.Bandit.restore(data)


@pytest.mark.parametrize("name", MULTI_REGISTRY)
@pytest.mark.parametrize("arms", [[ARM], [0, 0], [], [0.5]])
def test_a_pending_multi_duel_names_arms_of_the_bandit(name: str, arms: Any) -> None:
    """The same of duels of many arms, and no arm is in one twice."""
    bandit = MULTI_REGISTRY[name](6, seed=1)
    bandit.ask()
    with pytest.raises(rd.SnapshotError, match="pending duel"):
        rd.MultiBandit.restore(changed(bandit, lambda _, header: header["pending"][0].__setitem__(1, arms)))


@pytest.mark.parametrize(
    ("field", "value"), [("number", 0), ("number", 2**60), ("propensity", [0.0, 0.5]), ("propensity", [2.0, 0.5])]
)
def test_a_pending_duel_has_a_number_and_chances(field: str, value: Any) -> None:
    """Numbers that were never given and propensities that are no chances are refused."""
    bandit = rd.REX3(6, seed=1)
    bandit.ask()
    place = ("number", "first", "second", "propensity").index(field)
    with pytest.raises(rd.SnapshotError, match="pending duel"):
        rd.Bandit.restore(changed(bandit, lambda _, header: header["pending"][0].__setitem__(place, value)))


def set_value(array: str, place: Any, value: float) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda arrays, _: arrays[array].__setitem__(place, value)


@pytest.mark.parametrize(
    ("bandit", "change", "message"),
    [
        ("Uniform", set_value("left", 0, 5), r"left\[\d\] is \d, expected \d"),
        ("RMED1", set_value("turns", 0, ARM), r"turns\[0\] is 2147483647, expected a number from 0 to 5"),
        ("RMED1", set_value("counts", 0, 0), r"counts\[0\] is 0, expected a number from 1 to 6"),
        ("RMED1", set_value("pair", 0, 0), "pair is 6, expected a number from 1 to 5"),
        ("SelfSparring", set_value("n_sure", 0, 6), r"sure is int64\(6,\), expected int64\(\d,\)"),
        ("SelfSparring", set_value("tree", -1, 1.0), r"tree\[1\] is 1.0, expected 0"),
        ("SparringThompson", set_value("first_weights", 2, -1), r"first_weights\[2\] is -1.0, expected 0.0"),
        ("SparringThompson", set_value("second_level", 0, np.nan), r"second_level\[0\] is nan"),
        ("REX3", set_value("tree", 1, 7.0), r"tree\[0\] is 7.0, expected"),
        ("DTS", set_value("pairs", (0, 1, 0), 0.5), r"pairs\[0, 1\] is 0.5, expected"),
        ("MergeDTS", lambda arrays, _: arrays.update(sizes=np.ones(6, np.intc)), "sizes, their number, is 6"),
        (
            "MergeDTS",
            lambda arrays, _: arrays.update(stage=np.array(99)),
            "stage is 99, expected a number from 1 to 32",
        ),
        ("CertifiedSparring", set_value("seat_of", 0, 3), r"seat_of\[\d\] is 3, expected"),
        ("MultiSelfSparring", set_value("gains", 0, 1e300), r"gains\[0\] is 1e\+300, expected a number from 0 to 1"),
        (
            "Uniform",
            lambda _, header: header.update(n_arms=ARM),
            "n_arms is 2147483647, but no array of the snapshot is that long",
        ),
        ("DTS", lambda _, header: header.update(n_arms=900_000), r"wins is float64\(6, 6\), expected float64\(900000,"),
        ("Uniform", lambda _, header: header.update(asked=2**63 - 1), "asked is 9223372036854775807, expected"),
        ("Uniform", lambda _, header: header.update(n_alive=3), "n_alive is 3, expected 6"),
    ],
)
def test_the_error_names_the_array_and_the_value(
    bandit: str, change: Callable[[dict[str, Any], dict[str, Any]], object], message: str
) -> None:
    """A value that a kernel would follow out of its arrays, or for ever, is refused by name."""
    if bandit in MULTI_REGISTRY:
        data = changed(MULTI_REGISTRY[bandit](6, seed=1), change)
        restore: Any = rd.MultiBandit.restore
    else:
        data, restore = changed(played(REGISTRY[bandit](6, seed=1)), change), rd.Bandit.restore
    with pytest.raises(rd.SnapshotError, match=message):
        restore(data)


@pytest.mark.parametrize("number", [-1, 2**63 - 1])
def test_an_adopted_duel_has_a_number_that_can_be_counted_on(number: int) -> None:
    """The number of an adopted duel cannot make the count of duels overflow."""
    with pytest.raises(ValueError, match=f"has the number {number}, expected 0 to"):
        rd.MergeDTS(6, seed=1).adopt(rd.Duel(number, 0, 1), rd.Outcome.FIRST)


def test_a_decision_without_a_best_arm_in_sight() -> None:
    """CertifiedMulti, which keeps no pairs, says so where each arm carries evidence against it."""

    def doubt(arrays: dict[str, Any], _: object) -> None:
        arrays["evidence"][:] = 3.0

    bandit = rd.MultiBandit.restore(changed(rd.CertifiedMulti(6, seed=1), doubt))
    assert "No arm beats all others" in str(bandit.decision())


def test_evidence_that_was_always_for_an_arm_is_no_overflow() -> None:
    """The p-value is 1 where the least evidence is far below 0."""

    def certain(arrays: dict[str, Any], _: object) -> None:
        arrays["evidence"][0] = -np.inf
        arrays["evidence"][1] = -800.0

    bandit = rd.MultiBandit.restore(changed(rd.CertifiedMulti(6, seed=1), certain))
    assert bandit.confidence().p_best_exists == 1.0
