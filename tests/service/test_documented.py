"""The page of the service tells of every call, problem and setting, and of nothing else."""

import re
from dataclasses import fields

from fences import ROOT
from rankduel.service import SCOPES, ServiceSettings
from rankduel.service.app import ROUTES
from rankduel.service.problems import PROBLEMS

PAGE = (ROOT / "docs" / "service.md").read_text()
SECURITY = (ROOT / "SECURITY.md").read_text()


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(title: str) -> list[str]:
    """What stands in the first column of the table, in quotes."""
    rows = re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
    return [cell for row in rows for cell in re.findall(r"`([^`]+)`", row)]


def test_every_call_with_its_scope() -> None:
    told: dict[tuple[str, ...], str] = {}
    for calls, scope in re.findall(r"^\| (`.*?) \| (\w+) \|", section("Calls"), re.MULTILINE):
        told |= {tuple(call.split(" ", 1)): scope for call in re.findall(r"`([^`]+)`", calls)}
    assert told == {(call.method, call.path): call.scope or "none" for call in ROUTES}


def test_every_problem_with_its_status() -> None:
    told = dict(re.findall(r"^\| `(/problems/[\w-]+)` \| (\d+) \|", section("Errors"), re.MULTILINE))
    assert told == {kind.type: str(kind.status) for kind in PROBLEMS.values()}


def test_every_setting() -> None:
    assert sorted(first_cells("Settings")) == sorted(field.name for field in fields(ServiceSettings))


def test_every_scope() -> None:
    assert tuple(first_cells("Keys")) == SCOPES


def test_the_threat_model_names_what_is_asked_most() -> None:
    for words in ("Forged clicks", "forged or altered ticket", "Keys cannot be guessed", "DNS rebinding", "into SQL"):
        assert words in SECURITY
