"""Real processes of the command line."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-m", "rankduel"]
WITHOUT = "import sys; sys.modules[{module!r}] = None; from rankduel.cli import main; sys.exit(main(sys.argv[1:]))"


def run(*arguments: str, cwd: Path, without: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, perhaps with a module that cannot be imported."""
    command = [*_command(without), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@contextmanager
def start(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a command and go on. In the end it is gone, whatever happens."""
    command, pipe = [*COMMAND, *arguments], subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def on_terminal(
    *arguments: str,
    cwd: Path,
    stdout_too: bool = True,
    without: str | None = None,
    stop_at: str | None = None,
) -> tuple[int, str, str]:
    """Run a command on a pseudo-terminal: its exit code, its stdout and what the terminal received.

    Ctrl-C is pressed when the terminal shows what `stop_at` matches.
    """
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [*_command(without), *arguments],
        cwd=cwd,
        stdin=end,
        stdout=end if stdout_too else subprocess.PIPE,
        stderr=end,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
    ) as process:
        os.close(end)
        received = ""
        deadline, stop_again = time.monotonic() + 60, 0.0
        try:
            while chunk := _read(terminal, deadline):
                received += chunk
                assert time.monotonic() < deadline, plain(received)[-1000:]
                # A person whose Ctrl-C came in a moment when Python swallows it presses it again.
                if stop_at is not None and time.monotonic() > stop_again and re.search(stop_at, plain(received)):
                    process.send_signal(signal.SIGINT)
                    stop_again = time.monotonic() + 10
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(terminal)
        stdout = process.stdout.read() if process.stdout else b""
    return process.returncode, stdout.decode(), received


def _command(without: str | None) -> list[str]:
    return COMMAND if without is None else [sys.executable, "-c", WITHOUT.format(module=without)]


def _read(terminal: int, deadline: float) -> str:
    try:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, "the terminal waits for something that does not come"
        return os.read(terminal, 65536).decode(errors="replace")
    except OSError:  # the other end is closed
        return ""


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something to happen while a process runs."""
    deadline = time.monotonic() + 60
    while not happened():
        assert process.poll() is None, f"ended too early: {process.communicate()}"
        assert time.monotonic() < deadline
        time.sleep(0.005)


def finished(folder: Path) -> dict[str, int]:
    """The units in a folder of results, and when each was written."""
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").glob("*.json")}


def products(folder: Path) -> dict[str, bytes]:
    """The curves and plots in a folder of results."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def plain(received: str) -> str:
    """What a terminal received, without its control sequences."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received)
