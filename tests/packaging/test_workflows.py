"""The workflows of .github: actions are pinned, rights are few, and each supported Python is tested and built."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from fences import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_rights_are_few(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for action in re.findall(r"uses: ([^\s.].*)", path.read_text()):
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", action), action


def test_only_publishing_has_more_rights() -> None:
    more = {
        (path.stem, name): job["permissions"]
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text())["jobs"].items()
        if "permissions" in job
    }
    assert more == {("release", "publish"): {"id-token": "write"}, ("release", "github"): {"contents": "write"}}


def test_each_supported_python_is_tested_and_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["requires-python"] == f">={PYTHONS[0]}"
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    assert {name: job["strategy"]["matrix"]["python"] for name, job in jobs.items()} == {
        "linux": PYTHONS,
        "macos": PYTHONS,
    }
    built = project["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{python.replace('.', '')}-*" for python in PYTHONS]


def test_the_command_that_tests_a_wheel_works() -> None:
    command = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]["test-command"]
    program = re.fullmatch(r'python -c "(.*)"\n?', command)
    assert program is not None
    done = subprocess.run([sys.executable, "-c", program[1]], capture_output=True, text=True, check=True)
    assert 0 <= int(done.stdout) < 20
