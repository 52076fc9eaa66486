"""Generators of clients understand the OpenAPI document: no warning, and a type for each schema."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankduel
from rankduel.service.app import ROUTES
from rankduel.service.http.openapi import document

OPENAPI_TYPESCRIPT = "openapi-typescript@7.13.0"

pytestmark = pytest.mark.slow


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The document, as a file."""
    (tmp_path / "openapi.json").write_text(json.dumps(document(ROUTES, rankduel.__version__)))
    return tmp_path / "openapi.json"


def schemas(file: Path) -> set[str]:
    return set(json.loads(file.read_text())["components"]["schemas"])


def test_openapi_python_client(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = file.with_name("config.json")
    config.write_text('{"post_hooks": []}')
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"]
    made = subprocess.run(
        [*command, "--path", file, "--config", config, "--output-path", file.with_name("made_client")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    said = made.stdout + made.stderr
    assert made.returncode == 0, said
    assert "warning" not in said.lower()
    monkeypatch.syspath_prepend(file.parent)
    models = importlib.import_module("made_client.models")
    assert {name for name in schemas(file) if not hasattr(models, name)} == set()
    api = {path.stem for path in (file.parent / "made_client" / "api").rglob("*.py")}
    assert {route.name for route in ROUTES} <= api


def test_openapi_typescript(file: Path) -> None:
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("Node.js is not installed: there is no npx")
    run = [npx, "--yes", OPENAPI_TYPESCRIPT]
    found = subprocess.run([*run, "--version"], capture_output=True, text=True, check=False, timeout=200)
    if found.returncode != 0:
        pytest.skip(f"npx cannot fetch {OPENAPI_TYPESCRIPT}: {found.stderr[-200:]}")
    made = subprocess.run(
        [*run, file, "-o", file.with_suffix(".ts")], capture_output=True, text=True, check=False, timeout=120
    )
    said = made.stdout + made.stderr
    assert made.returncode == 0, said
    assert "\u26a0" not in said  # its sign for a warning
    types = file.with_suffix(".ts").read_text().partition("\n    schemas: {\n")[2].partition("\n    };\n")[0]
    assert set(re.findall(r"^        (\w+): ", types, re.MULTILINE)) == schemas(file)
