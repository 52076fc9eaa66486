"""The real service, in a process of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def running(storage: str, *options: str, end: signal.Signals = signal.SIGTERM) -> Iterator[str]:
    """`rankduel serve` on a free port: its address. In the end it is stopped, or killed."""
    command = [sys.executable, "-m", "rankduel", "serve", "--create", "--storage", storage, "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{port_of(process)}"
        finally:
            process.send_signal(end)
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def port_of(process: "subprocess.Popen[str]") -> int:
    """The port of a service that has just been started, from its log."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "listening" in line:
            port: int = json.loads(line)["port"]
            return port
    raise AssertionError(f"the service has ended: {said}")
