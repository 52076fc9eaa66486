"""Live tournaments on SQLite: durable tells per second, time of an ask and of opening, compared with bare commits."""

import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, thread_time

import rankduel as rd
from rankduel.live import LocalTournament
from rankduel.live.runtime.state import State

OUTCOMES = (rd.Outcome.FIRST, rd.Outcome.SECOND)
RANKERS = [f"ranker {number}" for number in range(136)]


def report(*, quick: bool) -> None:
    """Print all measurements of one run on one disk."""
    with on_disk() as folder:
        url, duels = f"sqlite:///{folder}/duels.db", 2_000 if quick else 100_000
        print(f"\nlive tournament of {len(RANKERS)} rankers on SQLite; a bare commit takes {1e3 * bare(folder):.1f} ms")
        with LocalTournament.create("bench", rankers=RANKERS, storage=url, seed=1) as t:
            for threads in (1, 8, 32):
                print(
                    f"ask and durable tell, threads: {threads}: {in_threads(t, threads, 20 if quick else 300):,.0f}/s"
                )
            took, cpu = asks(t, 200 if quick else 2_000)
            print(f"ask: {1e6 * took:.0f} us, {1e6 * cpu:.0f} us of CPU")
            rate = in_groups(t, duels - t.counts.issued, 100)
            print(f"ask and durable tell, in batches of 100: {rate:,.0f}/s")
            before = t.counts
        started = perf_counter()
        with LocalTournament.open("bench", storage=url) as t:
            opened = perf_counter() - started
            assert t.counts == before
            started = perf_counter()
            replayed = State.replay(t.journal())
            took = perf_counter() - started
            assert replayed.bandit.decision() == t._state.bandit.decision()
        size = Path(folder, "duels.db").stat().st_size
        print(
            f"open with {before.issued:,} duels: {opened:.3f} s; replay of {replayed.number:,} events: {took:.1f} s; "
            f"{size / before.issued:.0f} bytes per duel"
        )


def endurance(duels: int) -> None:
    """Print the memory of a process that plays this number of duels, and the time to open the tournament again."""
    with on_disk() as folder:
        url, random = f"sqlite:///{folder}/duels.db", Random(1)
        print(f"{duels:,} duels of {len(RANKERS)} rankers in batches of 1,000; memory without memory-mapped files")
        with LocalTournament.create("bench", rankers=RANKERS, storage=url, seed=1) as t:
            for tenth in range(1, 11):
                started, of = perf_counter(), duels // 10
                for group in range(0, of, 1000):
                    asked = t.ask_many([(f"{tenth}.{group}.{number}", None) for number in range(min(1000, of - group))])
                    t.tell_many([(duel, random.choice(OUTCOMES)) for duel in asked])  # all rankers are equal
                rate = of / (perf_counter() - started)
                print(
                    f"{tenth * of:>12,} duels: {rate:,.0f}/s, {memory():.0f} MB, {len(t.decision().left)} left",
                    flush=True,
                )
        size = Path(folder, "duels.db").stat().st_size
        done = subprocess.run([sys.executable, "-c", _REOPEN, url], capture_output=True, text=True, check=True)
        print(f"open and first ask {done.stdout.strip()}; file: {size / 1e9:.2f} GB, {size / duels:.0f} bytes per duel")


_REOPEN = """
import sys, time
import rankduel as rd
started = time.perf_counter()
with rd.Tournament.open("bench", storage=sys.argv[1]) as t:
    asked = t.ask("the first query")
    took = time.perf_counter() - started
    print(f"with {t.counts.resolved:,} duels: {took:.3f} s")
"""


def on_disk() -> tempfile.TemporaryDirectory[str]:
    """Create a folder on disk, because /tmp may be in memory. Git ignores it if a killed run leaves it behind."""
    results = Path("results")
    results.mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir=results.absolute())


def memory() -> float:
    """Megabytes of private memory of this process."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) / 1024


def bare(folder: str) -> float:
    """Median seconds of a SQLite commit of one row."""
    file = sqlite3.connect(Path(folder, "bare.db"), isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = FULL")
    file.execute("CREATE TABLE rows (value)")
    times = []
    for value in range(50):
        started = perf_counter()
        file.execute("INSERT INTO rows VALUES (?)", (value,))
        times.append(perf_counter() - started)
    file.close()
    return median(times)


def in_threads(t: LocalTournament, threads: int, duels: int) -> float:
    """Pairs of ask and tell per second, if each thread waits for each of its tells."""

    def work(name: str) -> None:
        for number in range(duels):
            assert t.tell(t.ask(f"{name}.{number}"), rd.Outcome.TIE).status == "accepted"

    started = perf_counter()
    workers = [threading.Thread(target=work, args=(f"{threads}.{worker}",)) for worker in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * duels / (perf_counter() - started)


def in_groups(t: LocalTournament, duels: int, size: int) -> float:
    """Pairs of ask and tell per second, if one thread tells batches."""
    started = perf_counter()
    for group in range(0, duels, size):
        asked = t.ask_many([(f"group {group}.{number}", None) for number in range(min(size, duels - group))])
        assert {receipt.status for receipt in t.tell_many([(duel, rd.Outcome.TIE) for duel in asked])} == {"accepted"}
    return duels / (perf_counter() - started)


def asks(t: LocalTournament, duels: int) -> tuple[float, float]:
    """Median seconds of an ask, and its mean CPU seconds, while occasional tells keep the writer busy."""
    times, cpu, asked = [], 0.0, []
    for number in range(duels):
        started, used = perf_counter(), thread_time()
        asked.append(t.ask(f"ask {number}"))
        times.append(perf_counter() - started)
        cpu += thread_time() - used
        if len(asked) == 50:
            t.tell_many([(duel, rd.Outcome.TIE) for duel in asked])
            asked.clear()
    return median(times), cpu / duels
