import json
import re
import signal
import time
from pathlib import Path

import pytest

from cli.processes import on_terminal, plain, run, start
from rankduel.cli.shared.progress import ProgressState, show_progress

# Two threads: two runs of MergeDTS end soon, and then both threads are busy with Uniform for days.
ENDLESS = ["simulate", "cycle2", "--bandit", "MergeDTS", "--bandit", "Uniform", "--horizon", "1e13", "--runs", "3"]
ENDLESS += ["--jobs", "2", "--format", "json"]
STATE = r"\d of 6 runs, [\d.]+[kM]? duels, [\d.]+[kM]?/s, (\d+ h \d+ min left|time left unknown)"
STATE += r"; running: \w+ run \d, \w+ run \d\n"


def test_lines_where_there_is_no_terminal(tmp_path: Path) -> None:
    with start(*ENDLESS, cwd=tmp_path) as process:
        assert process.stderr
        line = ""
        while not line.startswith("2 of 6 runs"):
            line = process.stderr.readline()
            assert re.fullmatch(STATE, line)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stdout == ""
    assert "interrupted: 2 of 6 runs are stored in results\n" in stderr
    assert "\x1b" not in stderr


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    shown = r"2 of 6 runs ━+.* \d+% [\d.]+M duels, [\d.]+M/s, \d+ h \d+ min left"
    code, _, received = on_terminal(*ENDLESS, cwd=tmp_path, stop_at=shown)
    assert code == 130
    assert "interrupted: 2 of 6 runs are stored in results" in plain(received)
    assert "\x1b[?25h" in received  # the cursor is back


@pytest.mark.slow
def test_results_go_to_stdout_only(tmp_path: Path) -> None:
    arguments = ("simulate", "cycle2", "--horizon", "1000", "--runs", "6", "--format", "json")
    code, stdout, received = on_terminal(*arguments, cwd=tmp_path, stdout_too=False)
    assert code == 0
    assert json.loads(stdout)["runs"] == 6
    assert re.search(r"6 of 6 runs ━+ 100% 6k duels, [\d.]+[kM]?/s, done in \d+ s", plain(received))
    assert received.count("saved ") == 3
    lines = run(*arguments, "--seed", "1", cwd=tmp_path, without="matplotlib")
    assert json.loads(lines.stdout)["runs"] == 6
    assert re.match(r"6 of 6 runs, 6k duels, [\d.]+[kM]?/s, done in \d+ s\n", lines.stderr)


@pytest.mark.slow
def test_without_rich_a_terminal_gets_lines(tmp_path: Path) -> None:
    arguments = ("simulate", "cycle2", "--horizon", "1000", "--runs", "6")
    code, _, received = on_terminal(*arguments, cwd=tmp_path, without="rich")
    assert code == 0
    assert received.startswith("6 of 6 runs, 6k duels, ")
    assert "\x1b" not in received


def test_long_work_has_few_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with show_progress() as show:
        for second in range(3 * 3600):
            now[0] = second
            show(ProgressState(0.5, "1 of 2 runs", "3 duels", done=False))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 2 runs, 3 duels"
    assert 100 < len(lines) < 200
