"""Start and stop `rankduel serve` in a process of its own."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from time import monotonic, sleep
from urllib.request import ProxyHandler, build_opener

__all__ = ["ServiceProcess", "running_service"]

_START_TIMEOUT_SECONDS = 60.0  # on a busy machine
_STOP_TIMEOUT_SECONDS = 10.0  # then it is killed
_ANSWER_TIMEOUT_SECONDS = 10.0


class ServiceProcess:
    """A running service, its address and its log."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process, self._log = process, log
        self._opener = build_opener(ProxyHandler({}))  # it is on this machine: no proxy stands between
        self.address = ""

    def wait(self) -> None:
        """Wait until it listens."""
        due = monotonic() + _START_TIMEOUT_SECONDS
        while not self.address:
            for line in self._lines():
                if '"listening"' in line:
                    listening = json.loads(line)
                    self.address = f"http://{listening['host']}:{listening['port']}"
            if monotonic() > due:
                raise ChildProcessError(f"the service does not listen after {_START_TIMEOUT_SECONDS:.0f} s")
            self.check()
            sleep(0.02)

    def read(self, path: str) -> bytes:
        """What it answers to a GET; ChildProcessError if it does not."""
        try:
            with self._opener.open(self.address + path, timeout=_ANSWER_TIMEOUT_SECONDS) as answer:
                body: bytes = answer.read()
                return body
        except (OSError, HTTPException) as error:
            with suppress(subprocess.TimeoutExpired):  # a connection is cut before a process has ended
                self._process.wait(1)
            self.check()
            raise ChildProcessError(f"the service does not answer: {error}") from None

    def check(self) -> None:
        """Raise ChildProcessError if it has ended, and say what it said last."""
        code = self._process.poll()
        if code is None:
            return
        how = f"was killed by signal {-code}" if code < 0 else f"has ended with code {code}"
        last = next((line for line in reversed(self._lines()) if not line.startswith("{")), "")
        raise ChildProcessError(f"the service {how}: {_reason(last)}" if last else f"the service {how}")

    def _lines(self) -> list[str]:
        """Its log, as far as lines are whole."""
        return [line for line in self._log.read_text(errors="replace").splitlines(keepends=True) if line.endswith("\n")]


@contextmanager
def running_service(folder: Path, port: int) -> Iterator[ServiceProcess]:
    """`rankduel serve` on a SQLite file in a folder. In the end it is gone, whatever happens.

    It runs in that folder, so that no settings of the user's are taken for its own, and in a session of its own, so
    that Ctrl-C on the terminal is for this program alone, which stops it.
    """
    log = folder / "service.log"
    command = [sys.executable, "-m", "rankduel", "serve", "--storage", "sqlite:///duels.db", "--port", str(port)]
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
        )
    try:
        service = ServiceProcess(process, log)
        service.wait()
        yield service
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_TIMEOUT_SECONDS)
        process.kill()
        process.wait()


def _reason(line: str) -> str:
    """The reason in an error message of a command.

    >>> _reason("rankduel serve: error: no such port (see rankduel serve --help)")
    'no such port'
    """
    return re.sub(r"^rankduel[^:]*: error: | \(see [^)]*\)$", "", line.strip())
