"""Scripts of examples/ in processes of their own, and the service that some of them can use."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import rankduel as rd
from cli.processes import start
from fences import ROOT

EXAMPLES = ROOT / "examples"

needs_service = pytest.mark.skipif(not hasattr(rd, "Client"), reason="this version has no service")


def run(script: str, *arguments: str, cwd: Path, typed: str = "", **environment: str) -> str:
    """Run a script to its good end, with what is typed; what it prints. Warnings are errors."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script), *arguments],
        cwd=cwd,
        env=os.environ | environment,
        input=typed,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    return finished.stdout


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """`rankduel serve` on a fresh storage, for a while; its address."""
    with start("serve", "--storage", "sqlite:///served.db", "--create", "--port", "0", cwd=folder) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("{") and (told := json.loads(line)).get("message") == "listening":
                yield f"http://127.0.0.1:{told['port']}"
                return
        pytest.fail("the service has ended before it was listening")
