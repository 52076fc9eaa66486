"""docs/defaults.py: a setting has one default, wherever it is stated, and a difference is found."""

import doctest
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import defaults
from fences import ROOT
from rankduel.cli import COMMANDS
from rankduel.cli.shared.config import default_config_text
from rankduel.live import LocalTournament
from rankduel.service.http.openapi import document


def stated() -> list[defaults.Stated]:
    return defaults.stated_defaults()


def test_defaults_agree() -> None:
    assert defaults.conflicts(stated()) == []


def test_settings_that_are_known_to_differ_do_differ() -> None:
    found = {line.partition(":")[0] for line in defaults.conflicts(stated(), different=())}
    assert found == defaults.DIFFERENT, "remove settings that agree again from DIFFERENT"


@pytest.mark.parametrize(
    ("setting", "places"),
    [
        ("tournament.share", {"Settings", "rankduel tournaments create", "OpenAPI"}),
        (
            "tournament.bandit",
            {"LocalTournament", "RemoteTournament", "OpenAPI", "tournaments create", "forecast.plan"},
        ),
        ("tournament.delta", {"Tournament.create", "tournaments create", "forecast.plan", "OpenAPI"}),
        ("tournament.interleaving", {"new_settings", "tournaments create", "OpenAPI"}),
        ("tournament.expires_after", {"RemoteTournament", "tournaments create", "OpenAPI"}),
        ("service.port", {"ServiceSettings", "serve", "rankduel.toml", "service.md", "rankduel serve"}),
        ("service.burst", {"ServiceSettings", "rankduel.toml", "service.md"}),
        ("client.deadline", {"Client", "client.md"}),
        ("plan.daily_duels", {"forecast.plan", "rankduel plan"}),
        ("rankduel plan --daily", {"rankduel plan", "the help of rankduel plan", "cli.md"}),
        ("rankduel simulate --bandit", {"the help of rankduel simulate", "cli.md"}),
        ("duels.limit", {"Tournament.duels", "OpenAPI"}),
    ],
)
def test_all_places_are_read(setting: str, places: set[str]) -> None:
    found = [one.place for one in stated() if one.setting == setting]
    assert {place for place in places if not any(place in one for one in found)} == set()


def _signature(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(LocalTournament.create.__func__.__kwdefaults__, "expires_after", 60.0)  # type: ignore[attr-defined]
    return "tournament.expires_after: the default is 86400.0 in rankduel.live.tournament.Tournament.create, but 60.0 in"


def _default_bandit(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(defaults, "DEFAULT", "MergeDTS")
    return "tournament.bandit: the default is 'MergeDTS' in rankduel.live.tournament.Tournament.create, but 'Certified"


def _document(monkeypatch: pytest.MonkeyPatch) -> str:
    def other(routes: Any, version: str) -> dict[str, Any]:
        made: dict[str, Any] = document(routes, version)
        made["components"]["schemas"]["CreateTournament"]["properties"]["share"]["default"] = 0.5
        return made

    monkeypatch.setattr(defaults, "document", other)
    return (
        "tournament.share: the default is 1.0 in rankduel.live.settings.Settings, but 0.5 in CreateTournament of the Op"
    )


def _settings_file(monkeypatch: pytest.MonkeyPatch) -> str:
    text = default_config_text("sqlite:///duels.db").replace("# port = 8080", "# port = 80")
    monkeypatch.setattr(defaults, "default_config_text", lambda _: text)
    return "service.port: the default is 8080 in rankduel.service.settings.ServiceSettings, but 80 in rankduel.toml"


def _help(monkeypatch: pytest.MonkeyPatch) -> str:
    def add(subparsers: Any) -> None:
        parser = subparsers("shout", help="be loud")
        parser.add_argument("--times", default=3, help="how often (default: 4)")

    monkeypatch.setattr(defaults, "COMMANDS", (*COMMANDS, _command(add)))
    return "rankduel shout --times: the default is 3 in rankduel shout, but 4.0 in the help of rankduel shout"


def _command(add: Any) -> ModuleType:
    command = ModuleType("shout")
    command.__dict__["declare"] = add
    return command


@pytest.mark.parametrize("change", [_signature, _default_bandit, _document, _settings_file, _help])
def test_a_difference_is_named_with_both_values(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    line = change(monkeypatch)
    assert [found for found in defaults.conflicts(stated()) if found.startswith(line)]


def test_a_wrong_table_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for page in ("cli", "client", "service"):
        (tmp_path / f"{page}.md").write_text((ROOT / "docs" / f"{page}.md").read_text())
    plan = (tmp_path / "cli.md").read_text()
    assert plan.count("| the bandit | `CertifiedSparring` |") == 1
    (tmp_path / "cli.md").write_text(
        plan.replace("| the bandit | `CertifiedSparring` |", "| the bandit | `MergeDTS` |")
    )
    monkeypatch.setattr(defaults, "DOCS", tmp_path)
    (found,) = defaults.conflicts(stated())
    assert found == (
        "rankduel plan --bandit: the default is 'CertifiedSparring' in rankduel plan, but 'MergeDTS' in docs/cli.md"
    )


def test_own_examples() -> None:
    assert doctest.testmod(defaults).failed == 0
