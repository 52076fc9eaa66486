"""Load a LETOR file twice, the second time from the cache: time and memory."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.start import fresh

QUERIES, DOCUMENTS, FEATURES = 31_531, 3_771_125, 136  # of MSLR-WEB30K

LOAD = """
import json, resource, sys, time
import rankduel as rd
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started, cpu = time.perf_counter(), time.process_time()
collection = rd.datasets.load_letor(sys.argv[1], cache=sys.argv[2])
wall, cpu = time.perf_counter() - started, time.process_time() - cpu
assert collection.n_rankers == 136
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tables = collection.order.nbytes + collection.start.nbytes
print(json.dumps({"wall": wall, "cpu": cpu, "base": base / 1024, "peak": peak / 1024, "tables": tables / 2**20,
    "documents": collection.n_documents}))
"""


def report(*, fraction: float, quick: bool) -> None:
    """Print time and memory of both loads."""
    share = 0.0005 if quick else fraction
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder) / "train.txt", Path(folder) / "cache"
        with file.open("w") as text:
            text.writelines(lines(share))
        size = file.stat().st_size / 1e6
        first, second = (json.loads(fresh(LOAD, str(file), str(cache))) for _ in range(2))
    print(
        f"\nLETOR file, {share:.2%} of the size of MSLR-WEB30K: {size:,.0f} MB, {first['documents']:,} documents,"
        f" {FEATURES} features"
    )
    print(
        f"first load: {first['cpu']:.2f} s of CPU, {size / first['cpu']:.0f} MB/s (target: 50), {first['wall']:.2f} s"
        f" elapsed, including the hash and the cache\n"
        f"second load: {second['cpu']:.2f} s of CPU, {second['wall']:.2f} s elapsed"
        f" ({1000 * second['wall'] / size:.2f} s per GB)"
    )
    whole = 4 * DOCUMENTS * FEATURES / 2**20
    other = first["peak"] - first["base"] - first["tables"]
    print(
        f"peak memory: {first['peak']:,.0f} MB, including {first['base']:,.0f} MB before the load and"
        f" {first['tables']:,.0f} MB of tables; the tables of MSLR-WEB30K take {whole:,.0f} MB, so its peak is about"
        f" {first['base'] + whole * (1 + max(0, other) / first['tables']):,.0f} MB (target: 4 GB)"
    )


def lines(share: float) -> Iterator[str]:
    """Generate lines like those of MSLR: counts, many zeros, six decimals, and about 120 documents per query."""
    draw = np.random.default_rng(1)
    bodies = []
    for _ in range(2_000):
        counts = draw.geometric(0.1, FEATURES) * (draw.random(FEATURES) < 0.6)
        decimals = (draw.normal(0, 20, FEATURES)).round(6)
        decimal = (np.arange(FEATURES) % 5 > 1) & (counts > 0)
        values = [f"{y:g}" if d else f"{x}" for x, y, d in zip(counts, decimals, decimal, strict=True)]
        bodies.append(" ".join(f"{number + 1}:{value}" for number, value in enumerate(values)))
    for query in range(max(1, round(share * QUERIES))):
        for body in draw.integers(len(bodies), size=draw.integers(60, 180)).tolist():
            yield f"{body % 5} qid:{query} {bodies[body]} \n"
