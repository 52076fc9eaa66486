"""The demo: real processes, real HTTP; where it is played to its end, few rankers, so that it is over in seconds."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

from cli.processes import COMMAND, on_terminal, plain, run

PROGRAM = """\
import sys
from rankduel.cli import main
from rankduel.cli.demo import command
command._RANKERS, command._QUERIES, command._BEST, command._SECOND = 5, 50, 0.9, 0.3
sys.exit(main(sys.argv[1:]))
"""
FEW = [sys.executable, "-c", PROGRAM]


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Temporary files go to a folder that is empty in the end, and nobody asks the user's proxy or shows their key."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("RANKDUEL_KEY", "of-another-service")
    yield
    assert list(folder.iterdir()) == []


@contextmanager
def playing(command: list[str], *options: str, cwd: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A demo that has begun, and the address of its dashboard. In the end it has ended, and so has its service."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, "demo", *options], cwd=cwd, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        try:
            assert "rankers compete on pages of simulated users. The baseline is ranker-" in process.stdout.readline()
            address = process.stdout.readline().removeprefix("dashboard: ").strip()
            assert answers(address)
            yield process, address
            process.wait(30)
        finally:
            process.kill()
    assert not answers(address)


def answers(address: str) -> bool:
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=10) as answer:
            return b"rankduel" in answer.read()
    except OSError:
        return False


def service_of(process: "subprocess.Popen[str]") -> int:
    (service,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(service)


@pytest.mark.slow
def test_it_ends_by_itself_with_the_winner_and_the_report(tmp_path: Path) -> None:
    (tmp_path / "rankduel.toml").write_text("nobody = 'reads this'")
    with playing(FEW, "--seed", "1", cwd=tmp_path) as (process, _):
        told, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert re.match(r" +\d s: +[1-5] of 5 rankers left, +[\d,]+ duels, ranker-0\d leads, pages [\d.]+ % \w+ than", told)
    ended = re.search(
        r"\n(ranker-0\d) is the best of 5 rankers, with at least 95 % confidence \(([\d,]+) duels\)\.\n"
        r"The confidence holds whenever you look, provided that one ranker is at least as good as all others, ",
        told,
    )
    assert ended
    assert re.search(r"\nIn this simulation, the best ranker is known: it is ranker-0[1-5]\.\n", told)
    assert re.search(r"Users saw [\d,]+ pages. Clicks arrived twice for [1-9]\d* and too late or never for [1-9]", told)
    assert told.endswith("report: results/demo/decision.md and results/demo/decision.json\n")
    report = json.loads((tmp_path / "results/demo/decision.json").read_text())
    assert report["winner"] == ended[1]
    assert f"({ended[2]} duels)" in report["headline"]
    assert report["duels"] >= int(ended[2].replace(",", ""))  # outcomes after the decision are not learnt
    text = (tmp_path / "results/demo/decision.md").read_text()
    assert text.startswith(f"# demo\n\n{ended[1]} is the best of 5 rankers, with at least 95 % confidence ")


@pytest.mark.slow
@pytest.mark.parametrize("until", ["Ctrl-C", "its service dies"])
def test_it_is_kept(tmp_path: Path, until: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with playing(FEW, "--keep", "--out", "here", "--port", str(port), cwd=tmp_path) as (process, address):
        assert process.stdout
        assert address == f"http://127.0.0.1:{port}/"
        while process.stdout.readline() != f"dashboard: {address} (press Ctrl-C to stop)\n":
            assert process.poll() is None
        assert (tmp_path / "here/decision.md").exists()
        assert answers(f"{address}t/demo/decision")
        os.kill(process.pid if until == "Ctrl-C" else service_of(process), signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    if until == "Ctrl-C":
        assert (process.returncode, errors) == (0, "")
    else:
        assert (process.returncode, errors) == (2, "rankduel: error: the service ended with exit code 0\n")


@pytest.mark.slow
def test_drawn_in_place_and_stopped_in_the_middle(tmp_path: Path) -> None:
    shown = (
        r"rankers left +━+ +\d+ of 64 *\r\nduels +[\d,]+ in \d s *\r\nchampion +ranker-\d\d *\r\n"
        r"effect on users +pages "
    )
    code, _, received = on_terminal("demo", cwd=tmp_path, stop_at=shown)
    assert code == 130
    assert "\x1b[?25h" in received  # the cursor is back
    assert "Traceback" not in received
    address = re.search(r"dashboard: (\S+)", plain(received))
    assert address
    assert not answers(address[1])


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end(tmp_path: Path, how: signal.Signals) -> None:
    with playing(COMMAND, cwd=tmp_path) as (process, _):
        process.send_signal(how)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "")


@pytest.mark.slow
def test_a_service_that_dies(tmp_path: Path) -> None:
    with playing(COMMAND, cwd=tmp_path) as (process, _):
        os.kill(service_of(process), signal.SIGKILL)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (2, "rankduel: error: the service was killed by signal 9\n")


@pytest.mark.slow
def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:{1}".format(*taken.getsockname())
        ran = run("demo", "--port", address.partition(":")[2], cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("rankduel: error: the service ended with exit code 2: cannot listen on ")
    assert f"{address}: Address already in use" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_without_the_extra(tmp_path: Path) -> None:
    ran = run("demo", cwd=tmp_path, without="uvicorn")
    assert ran.returncode == 2
    assert "the demo needs uvicorn, which is not installed: pip install 'rankduel[server]'" in ran.stderr
