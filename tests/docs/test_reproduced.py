"""docs/reproduce.py: what it writes is what the finished runs say; and the pages that are there are whole."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from fences import ROOT
from rankduel.lab import CLAIMS, Store, paper_specs, plan_all, run

PAGE = ROOT / "docs" / "reproduction" / "README.md"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce", ROOT / "docs" / "reproduce.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_only_what_is_finished_is_told(script: ModuleType, tmp_path: Path) -> None:
    out, pages = tmp_path / "out", tmp_path / "pages"
    study = run(paper_specs()["rq4"], scale="smoke", out=out)
    series = study.measured["cycle2"].series["MergeDTS"]
    ((_, cells),) = plan_all([paper_specs()["rq4"]], scale="smoke")
    Store(out).path(cells[0].experiment.units[-1]).unlink()  # of Cycle a single run is left, which decides nothing
    pages.mkdir()
    (pages / "old.svg").write_text("")
    script.main([str(out), "rq4", "rq5", "--scale", "smoke", "--pages", str(pages)])
    text = (pages / "README.md").read_text()
    assert {path.name for path in pages.iterdir()} == {"README.md", "rq4-Cycle2.svg"}
    assert "![rq4-Cycle2](rq4-Cycle2.svg)" in text
    assert f"| cycle2 | MergeDTS | 5,000 | 2 | {series.cpu_seconds.mean():.3g} |" in text
    assert "12 runs of rankduel" in text
    assert "rq5" not in text
    for claim in json.loads((out / "claims.json").read_text()):
        assert f"| {claim['id']} | {claim['text']} |" in text


def test_the_pages_are_whole() -> None:
    text = PAGE.read_text()
    asked = set(re.findall(r"^## (rq\d|theory): ", text, re.MULTILINE))
    assert asked >= {"rq1", "rq3", "rq4", "rq5", "rq7"}
    told = re.findall(r"^\| ((?:rq\d|theory)-[\w-]+) \|", text, re.MULTILINE)
    assert told == [claim.id for claim in CLAIMS if claim.question in asked]
    figures = set(re.findall(r"\]\((.*\.svg)\)", text))
    assert figures == {path.name for path in PAGE.parent.glob("*.svg")}
    assert sum(path.stat().st_size for path in PAGE.parent.iterdir()) < 3e6
