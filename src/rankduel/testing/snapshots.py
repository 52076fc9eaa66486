"""Checks of snapshots: a restored bandit continues exactly, and damaged snapshots are rejected."""

import copy
import io
import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from rankduel.bandits import REGISTRY, Bandit, SelfSparring, Uniform
from rankduel.errors import SnapshotError
from rankduel.testing.fixtures import (
    Coin,
    Factory,
    ladder,
    play,
    require,
    require_error,
    require_same_answers,
    require_same_future,
    require_same_state,
    state,
)
from rankduel.types import Outcome


def snapshot_and_continue(factory: Factory) -> None:
    """A restored bandit continues exactly like the original, whenever the snapshot was taken."""
    for n_arms, at in ((6, 0), (6, 1), (6, 7), (6, 60), (6, 400), (1, 3), (2, 40), (40, 300)):
        bandit = _played(factory, n_arms, at)
        for restore in _restorers(bandit):
            _same_and_apart(bandit, restore(bandit.snapshot()), f"{n_arms} arms, restored after {at} duels")


def snapshot_keeps_pending(factory: Factory) -> None:
    """Pending duels are part of a snapshot. The restored bandit accepts their outcomes."""
    for at in (0, 30, 200):
        bandit = _played(factory, 6, at)
        duels = [bandit.ask() for _ in range(8)]
        bandit.tell(duels[2], Outcome.SECOND)
        bandit.forget(duels[5])
        restored = type(bandit).restore(bandit.snapshot())
        what = f"restored after {at} duels with 6 pending"
        require(restored.pending == bandit.pending, f"{what}: pending must be {bandit.pending}, got {restored.pending}")
        for duel in (duels[6], duels[0], duels[7]):
            for one in (bandit, restored):
                one.tell(duel, Outcome.FIRST)
        _same_and_apart(bandit, restored, what)


def copies(factory: Factory) -> None:
    """`copy.deepcopy` and `pickle` create an independent bandit. Process pools need this."""
    for at in (0, 100):
        bandit = _played(factory, 6, at)
        bandit.ask()
        _same_and_apart(bandit, copy.deepcopy(bandit), f"deep copy after {at} duels")
        _same_and_apart(bandit, pickle.loads(pickle.dumps(bandit)), f"pickled after {at} duels")


def _played(factory: Factory, n_arms: int, n_duels: int) -> Bandit:
    bandit = factory(n_arms, seed=19)
    play(bandit, Coin(ladder(n_arms), 19), n_duels)
    return bandit


def _restorers(bandit: Bandit) -> list[Callable[[bytes], Bandit]]:
    own: list[Callable[[bytes], Bandit]] = [type(bandit).restore]
    known = REGISTRY.get(type(bandit).__name__) is type(bandit)
    return [*own, Bandit.restore] if known else own


def _same_and_apart(bandit: Bandit, twin: Bandit, what: str) -> None:
    """The twin equals the bandit, continues in the same way, and does not change it."""
    require(type(twin) is type(bandit), f"{what}: expected a {type(bandit).__name__}, got a {type(twin).__name__}")
    require(repr(twin) == repr(bandit), f"{what}: expected {bandit!r}, got {twin!r}")
    before = state(bandit)
    require_same_state(before, state(twin), what)
    require_same_answers(bandit, twin, what)
    coin = Coin(ladder(bandit.n_arms), 20)
    play(copy.deepcopy(twin), coin, 3)
    spare = type(twin).restore(twin.snapshot())
    play(twin, coin, 5)
    require_same_state(before, state(bandit), f"{what}, after the copy played on")
    require_same_future(bandit, spare, coin, what)


def restore_refuses(factory: Factory) -> None:
    """`restore` raises `SnapshotError` for other data, damaged snapshots, other bandits and newer versions."""
    bandit = _played(factory, 6, 100)
    data = bandit.snapshot()
    restore = type(bandit).restore
    noise = np.random.default_rng(1).bytes(500)
    for garbage, what in ((b"", "no bytes"), (b"garbage", "text"), (noise, "noise"), (_npy(), "an array")):
        require_error(SnapshotError, f"restore of {what}", lambda: restore(garbage))  # noqa: B023
    for length in {len(data) * k // 25 for k in range(25)} | {len(data) - 1}:
        require_error(SnapshotError, f"restore of {length} bytes of {len(data)}", lambda: restore(data[:length]))  # noqa: B023
    other = (SelfSparring if isinstance(bandit, Uniform) else Uniform)(6, seed=1)
    require_error(SnapshotError, f"restore of a {type(other).__name__}", lambda: restore(other.snapshot()))
    arrays, header = _parts(data)
    for change, what in (
        ({"schema": header["schema"] + 1}, "a newer schema"),
        ({"schema": None}, "no schema"),
        ({"bandit": "Nobody"}, "an unknown bandit"),
        ({"n_arms": 0}, "no arms"),
        ({"generator": [1, 2]}, "half a random generator"),
        ({"pending": [[1]]}, "half a pending duel"),
    ):
        changed = _packed(arrays, {**header, **change})
        require_error(SnapshotError, f"restore with {what}", lambda: restore(changed))  # noqa: B023
    for name in header:
        changed = _packed(arrays, {key: value for key, value in header.items() if key != name})
        require_error(SnapshotError, f"restore without {name}", lambda: restore(changed))  # noqa: B023
    for name in arrays:
        changed = _packed({key: array for key, array in arrays.items() if key != name}, header)
        require_error(SnapshotError, f"restore without array {name}", lambda: restore(changed))  # noqa: B023
    restore(_packed(arrays, header))  # unchanged, it must be accepted


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


def _parts(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    return arrays, json.loads(str(arrays.pop("header")))


def _packed(arrays: dict[str, Any], header: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez(file, header=np.array(json.dumps(header)), **arrays)
    return file.getvalue()
