"""Run `rankduel serve` in a child process."""

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
_STOP_TIMEOUT_SECONDS = 10.0  # after that, the service is killed
_ANSWER_TIMEOUT_SECONDS = 10.0


class ServiceProcess:
    """A running service, its address and its log."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._process, self._log = process, log
        self._opener = build_opener(ProxyHandler({}))  # the service is on this machine: ignore proxy settings
        self.address = ""

    def wait(self) -> None:
        """Wait until the service accepts connections."""
        due = monotonic() + _START_TIMEOUT_SECONDS
        while not self.address:
            for line in self._lines():
                if '"listening"' in line:
                    listening = json.loads(line)
                    self.address = f"http://{listening['host']}:{listening['port']}"
            if monotonic() > due:
                raise ChildProcessError(f"the service did not start within {_START_TIMEOUT_SECONDS:.0f} s")
            self.check()
            sleep(0.02)

    def read(self, path: str) -> bytes:
        """The body of the response to a GET; ChildProcessError if there is no response."""
        try:
            with self._opener.open(self.address + path, timeout=_ANSWER_TIMEOUT_SECONDS) as answer:
                body: bytes = answer.read()
                return body
        except (OSError, HTTPException) as error:
            with suppress(subprocess.TimeoutExpired):  # the connection breaks before the process ends
                self._process.wait(1)
            self.check()
            raise ChildProcessError(f"the service does not answer: {error}") from None

    def check(self) -> None:
        """Raise ChildProcessError, with the last log line, if the process has ended."""
        code = self._process.poll()
        if code is None:
            return
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        last = next((line for line in reversed(self._lines()) if not line.startswith("{")), "")
        raise ChildProcessError(f"the service {how}: {_reason(last)}" if last else f"the service {how}")

    def _lines(self) -> list[str]:
        """The complete lines of the log."""
        return [line for line in self._log.read_text(errors="replace").splitlines(keepends=True) if line.endswith("\n")]


@contextmanager
def running_service(folder: Path, port: int) -> Iterator[ServiceProcess]:
    """Run `rankduel serve` on a SQLite file in a folder, and stop it at the end of the `with` block.

    It runs in that folder, so that it does not read your rankduel.toml, and in its own process session, so that Ctrl-C
    on the terminal reaches only this program, which then stops the service.
    """
    log = folder / "service.log"
    command = [sys.executable, "-m", "rankduel", "serve", "--storage", "sqlite:///duels.db", "--create"]
    command += ["--port", str(port)]
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
    """Extract the reason from an error message of a command.

    >>> _reason("rankduel serve: error: no such port (see rankduel serve --help)")
    'no such port'
    """
    return re.sub(r"^rankduel[^:]*: error: | \(see [^)]*\)$", "", line.strip())
