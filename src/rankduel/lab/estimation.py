"""Estimate a preference matrix from clicks: all pairs of rankers play equally often, in parts with checkpoints."""

import hashlib
import io
import json
import time
import zipfile
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

import rankduel
from rankduel.clicks import ClickModel
from rankduel.datasets import Collection
from rankduel.interleaving import Interleaving
from rankduel.lab.progress import Progress
from rankduel.lab.store import write_whole
from rankduel.preferences import PreferenceMatrix
from rankduel.randomness import bit_generator, generator
from rankduel.simulation import Comparing, SearchWorld, Ties

__all__ = ["Estimate", "Estimation", "estimate_preferences"]

Counts = npt.NDArray[np.int64]

_SCHEMA = 1
_MAX_PARTS = 20_000
_DUELS_PER_PART = 2_000_000  # take one or two seconds
_WATCH_INTERVAL_SECONDS = 0.1  # between two calls of `watch`
_CHECKPOINT_INTERVAL_SECONDS = 5.0  # a killed process loses at most this time, plus the running parts


@dataclass(frozen=True, eq=False)
class Estimate:
    """Win counts of all pairs, and the estimated preference matrix.

    A tied duel counts as half a win for both rankers. A `faithful` estimate has no ties, and each count starts at one
    win, as in the matrices published with MergeDTS.
    """

    wins: Counts  # wins[i, j]: wins of i over j
    duels: int  # per pair
    names: tuple[str, ...]
    faithful: bool
    provenance: dict[str, object]

    @cached_property
    def matrix(self) -> PreferenceMatrix:
        """The preferences, exactly symmetric: p_ij + p_ji = 1."""
        wins, n = self.wins.astype(np.float64), float(self.duels)
        chances = (wins + 1) / (n + 2) if self.faithful else (n + wins - wins.T) / (2 * n)
        upper = np.triu(chances, 1)
        lower = np.tril(1 - chances.T, -1)
        return PreferenceMatrix(upper + lower + np.eye(len(wins)) / 2, self.names)

    @cached_property
    def standard_errors(self) -> npt.NDArray[np.float64]:
        """The standard error of each entry, 0 on the diagonal. With stratified queries, it is slightly too high."""
        won = self.wins / self.duels
        mean = (1 + won - won.T) / 2
        square = (1 + 3 * won - won.T) / 4  # of 1 for a win, 1/2 for a tie
        errors = np.sqrt(np.maximum(0, square - mean**2) / self.duels)
        np.fill_diagonal(errors, 0)
        return np.asarray(errors)

    def save(self, path: str | PathLike[str]) -> None:
        """Write an npz file that `PreferenceMatrix.load` reads. It also holds `wins`, `duels` and `provenance`."""
        file = io.BytesIO()
        np.savez_compressed(
            file,
            P=self.matrix.probabilities,
            names=np.array(self.names),
            wins=self.wins,
            duels=np.array(self.duels),
            standard_errors=self.standard_errors,
            provenance=np.array(json.dumps(self.provenance)),
        )
        write_whole(Path(path), file.getvalue())


@dataclass(frozen=True, slots=True)
class _Part:
    """A share of the duels of each pair, on a range of the queries."""

    number: int
    round: int
    chunk: int


