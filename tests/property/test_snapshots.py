"""Snapshots that were damaged, cut or edited: refused as such, or harmless; never another error."""

import io
import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rankduel as rd
from rankduel.testing.fixtures import Coin, ladder, play, require_same_future, require_same_state, state

EACH = pytest.mark.parametrize("name", rd.REGISTRY)
SETTINGS = settings(max_examples=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def played(name: str, n_arms: int = 7, n_duels: int = 60, seed: int = 1) -> rd.Bandit:
    bandit = rd.REGISTRY[name](n_arms, seed=seed)
    play(bandit, Coin(ladder(n_arms), seed), n_duels)
    bandit.ask()
    return bandit


@EACH
@settings(max_examples=20)
@given(n_arms=st.integers(1, 40), n_duels=st.integers(0, 300), seed=st.integers(0, 2**130))
def test_a_snapshot_is_the_whole_bandit(name: str, n_arms: int, n_duels: int, seed: int) -> None:
    bandit = played(name, n_arms, n_duels, seed)
    data = bandit.snapshot()
    assert data == bandit.snapshot(), "taking one changes nothing"
    restored = rd.Bandit.restore(data)
    assert restored.snapshot() == data
    require_same_future(bandit, restored, Coin(ladder(n_arms), 2), "restored", n=40)


@EACH
@SETTINGS
@given(where=st.floats(0, 1, exclude_max=True), what=st.binary(min_size=1, max_size=8), cut=st.booleans())
def test_damage_is_seen(name: str, where: float, what: bytes, cut: bool) -> None:
    """Bytes changed or cut off: refused, unless it was a byte that says nothing."""
    bandit = played(name)
    data = bandit.snapshot()
    at = int(where * len(data))
    damaged = data[:at] if cut else data[:at] + what + data[at + len(what) :]
    with suppress(rd.SnapshotError):
        restored = rd.Bandit.restore(damaged)
        require_same_state(state(bandit), state(restored), f"{what!r} at {at}")


@SETTINGS
@given(st.binary(max_size=300))
@example(b"PK\x03\x04")
@example(b"\x93NUMPY")
def test_noise_is_refused(data: bytes) -> None:
    with pytest.raises(rd.SnapshotError):
        rd.Bandit.restore(data)


def edited(data: bytes, key: str, value: object) -> bytes:
    """The snapshot with another value in its header."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    header = {**json.loads(str(arrays.pop("header"))), key: value}
    file_ = io.BytesIO()
    np.savez(file_, header=np.array(json.dumps(header)), **arrays)
    return file_.getvalue()


KEYS = [
    "schema",
    "bandit",
    "n_arms",
    "seed",
    "parameters",
    "asked",
    "told",
    "tied",
    "n_alive",
    "generator",
    "half_word",
    "pending",
]


@pytest.mark.parametrize("key", KEYS)
@SETTINGS
@given(value=JSON)
@example(value=[])
@example(value=-1)
@example(value=2**63)
@example(value={"a": None})
def test_a_header_of_nonsense_is_refused_or_read(key: str, value: object) -> None:
    """Whatever stands there, the answer is a bandit that can be asked, or SnapshotError."""
    if key == "n_arms" and isinstance(value, int | float) and value > 50:
        value = 50  # not a test of the machine's memory
    for name in ("DTS", "REX3"):
        data = edited(played(name).snapshot(), key, value)
        with suppress(rd.SnapshotError):
            bandit = rd.Bandit.restore(data)
            duel = bandit.ask()
            assert 0 <= duel.first < bandit.n_arms
            bandit.tell(duel, rd.Outcome.FIRST)
            bandit.snapshot()


def test_the_header_has_these_keys() -> None:
    with np.load(io.BytesIO(played("DTS").snapshot())) as file:
        assert sorted(json.loads(str(file["header"]))) == sorted(KEYS)


@pytest.mark.parametrize(
    ("name", "array"), [("RUCB", "favourite"), ("DTS", "leader"), ("RMED1", "turns"), ("RMED1", "counts")]
)
@pytest.mark.parametrize("value", [-2, 10**9])
def test_an_index_beyond_its_array_is_refused(name: str, array: str, value: int) -> None:
    """The kernels trust their state: restored with such an index, they would read beyond their memory."""
    with np.load(io.BytesIO(played(name).snapshot())) as file:
        arrays = dict(file)
    arrays[array][0] = value
    edited_file = io.BytesIO()
    np.savez(edited_file, **arrays)
    with pytest.raises(rd.SnapshotError, match=array):
        rd.Bandit.restore(edited_file.getvalue())
