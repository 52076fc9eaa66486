"""Live tournaments: durable tells a second, what an ask takes, and how long opening takes; beside bare commits."""

import sqlite3
import tempfile
import threading
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time

import rankduel as rd
from rankduel.live.state import State

RANKERS = [f"ranker {number}" for number in range(136)]


def report(*, quick: bool) -> None:
    """Print the lines, all measured in one run on one disk."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # in memory, /tmp would promise too much
        url, duels = f"sqlite:///{folder}/duels.db", 2_000 if quick else 100_000
        print(f"\nlive tournament of {len(RANKERS)} rankers on SQLite; a bare commit takes {1e3 * bare(folder):.1f} ms")
        with rd.Tournament.create("bench", rankers=RANKERS, storage=url, seed=1) as t:
            for threads in (1, 8, 32):
                print(f"ask and durable tell, {threads} threads: {in_threads(t, threads, 20 if quick else 300):,.0f}/s")
            took, cpu = asks(t, 200 if quick else 2_000)
            print(f"ask: {1e6 * took:.0f} us of time, {1e6 * cpu:.0f} of CPU")
            rate = in_groups(t, duels - t.counts.issued, 100)
            print(f"ask and durable tell, in groups of 100: {rate:,.0f}/s")
            before = t.counts
        started = perf_counter()
        with rd.Tournament.open("bench", storage=url) as t:
            opened = perf_counter() - started
            assert t.counts == before
            started = perf_counter()
            replayed = State.replay(t.journal())
            took = perf_counter() - started
            assert replayed.bandit.decision() == t._state.bandit.decision()
        size = Path(folder, "duels.db").stat().st_size
        print(
            f"opened with {before.issued:,} duels in {opened:.3f} s; replay of all {replayed.number:,} events "
            f"{took:.1f} s; {size / before.issued:.0f} bytes per duel"
        )


def bare(folder: str) -> float:
    """Seconds that SQLite takes to make one row durable."""
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


def in_threads(t: rd.Tournament, threads: int, duels: int) -> float:
    """Pairs of ask and tell a second, when each thread waits for each of its tells."""

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


def in_groups(t: rd.Tournament, duels: int, size: int) -> float:
    """The same when one thread tells many together."""
    started = perf_counter()
    for group in range(0, duels, size):
        asked = t.ask_many([(f"group {group}.{number}", None) for number in range(min(size, duels - group))])
        assert {receipt.status for receipt in t.tell_many([(duel, rd.Outcome.TIE) for duel in asked])} == {"accepted"}
    return duels / (perf_counter() - started)


def asks(t: rd.Tournament, duels: int) -> tuple[float, float]:
    """Median seconds of an ask, and its CPU, while a tell now and then keeps the writer busy."""
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