class Estimation:
    """Estimate all preferences of a search world, in parts. The result does not depend on the number of jobs.

    Each pair plays `duels` times. By default queries are stratified: a pair plays equally often on every query, and the
    remaining duels go to random queries, at most one more per query. If `faithful`, each duel draws its query
    independently. A part is a range of queries. If one query alone has too many duels for a part, all queries are
    played in several rounds.
    """

    _MIN_DUELS_PER_PAIR_AND_PART = 40  # assigning them to parts costs as much as one or two duels

    def __init__(self, world: SearchWorld, *, duels: int = 400_000, faithful: bool = False, seed: int = 0) -> None:
        if isinstance(duels, bool) or not isinstance(duels, int) or not 1 <= duels <= 10**12:
            raise ValueError(f"duels must be a whole number from 1 to 1e12, got {duels!r}")
        if world.n_arms < 2:
            raise ValueError(f"preferences need at least 2 rankers, but the collection has {world.n_arms}")
        bit_generator(seed)  # ValueError if the seed is invalid
        self.world, self.duels, self.faithful, self.seed = world, duels, faithful, seed
        self.n_pairs = world.n_arms * (world.n_arms - 1) // 2
        queries = world.collection.n_queries
        part = max(_DUELS_PER_PART, self._MIN_DUELS_PER_PAIR_AND_PART * self.n_pairs, self.total // _MAX_PARTS)
        self._rounds = min(duels, max(1, -(-self.n_pairs * duels // (queries * part))))
        self._chunks = min(queries, max(1, -(-self.n_pairs * duels // (self._rounds * part))))
        self._parts = [
            _Part(round * self._chunks + chunk, round, chunk)
            for round in range(self._rounds)
            for chunk in range(self._chunks)
        ]

    @cached_property
    def provenance(self) -> dict[str, object]:
        """Everything that determines the result, as JSON values."""
        world = self.world
        return {
            "schema": _SCHEMA,
            "rankduel": rankduel.__version__,
            "collection": world.collection.fingerprint,
            "clicks": repr(world.clicks),
            "interleaving": repr(world.interleaving),
            "k": world.k,
            "ties": world.ties,
            "duels": self.duels,
            "faithful": self.faithful,
            "seed": self.seed,
        }

    @cached_property
    def key(self) -> str:
        """The SHA-256 of the provenance. The same key means the same numbers."""
        return hashlib.sha256(json.dumps(self.provenance, sort_keys=True).encode()).hexdigest()

    @property
    def total(self) -> int:
        """The number of duels of all pairs."""
        return self.n_pairs * self.duels

    def run(
        self,
        *,
        jobs: int = 1,
        checkpoint: str | PathLike[str] | None = None,
        watch: Callable[[Progress], object] | None = None,
    ) -> Estimate:
        """Play the parts that are missing in the checkpoint, in `jobs` threads.

        `watch` is called in the caller's thread about ten times a second. If it raises, or you press Ctrl-C, all
        finished parts stay in the checkpoint. A killed process loses at most the last five seconds and the running
        parts.
        """
        checkpoint_path = Path(checkpoint) if checkpoint is not None else None
        wins, done = self._read(checkpoint_path)
        before = int(done.sum())
        playing: dict[Future[Comparing | None], tuple[_Part, Comparing]] = {}
        began, played = time.perf_counter(), 0
        written, written_parts = began, before
        todo = iter([part for part in self._parts if not done[part.number]])
        already = sum(self._size(part) for part in self._parts if done[part.number])

        def report() -> None:
            if watch is None:
                return
            duels = played + sum(comparing.duels for _, comparing in playing.values())
            seconds = time.perf_counter() - began
            left = seconds / duels * (self.total - already - duels) if duels else None
            if done.all():
                left = 0.0
            watch(Progress(len(done), before, int(done.sum()), (already + duels) / self.total, duels, seconds, left))

        report()
        with ThreadPoolExecutor(jobs) as pool:
            try:
                while not done.all():
                    for part in islice(todo, jobs - len(playing)):
                        comparing = Comparing(self.world, coin=self.faithful)
                        playing[pool.submit(self._play, part, comparing)] = part, comparing
                    for future in wait(playing, _WATCH_INTERVAL_SECONDS, FIRST_COMPLETED).done:
                        part, comparing = playing.pop(future)
                        future.result()
                        wins += comparing.wins
                        played += comparing.duels
                        done[part.number] = True
                    news = done.sum() > written_parts and time.perf_counter() - written > _CHECKPOINT_INTERVAL_SECONDS
                    if checkpoint_path is not None and news:
                        self._write(checkpoint_path, wins, done)
                        written, written_parts = time.perf_counter(), int(done.sum())
                    report()
            finally:
                for _, comparing in playing.values():
                    comparing.stop = True
                if checkpoint_path is not None:
                    self._write(checkpoint_path, wins, done)
        return Estimate(wins, self.duels, self.world.names, self.faithful, self.provenance)

    def _play(self, part: _Part, comparing: Comparing) -> None:
        first, last = self._queries(part.chunk)
        stream = bit_generator(self.seed, "estimation", part.number)
        comparing.play(stream, first, last, self._each(part), self._extra(part), self.faithful)

    def _in_round(self, round: int) -> int:
        """The number of duels of each pair in a round."""
        return self.duels // self._rounds + (round < self.duels % self._rounds)

    def _each(self, part: _Part) -> int:
        """The number of duels of each pair on each query, without its extra duels."""
        return 0 if self.faithful else self._in_round(part.round) // self.world.collection.n_queries

    def _queries(self, chunk: int) -> tuple[int, int]:
        n = self.world.collection.n_queries
        return n * chunk // self._chunks, n * (chunk + 1) // self._chunks

    def _extra(self, part: _Part) -> Counts:
        """The number of extra duels of each pair on the queries of a part.

        The chunks of queries are the leaves of a binary tree. Each node splits the duels of its pairs between its two
        halves at random: binomial for independent queries, hypergeometric if each query is used at most once.
        """
        n_duels, n_queries = self._in_round(part.round), self.world.collection.n_queries
        counts = np.full(self.n_pairs, n_duels if self.faithful else n_duels % n_queries)
        low, high = 0, self._chunks
        while high - low > 1 and counts.any():
            middle = (low + high) // 2
            left = self._queries(middle)[0] - self._queries(low)[0]
            right = self._queries(high - 1)[1] - self._queries(middle)[0]
            random = generator(self.seed, "estimation", "split", part.round, low, high)
            if self.faithful:
                lower = random.binomial(counts, left / (left + right))
            else:
                lower = random.hypergeometric(left, right, counts)
            if part.chunk < middle:
                counts, high = lower, middle
            else:
                counts, low = counts - lower, middle
        return np.asarray(counts)

    def _size(self, part: _Part) -> int:
        """The number of duels of a part, over all pairs."""
        first, last = self._queries(part.chunk)
        return (last - first) * self._each(part) * self.n_pairs + int(self._extra(part).sum())

    def _read(self, path: Path | None) -> tuple[Counts, npt.NDArray[np.bool_]]:
        """Read the wins so far, and the parts that they contain."""
        nothing = np.zeros((self.world.n_arms, self.world.n_arms), np.int64), np.zeros(len(self._parts), np.bool_)
        if path is None:
            return nothing
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                key, wins, done = str(file["key"]), file["wins"], file["done"]
                intact = str(file["sha256"]) == _digest(wins, done)
        except (FileNotFoundError, ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile):
            return nothing
        if key != self.key:
            raise ValueError(f"{path} is the checkpoint of another estimate; delete it, or choose another file")
        return (wins, done) if intact else nothing

    def _write(self, path: Path, wins: Counts, done: npt.NDArray[np.bool_]) -> None:
        file = io.BytesIO()
        np.savez(file, key=np.array(self.key), wins=wins, done=done, sha256=np.array(_digest(wins, done)))
        write_whole(path, file.getvalue())


def _digest(wins: Counts, done: npt.NDArray[np.bool_]) -> str:
    return hashlib.sha256(wins.tobytes() + done.tobytes()).hexdigest()


def estimate_preferences(
    collection: Collection,
    *,
    clicks: ClickModel | str = "navigational",
    interleaving: Interleaving | str = "probabilistic",
    k: int = 10,
    ties: Ties = "consistent",
    duels: int = 400_000,
    faithful: bool = False,
    jobs: int = 1,
    seed: int = 0,
    checkpoint: str | PathLike[str] | None = None,
    watch: Callable[[Progress], object] | None = None,
) -> Estimate:
    """Estimate the preference matrix of the rankers of a collection, by `duels` simulated searches per pair.

    `clicks`, `interleaving`, `k` and `ties` are the same as for `SearchWorld`. By default, a tied duel counts as half a
    win for both rankers, and queries are stratified, for less noise. `faithful` follows the matrices published with
    MergeDTS: a coin flip decides ties, queries are drawn independently, and each count starts at one win. The same seed
    gives the same numbers for any number of `jobs`. With a `checkpoint` file, an interrupted estimate can continue.

    >>> import rankduel as rd
    >>> collection = rd.datasets.synthetic(n_queries=20, n_rankers=4, seed=1)
    >>> estimate = estimate_preferences(collection, clicks="perfect", duels=1000)
    >>> estimate.matrix.n_arms, bool(estimate.standard_errors.max() < 0.016)
    (4, True)
    """
    world = SearchWorld(collection, clicks=clicks, interleaving=interleaving, k=k, ties=ties)
    estimation = Estimation(world, duels=duels, faithful=faithful, seed=seed)
    return estimation.run(jobs=jobs, checkpoint=checkpoint, watch=watch)
