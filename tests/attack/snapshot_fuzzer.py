"""Mutate snapshots of bandits, restore them, and play on with those that are accepted; a program of its own.

    python snapshot_fuzzer.py MUTATIONS BANDIT ...

Each bandit has a process, so that a crash is a line of the output and not the end of the others. Mutation number i of a
bandit is always the same: `python snapshot_fuzzer.py i:1 BANDIT` repeats it.
"""

import io
import json
import math
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from typing import Any

import numpy as np

from rankduel.bandits import MULTI_REGISTRY, REGISTRY, Bandit, CertifiedSparring, MultiBandit
from rankduel.errors import SnapshotError
from rankduel.types import Duel, Outcome

HANG = 120  # seconds for a mutation, which takes milliseconds
STEPS = 200
OPTIONS: dict[str, list[dict[str, Any]]] = {  # beside the defaults
    "CertifiedSparring": [{"tolerance": 0.2, "delta": 0.4}],
    "MergeDTS": [{"batch_size": 4, "c": 1.0}, {"elimination": "Certified(delta=0.5, tolerance=0.2)"}],
    "MergeRUCB": [{"batch_size": 4, "c": 1.0}, {"elimination": "Certified(delta=0.5)"}],
    "DTS": [{"elimination": "Certified(delta=0.5)"}],
    "SelfSparring": [{"elimination": "Certified(delta=0.5)"}],
    "Uniform": [{"elimination": "Certified(delta=0.5)"}],
    "CertifiedMulti": [{"delta": 0.5, "arms_per_duel": 2}],
}
SIZES = ((1, 3), (2, 40), (3, 400), (6, 0), (9, 3000), (17, 300), (70, 200))  # arms, duels
NUMBERS = (0, 1, -1, 2, -2, 0.5, 255, 2**31 - 1, -(2**31), 2**32, 2**53, 2**63 - 1, -(2**63))
EXTREMES = (*NUMBERS, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-300, 1e15, 0.999999, 1e-9)
Parts = tuple[dict[str, Any], dict[str, Any]]  # the arrays and the header


def main() -> int:
    """Print a line for each bandit that failed; the number of those is the exit code."""
    first, _, count = sys.argv[1].rpartition(":")
    queue, failed = sys.argv[2:], 0
    context = multiprocessing.get_context("fork")
    while queue:
        batch, queue = queue[: os.cpu_count()], queue[os.cpu_count() or 1 :]
        running = []
        for name in batch:
            number: Synchronized[int] = context.Value("q", -1)
            process = context.Process(target=fuzz, args=(name, int(first or 0), int(count), number))
            process.start()
            running.append((name, number, process))
        for name, number, process in running:
            process.join()
            if process.exitcode:
                failed += 1
                print(f"{name}: exit code {process.exitcode} at mutation {number.value}", flush=True)
    return failed


def fuzz(name: str, first: int, count: int, number: "Synchronized[int]") -> None:
    """Some mutations of one bandit."""
    known: dict[str, type[Bandit | MultiBandit]] = {**REGISTRY, **MULTI_REGISTRY}
    corpus = [parts for made in _played(known[name], OPTIONS.get(name, [])) for parts in made]
    for number.value in range(first, first + count):
        signal.alarm(HANG)  # its default action ends the process, wherever it is
        draw = np.random.default_rng(number.value)
        data = _mutated(corpus, draw)
        try:
            load_state = known[name].restore(data)
        except SnapshotError:
            continue
        _play_on(load_state, draw)


def _played(cls: Any, options: list[dict[str, Any]]) -> Iterator[list[Parts]]:
    for given in [{}, *options]:
        for n_arms, n_duels in SIZES:
            bandit = cls(n_arms, seed=1, **given)
            draw = np.random.default_rng(n_arms)
            _steps(bandit, draw, n_duels, fair=False)
            yield [_parts(bandit.snapshot())]


def _parts(data: bytes) -> Parts:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    return arrays, json.loads(str(arrays.pop("header")))


# Mutations


def _mutated(corpus: list[Parts], draw: np.random.Generator) -> bytes:
    arrays, header = corpus[draw.integers(len(corpus))]
    arrays = {name: array.copy() for name, array in arrays.items()}
    header = json.loads(json.dumps(header))
    for _ in range(draw.integers(1, 4)):
        if draw.random() < 0.2 or not arrays:
            _mutate_header(header, draw)
        else:
            _mutate_array(arrays, header["n_arms"], draw)
    file = io.BytesIO()
    np.savez(file, header=np.array(json.dumps(header)), **arrays)
    data = bytearray(file.getvalue())
    if draw.random() < 0.1:
        for _ in range(draw.integers(1, 4)):
            data[draw.integers(len(data))] = draw.integers(256)
    return bytes(data)


def _mutate_array(arrays: dict[str, Any], n_arms: Any, draw: np.random.Generator) -> None:
    name = sorted(arrays)[draw.integers(len(arrays))]
    array = arrays[name]
    if draw.random() < 0.05:
        arrays[name] = _misshapen(array, draw)
        return
    if array.dtype.names:
        array = array[array.dtype.names[draw.integers(len(array.dtype.names))]]
    if not array.size:
        return
    if array.ndim > 1:
        arrays[name] = array = np.ascontiguousarray(array)
    flat = array.reshape(-1)
    near = [n_arms, n_arms - 1, n_arms + 1, 2 * n_arms] if isinstance(n_arms, int) else []
    value = [*EXTREMES, *near][draw.integers(len(EXTREMES) + len(near))]
    at, other = draw.integers(len(flat), size=2)
    match draw.integers(8):
        case 0 | 1:
            _set(flat, at, value)
        case 2:
            _set(flat, slice(None), value)
        case 3:  # a permutation with two of a kind
            flat[at] = flat[other]
        case 4:
            flat[at], flat[other] = flat[other], flat[at]
        case 5:  # a sum that is wrong
            _set(flat, at, flat[at].item() + (1 if draw.random() < 0.5 else -1))
        case 6:  # padding, often
            _set(flat, slice(-int(draw.integers(1, 4)), None), value)
        case _:
            draw.shuffle(flat)


