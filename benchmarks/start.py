"""Start-up cost: the import, and a MergeDTS of many arms, each in its own process."""

import json
import subprocess
import sys
from statistics import median

IMPORT = """
import time
started = time.process_time()
import rankduel
print(time.process_time() - started)
"""

MANY_ARMS = """
import json, resource, sys, time
import rankduel as rd
n_arms, duels = int(sys.argv[1]), int(sys.argv[2])
problem = rd.problems.utilities(n_arms, seed=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
bandit = rd.MergeDTS(n_arms, seed=1)
took = time.process_time() - started
run = rd.simulate(bandit, problem, horizon=duels)
assert run.regret[-1] > 0 and len(bandit.batches) > n_arms // 20
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"start": took, "peak": peak / 1024, "grown": (peak - before) / 1024, "duel": run.cpu_per_duel}))
"""


def report(*, repeat: int, quick: bool) -> None:
    """Print both measurements."""
    imports = [float(fresh(IMPORT)) for _ in range(repeat)]
    print(
        f"\nimport rankduel: {median(imports):.3f} s of CPU (minimum {min(imports):.3f} s), including NumPy"
        " (target: under 0.3 s)"
    )
    n_arms = 5_000 if quick else 100_000
    many = json.loads(fresh(MANY_ARMS, str(n_arms), "1000" if quick else "1_000_000"))
    print(
        f"MergeDTS of {n_arms:,} arms: created in {many['start']:.2f} s of CPU (target: 1 s); peak memory"
        f" {many['peak']:,.0f} MB, including {many['grown']:,.0f} MB of the bandit (target: 1 GB);"
        f" {1e6 * many['duel']:.2f} us per duel"
    )


def fresh(code: str, *arguments: str) -> str:
    """Run code in a new Python process, and return its output."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return done.stdout
