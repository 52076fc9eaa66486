"""In processes of their own: Ctrl-C is answered at once, and very many arms need little memory."""

import os
import signal
import subprocess
import sys
import time

import pytest

LONG = """
import rankduel as rd
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""

CALLS = {
    "one": "rd.simulate(rd.Uniform(20, seed=1), rd.problems.cycle2(), horizon=10**14)",
    "slow": "rd.simulate(rd.DTS(1000, seed=1), rd.problems.bradley_terry(1000), horizon=10**12)",
    "threads": "rd.simulate_runs('Uniform', rd.problems.cycle2(), horizon=10**14, runs=4, jobs=2)",
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_is_answered_within_a_second(call: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG.format(call=CALLS[call])], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    asked = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    took = time.monotonic() - asked
    assert output == "interrupted\n"
    assert took < 5, "0.1 s on an idle machine; the rest is for a busy one"


@pytest.mark.slow
def test_a_hundred_thousand_arms_start_at_once_and_stay_small() -> None:
    """O(K M) memory: counts for all pairs would take 40 GB. (getrusage would know the peak of the parent.)"""
    code = """
import pathlib, re, time
import rankduel as rd
begun = time.process_time()
bandit = rd.MergeDTS(100_000, seed=1)
started = time.process_time() - begun
rd.simulate(bandit, rd.problems.utilities(100_000), horizon=200_000)
peak = re.search(r"VmHWM:\\s*(\\d+)", pathlib.Path("/proc/self/status").read_text())
print(started, int(peak[1]) * 1024)
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    seconds, memory = map(float, output.split())
    assert seconds < 5, "0.07 s on an idle machine"
    assert memory < 1e9


def test_importing_rankduel_imports_no_more_than_numpy() -> None:
    code = """
import sys
import rankduel
heavy = {"scipy", "matplotlib", "rich", "argparse", "rankduel.lab", "rankduel.cli", "rankduel.testing"}
print(sorted(heavy & sys.modules.keys()))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"
