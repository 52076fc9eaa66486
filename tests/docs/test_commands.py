"""Every command in the documentation is one that works: parsed by the program itself, and run where that is quick."""

import argparse
import inspect
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from fences import ROOT, fences, name, pages
from rankduel.bandits import any_bandit_from
from rankduel.cli import COMMANDS, main
from rankduel.cli.shared.config import SETTING_HELP
from rankduel.client import Client, Counters
from rankduel.lab import problem_from


def lines() -> Iterator[tuple[str, list[str]]]:
    """Where it stands, and the words of each line of a `sh` block, without its comment."""
    for page in pages():
        for fence in fences(page):
            if fence.info == "sh":
                for number, line in enumerate(fence.text.splitlines(), fence.line):
                    if words := shlex.split(line, comments=True):
                        yield f"{name(page)}:{number}", words


def commands(program: str) -> list[tuple[str, list[str]]]:
    return [(place, words) for place, words in lines() if words[0] == program]


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    subparsers = parser.add_subparsers(required=True)
    for command in COMMANDS:
        command.declare(subparsers.add_parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(("place", "words"), commands("rankduel"))
def test_rankduel_commands(place: str, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    if words[1] in ("bandits", "problems"):
        assert main(words[1:]) == 0
        assert capsys.readouterr().out
        return
    try:
        asked = parse(words[1:])
    except SystemExit:
        pytest.fail(f"{place}: {capsys.readouterr().err}")
    if words[1] == "simulate":
        if asked.problem != "PROBLEM":
            problem_from(asked.problem)
        for spec in asked.bandit or []:
            any_bandit_from(spec, 20, seed=1)


def test_commands_in_text() -> None:
    # Within a sentence, as in `rankduel simulate cycle2`.
    known = {command.__name__.rpartition(".")[2] for command in COMMANDS} | {"--help", "COMMAND"}
    for page in pages():
        for command in re.findall(r"`rankduel ([^`]+)`", page.read_text()):
            assert shlex.split(command)[0] in known, command


@pytest.mark.parametrize(("place", "words"), commands("make"))
def test_make_targets(place: str, words: list[str]) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(words[1:]) <= targets, place


@pytest.mark.parametrize(("place", "words"), commands("python"))
def test_benchmark_commands(place: str, words: list[str]) -> None:
    assert words[1:3] == ["-m", "benchmarks"], place
    code = "import sys; from benchmarks.__main__ import parser; parser().parse_args(sys.argv[1:])"
    subprocess.run([sys.executable, "-c", code, *words[3:]], cwd=ROOT, check=True)


def test_other_commands_are_few() -> None:
    assert {words[0] for _, words in lines()} <= {"rankduel", "make", "python", "pip", ".venv/bin/pytest"}


def test_every_option_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    actions = {
        "tournaments": ("create", "list", "show", "start", "pause", "stop", "export"),
        "keys": ("create", "list", "revoke"),
        "storage": ("backup", "verify", "upgrade"),
        "webhooks": ("secret", "test"),
    }
    single = ("simulate", "plan", "reproduce", "bench", "demo", "init", "serve", "doctor")
    for words in [[command] for command in single] + [[verb, what] for verb in actions for what in actions[verb]]:
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        options = set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out)) - {"--help"}
        assert {option for option in options if option not in page} == set(), words


def test_every_setting_is_documented() -> None:
    told = "".join((ROOT / "docs" / page).read_text() for page in ("operations.md", "service.md"))
    assert {name for name in SETTING_HELP if f"| `{name}`" not in told and f", `{name}`" not in told} == set()


def test_every_counter_and_setting_of_the_client_is_documented() -> None:
    page = (ROOT / "docs" / "client.md").read_text()
    settings = set(inspect.signature(Client).parameters) - {"url", "tournament"}
    assert {name for name in {*settings, *Counters.__slots__} if f"`{name}`" not in page} == set()
