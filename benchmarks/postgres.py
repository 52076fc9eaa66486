"""Live tournaments on PostgreSQL: durable tells per second of one and three processes, delays, and leader failover.

`python -m benchmarks --postgres postgresql://...` creates tournaments in this database, and does not delete them. In a
new database, the first seconds show whether PostgreSQL needs table statistics to be fast.
"""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from statistics import median
from time import monotonic, perf_counter, process_time, sleep, time
from typing import NamedTuple

import psycopg

import rankduel as rd
from rankduel.live import LocalTournament
from rankduel.live.storage.postgres import PostgresStorage

RANKERS = [f"ranker {number}" for number in range(136)]
FIRST = 0.2  # the share of a measurement that is also reported apart


class Played(NamedTuple):
    """What one process measured."""

    first: float  # duels per second at the beginning
    later: float  # duels per second after that
    ask: float  # median seconds
    tell: float
    cpu: float  # seconds of CPU per duel, in this process
    database_cpu: float  # the same in its database connections; nan: the database runs on another machine


def report(url: str, *, quick: bool) -> None:
    """Print all measurements of one run."""
    seconds = 1.0 if quick else 10.0
    took = 1e3 * bare(url)
    print(f"\nlive tournament of {len(RANKERS)} rankers on PostgreSQL; a bare commit of one row takes {took:.1f} ms")
    for kind, what in (("groups", "batches of 100"), ("single", "8 threads, one duel at a time")):
        for processes in (1, 3):
            name = f"bench {token_hex(4)}"
            LocalTournament.create(name, rankers=RANKERS, storage=url, seed=1).close()
            found = played(url, name, kind, seconds, processes)
            with LocalTournament.open(name, storage=url) as t:
                assert sum(event.kind == "resolved" for event in t.journal()) == t.counts.resolved
            middle = Played(*map(median, zip(*found, strict=True)))
            print(
                f"ask and durable tell, {what}, {processes} processes: {sum(one.later for one in found):,.0f}/s, "
                f"in the first {FIRST * seconds:g} s {sum(one.first for one in found):,.0f}/s; "
                f"ask {1e3 * middle.ask:.1f} ms, tell {1e3 * middle.tell:.1f} ms (medians); "
                f"CPU per duel {1e6 * middle.cpu:,.0f} us, and {1e6 * middle.database_cpu:,.0f} us in the database"
            )
    print(f"other processes learn a tell after {1e3 * median(lags(url, 5 if quick else 40)):.0f} ms (median)")
    print(f"after the leader is killed, another process leads within {takeover(url):.2f} s")


def bare(url: str) -> float:
    """Median seconds of a PostgreSQL commit of one row, without other load."""
    times = []
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (value bigint)")
        for value in range(100):
            started = perf_counter()
            connection.execute("INSERT INTO bare VALUES (%s)", (value,))
            times.append(perf_counter() - started)
        connection.execute("DROP TABLE bare")
    return median(times)


def played(url: str, name: str, kind: str, seconds: float, processes: int) -> list[Played]:
    """Let processes play at once."""
    command = [sys.executable, "-m", "benchmarks.postgres", url, name, kind, str(seconds)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()  # it is ready
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [Played(*map(float, worker.communicate()[0].split())) for worker in workers]
    assert all(worker.returncode == 0 for worker in workers)
    return said


def play(url: str, name: str, kind: str, seconds: float) -> None:
    """Play duels in one of the processes, and print a `Played`."""
    with LocalTournament.open(name, storage=url) as t:
        print("ready", flush=True)
        sys.stdin.readline()
        started, cpu, database_cpu = perf_counter(), process_time(), cpu_of_database(t)
        waits: list[tuple[float, float, float]] = []  # end, ask, tell
        size, threads = (1, 8) if kind == "single" else (100, 1)

        def work() -> None:
            while perf_counter() < started + seconds:
                asked = [(token_hex(8), None) for _ in range(size)]
                start = perf_counter()
                duels = t.ask_many(asked)
                middle = perf_counter()
                receipts = t.tell_many([(duel, rd.Outcome.TIE) for duel in duels])
                end = perf_counter()
                waits.append((end, middle - start, end - middle))
                assert {receipt.status for receipt in receipts} == {"accepted"}

        workers = [threading.Thread(target=work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        first = sum(end < started + FIRST * seconds for end, _, _ in waits)
        done = Played(
            size * first / (FIRST * seconds),
            size * (len(waits) - first) / (perf_counter() - started - FIRST * seconds),
            median(ask for _, ask, _ in waits),
            median(tell for _, _, tell in waits),
            (process_time() - cpu) / (size * len(waits)),
            (cpu_of_database(t) - database_cpu) / (size * len(waits)),
        )
        print(*done, flush=True)


def cpu_of_database(t: LocalTournament) -> float:
    """Seconds of CPU that the database has spent for the connections of this process; nan if it is elsewhere."""
    storage = t.storage
    assert isinstance(storage, PostgresStorage)
    ticks = 0
    for connection in (storage._writer, storage._ask_reader, storage._reader, storage._election._connection):
        stat = Path(f"/proc/{connection.connected().info.backend_pid}/stat")
        if not stat.exists() or "postgres" not in (text := stat.read_text()):
            return math.nan
        user, system = text.rpartition(")")[2].split()[11:13]
        ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


def lags(url: str, tells: int) -> list[float]:
    """Seconds from the answer to a tell until another process has learnt it."""
    name = f"bench {token_hex(4)}"
    watcher = (
        "import sys, time, rankduel as rd\n"
        "with rd.Tournament.open(sys.argv[2], storage=sys.argv[1]) as t:\n"
        "    print('ready', flush=True)\n"
        "    for told in range(1, int(sys.argv[3]) + 1):\n"
        "        while t._state.bandit.told < told: time.sleep(0.001)\n"
        "        print(time.time(), flush=True)\n"
    )
    with LocalTournament.create(name, rankers=RANKERS, storage=url, seed=1) as t:
        command = [sys.executable, "-c", watcher, url, name, str(tells)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            other.stdout.readline()
            found = []
            for number in range(tells):
                sleep(0.05 + 0.013 * (number % 20))
                t.tell(t.ask(), rd.Outcome.TIE)
                told = time()
                found.append(float(other.stdout.readline()) - told)
    return found


def takeover(url: str) -> float:
    """Seconds from the death of the leader of a tournament until another process leads it."""
    name = f"bench {token_hex(4)}"
    LocalTournament.create(name, rankers=RANKERS, storage=url, seed=1).close()
    leader = (
        "import sys, time, rankduel as rd\n"
        "t = rd.Tournament.open(sys.argv[2], storage=sys.argv[1])\n"
        "while not t.storage.leads(t.name): time.sleep(0.01)\n"
        "print('leads', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", leader, url, name], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with LocalTournament.open(name, storage=url) as t:
            assert not t.storage.leads(name)
            holder.kill()
            return until(lambda: name in t.storage._election.led)  # type: ignore[attr-defined]


def until(true: Callable[[], bool]) -> float:
    """Seconds until a condition is true."""
    started = monotonic()
    while not true():
        assert monotonic() < started + 60
        sleep(0.001)
    return monotonic() - started


if __name__ == "__main__":
    play(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
