"""Whatever a user can type is documented: options, settings, calls and names. What says nothing is refused."""

import argparse
import doctest
import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import declared
import rankduel as rd
from fences import ROOT
from rankduel.cli import COMMANDS
from rankduel.clicks import CLICKS
from rankduel.interleaving import INTERLEAVINGS, MULTILEAVINGS
from rankduel.live.settings import DIALS
from rankduel.preferences.problems import PROBLEMS
from rankduel.service.app import ROUTES
from rankduel.service.http.openapi import document
from rankduel.service.problems import PROBLEMS as WRONG
from rankduel.simulation.delays import LAWS


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def test_every_setting_of_a_tournament_is_documented() -> None:
    told = page("live")
    settings = {*inspect.signature(rd.Tournament.create).parameters, *DIALS} - {"name", "dials", "key"}
    assert {name for name in settings if not re.search(rf"`{name}`|\b{name}=", told)} == set()
    assert "`key=`" in page("client")  # of a tournament behind an address


def test_every_rule_of_attribution_and_guardrails_is_documented() -> None:
    told = page("signals")
    assert {name for name in inspect.signature(rd.live.Attribution).parameters if f"| `{name}` |" not in told} == set()
    assert {name for name in inspect.signature(rd.live.Guardrail).parameters if name not in told} == set()


def test_every_call_and_problem_is_in_the_reference() -> None:
    told = page("http")
    assert [call.path for call in ROUTES if f"### `{call.method} {call.path}`\n" not in told] == []
    assert [kind.type for kind in WRONG.values() if f"`{kind.type}`" not in told and kind.name != "wrong-method"] == []


def test_every_name_is_in_the_reference() -> None:
    told = page("names")
    bandits = {**rd.REGISTRY, **rd.MULTI_REGISTRY}
    for registry in (bandits, PROBLEMS, INTERLEAVINGS, MULTILEAVINGS, CLICKS, LAWS):
        assert registry
        assert [name for name in registry if f"`{name}`" not in told and f"`{name}(" not in told] == []


def test_every_option_is_in_the_reference() -> None:
    told = page("commands")
    parser = argparse.ArgumentParser(prog="rankduel")
    subparsers = parser.add_subparsers()
    for command in COMMANDS:
        command.declare(subparsers.add_parser)
    leaves = [leaf for _, leaf in declared._leaves(subparsers)]
    assert len(leaves) > len(COMMANDS)  # actions of `tournaments`, `keys` and `storage` are among them
    for leaf in leaves:
        section = re.search(rf"^##+ {leaf.prog}\n(.*?)(?=^##|\Z)", told, re.DOTALL | re.MULTILINE)
        assert section, leaf.prog
        options = [name for action in leaf._actions for name in action.option_strings if name not in ("-h", "--help")]
        assert [name for name in options if f"`{name}" not in section[1]] == [], leaf.prog


def _silent_option(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    add_parser("shout", help="be loud").add_argument("--loud", metavar="N")


def _silent_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    add_parser("shout", help="")


@pytest.mark.parametrize(
    ("declare", "complaint"),
    [(_silent_option, "rankduel shout: `--loud N` has no help"), (_silent_command, "rankduel shout: no help")],
)
def test_a_silent_command_is_refused(
    declare: Callable[..., None], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declared, "COMMANDS", (SimpleNamespace(declare=declare),))
    with pytest.raises(declared.UndocumentedError, match=re.escape(complaint)):
        declared.commands()


def test_a_silent_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROBLEMS, "riddle", lambda: None)
    with pytest.raises(declared.UndocumentedError, match="riddle: no docstring"):
        declared.names()


def test_a_silent_call_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(calls: Any, version: str) -> dict[str, Any]:
        made: dict[str, Any] = document(calls, version)
        made["paths"]["/livez"]["get"]["summary"] = ""
        return made

    monkeypatch.setattr(declared, "document", silent)
    with pytest.raises(declared.UndocumentedError, match="GET /livez: no summary"):
        declared.http()


def test_own_examples() -> None:
    assert doctest.testmod(declared).failed == 0