def _set(flat: Any, at: Any, value: float) -> None:
    with np.errstate(all="ignore"):
        if np.issubdtype(flat.dtype, np.integer):
            if not math.isfinite(value):
                value = 2**31
            limits = np.iinfo(flat.dtype)
            flat[at] = min(max(int(value), int(limits.min)), int(limits.max))
        else:
            flat[at] = value


def _misshapen(array: Any, draw: np.random.Generator) -> Any:
    match draw.integers(5):
        case 0:
            return array[:-1] if array.ndim else array[None]
        case 1:
            return np.zeros(0, array.dtype)
        case 2:
            return np.concatenate([array, array]) if array.ndim else array[None]
        case 3:
            return array.astype(np.complex128) if array.dtype.names is None else array["mean"]
        case _:
            return np.asfortranarray(array)


def _mutate_header(header: dict[str, Any], draw: np.random.Generator) -> None:
    values: list[Any] = [*NUMBERS, header["n_arms"], 0.5, True, None, "x", [], 2**70]
    value = values[draw.integers(len(values))]
    name = sorted(header)[draw.integers(len(header))]
    if name == "parameters" and isinstance(header[name], dict) and header[name] and draw.random() < 0.9:
        known = sorted(header[name])
        header[name][known[draw.integers(len(known))]] = value
    elif name == "pending" and draw.random() < 0.9:
        duel: list[Any] = [header["asked"], 0, 0, [0.5, 0.5]]
        if not isinstance(header["asked"], int):
            return
        duel[draw.integers(4)] = value
        if draw.random() < 0.5:
            duel[3] = None
        many = [header["asked"], [0, value]]
        header[name] = [duel if draw.random() < 0.7 else many]
    elif name in ("generator", "half_word") and isinstance(header[name], list) and header[name]:
        header[name][draw.integers(len(header[name]))] = value
    else:
        header[name] = value


# What a bandit that was accepted has to go through


def _play_on(bandit: Any, draw: np.random.Generator) -> None:
    for duel in bandit.pending:
        _tell(bandit, duel, draw)
    _steps(bandit, draw, STEPS, fair=True)
    if isinstance(bandit, CertifiedSparring):
        bandit.add(2)
        bandit.pause(bandit.n_arms - 1)
        bandit.resume(bandit.n_arms - 1)
        bandit.retire(bandit.n_arms - 2)
        _steps(bandit, draw, 20, fair=True)
    _look(bandit)
    try:
        again = type(bandit).restore(bandit.snapshot())
    except SnapshotError:  # a parameter or count that was extreme, and is more so now
        return
    _steps(again, draw, 20, fair=True)
    _look(again)


def _look(bandit: Any) -> None:
    assert 0 <= bandit.champion < bandit.n_arms
    assert len(bandit.alive) <= bandit.n_arms
    assert str(bandit.decision())
    assert repr(bandit)
    assert bandit.winner is None or 0 <= bandit.winner < bandit.n_arms
    bandit.evidence_against  # noqa: B018
    if hasattr(bandit, "batches"):
        assert sorted(arm for batch in bandit.batches for arm in batch) == bandit.alive.tolist()


def _steps(bandit: Any, draw: np.random.Generator, n_steps: int, *, fair: bool) -> None:
    """Ask and tell, some of it late; the lower arm is better, where it is not a toss-up."""
    waiting: list[Any] = []
    for step in range(n_steps):
        duel = bandit.ask()
        arms = duel[1:3] if isinstance(duel, Duel) else duel.arms
        assert all(0 <= arm < bandit.n_arms for arm in arms), duel
        waiting.append(duel)
        if step % 10 < 9:
            _tell(bandit, waiting.pop(draw.integers(len(waiting))), draw, fair=fair)
        if isinstance(duel, Duel) and step % 20 == 0:
            first, second = draw.integers(bandit.n_arms, size=2).tolist()
            bandit.adopt(Duel(bandit.asked + 1, first, second, (0.5, 0.5)), Outcome.FIRST)
    for duel in waiting[len(waiting) // 2 :]:
        bandit.forget(duel)


def _tell(bandit: Any, duel: Any, draw: np.random.Generator, *, fair: bool = True) -> None:
    if isinstance(duel, Duel):
        better = 0.5 if fair or duel.first == duel.second else 0.8 if duel.first < duel.second else 0.2
        tie, first = draw.random(2)
        bandit.tell(duel, Outcome.TIE if tie < 0.1 else Outcome.FIRST if first < better else Outcome.SECOND)
        return
    arms = np.array(duel.arms)
    ahead = draw.uniform(-1, 1, (len(arms), len(arms))) if fair else np.sign(arms[None, :] - arms[:, None])
    bandit.tell(duel, np.triu(ahead, 1) - np.triu(ahead, 1).T)


if __name__ == "__main__":
    sys.exit(main())
