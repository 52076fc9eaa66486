"""Check that a setting has the same default wherever it is stated.

These places state defaults: signatures in Python, options of the command line and their help texts, the OpenAPI
document, the settings file that `rankduel init` writes, and tables in the documentation. (The form of the dashboard
states none: it asks the service for them.)
`docs/generate.py --check` fails if two of them differ, and names the setting and both values.
"""

import dataclasses
import inspect
import re
import tomllib
from argparse import Action, ArgumentParser
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import declared
import rankduel as rd
from rankduel.cli import COMMANDS
from rankduel.cli.shared.config import default_config_text
from rankduel.client import RemoteTournament
from rankduel.live import LocalTournament
from rankduel.live.defaults import DEFAULT, DEFAULTS
from rankduel.live.settings import Settings, new_settings
from rankduel.service import serve
from rankduel.service.app import ROUTES
from rankduel.service.http.openapi import document
from rankduel.service.settings import ServiceSettings

__all__ = ["DIFFERENT", "Stated", "conflicts", "stated_defaults"]

DOCS = Path(__file__).resolve().parent
GROUPS = {  # the commands whose options are settings of something else, with options of another name
    "tournaments create": ("tournament", {}),
    "plan": ("plan", {"daily": "daily_duels"}),
    "simulate": ("simulation", {"regret": "kind"}),
    "serve": ("service", {}),
}
NOT_IN_TABLES = {  # actions whose options have other defaults than options of the same name in a table of docs/cli.md
    "tournaments configure",  # no defaults: a setting without an option stays as it is
    "tournaments roll-out",
}
COMPUTED = {"jobs", "port of demo"}  # the default depends on the machine, and is stated in words
DIFFERENT = {
    "plan.out",  # a command stores finished runs, to continue after Ctrl-C; a call from Python does not
}


class Stated(NamedTuple):
    """A default and the place that states it. None: nothing, or a value that is described in words."""

    setting: str
    value: object
    place: str


def conflicts(stated: Iterable[Stated], different: Container[str] = DIFFERENT) -> list[str]:
    """Describe settings whose default is not the same everywhere, except those that are known to differ.

    >>> conflicts([Stated("share", 1.0, "Python"), Stated("share", 1, "CLI"), Stated("share", 0.5, "HTTP")])
    ['share: the default is 1.0 in Python, but 0.5 in HTTP']
    """
    first: dict[str, Stated] = {}
    found = []
    for one in stated:
        other = first.setdefault(one.setting, one)
        if other.value != one.value and one.setting not in different:
            found.append(
                f"{one.setting}: the default is {other.value!r} in {other.place}, but {one.value!r} in {one.place}"
            )
    return found


def stated_defaults() -> list[Stated]:
    """Collect all defaults that are stated anywhere."""
    found = [*_python(), *_command_line(), *_http(), *_settings_file(), *_tables()]
    return [one._replace(value=_real(one)) for one in found]


def _real(stated: Stated) -> object:
    """Return the default that is in effect: for a tournament, no bandit means the default bandit with its options."""
    value = (list(stated.value) or None) if isinstance(stated.value, tuple | list) else stated.value
    group, _, name = stated.setting.partition(".")
    if value is None and group == "tournament" and name in ("bandit", "delta", "tolerance"):
        value = DEFAULT if name == "bandit" else rd.bandit_from(DEFAULT, 2, seed=0).parameters.get(name)
    return value


# Python


def _python() -> Iterator[Stated]:
    for function in (rd.Tournament.create, LocalTournament.create, RemoteTournament.create, new_settings):
        yield from _parameters("tournament", function)
    yield from _fields("tournament", Settings)
    yield from (
        Stated(f"tournament.{name}", value, "DEFAULTS of rankduel.live.defaults") for name, value in _defaults()
    )
    yield from _fields("service", ServiceSettings)
    yield from _parameters("service", serve)
    yield from _parameters("client", rd.Client)
    yield from _parameters("simulation", rd.simulate)
    yield from _parameters("simulation", rd.simulate_runs)
    yield from _parameters("plan", rd.plan)
    yield from _as_of_tournament(_parameters("plan", rd.plan))
    for cls in (rd.Tournament, LocalTournament, RemoteTournament):
        yield from _parameters("duels", cls.duels)


def _defaults() -> Iterator[tuple[str, object]]:
    """Return the defaults that the service states, without the attribution, whose fields have defaults of their own."""
    return ((name, value) for name, value in DEFAULTS.items() if name != "attribution")


def _parameters(group: str, function: Callable[..., Any]) -> Iterator[Stated]:
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            yield Stated(f"{group}.{name}", parameter.default, f"{function.__module__}.{function.__qualname__}")


def _fields(group: str, cls: Any) -> Iterator[Stated]:
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            yield Stated(f"{group}.{field.name}", field.default, f"{cls.__module__}.{cls.__qualname__}")


def _as_of_tournament(stated: Iterable[Stated]) -> Iterator[Stated]:
    """`plan` forecasts a tournament, so its bandit has the defaults of a tournament."""
    for one in stated:
        group, _, name = one.setting.partition(".")
        if group == "plan" and name in ("bandit", "delta"):
            yield one._replace(setting=f"tournament.{name}")


# The command line


def _command_line() -> Iterator[Stated]:
    for parser, action in _options():
        command = parser.prog.removeprefix("rankduel ")
        help = Stated(_own(command, action), _in_help(parser, action), f"the help of rankduel {command}")
        default = help if action.default is None else help._replace(value=_plain(action), place=f"rankduel {command}")
        if not _is_computed(command, action):
            yield default
            if help.value is not None:
                yield help
            if command in GROUPS:
                group, names = GROUPS[command]
                yield default._replace(setting=f"{group}.{names.get(action.dest, action.dest)}")


def _options() -> Iterator[tuple[ArgumentParser, Action]]:
    subparsers = ArgumentParser(prog="rankduel").add_subparsers()
    for command in COMMANDS:
        command.declare(subparsers.add_parser)
    for _, parser in declared._leaves(subparsers):
        yield from ((parser, action) for action in parser._actions if action.option_strings and action.dest != "help")


def _own(command: str, action: Action) -> str:
    return f"rankduel {command} {action.option_strings[-1]}"


def _plain(action: Action) -> object:
    """Return the default of an option, or None for an option that is off or empty without it."""
    value = str(action.default) if isinstance(action.default, Path) else action.default
    return value if action.nargs == 0 or value not in ("", []) else None


def _is_computed(command: str, action: Action) -> bool:
    return action.dest in COMPUTED or f"{action.dest} of {command}" in COMPUTED


def _in_help(parser: ArgumentParser, action: Action) -> object:
    found = re.search(r"\(default: (.*)\)$", declared._filled(parser._get_formatter()._expand_help(action)))
    return _value(found[1]) if found else None


def _value(text: str) -> object:
    """Read a default from a text. None: it is described in words.

    >>> [_value(text) for text in ("`MergeDTS`", "200,000", "1e8", "86400, one day", "one per core", "off", "$HOME")]
    ['MergeDTS', 200000.0, 100000000.0, 86400.0, None, False, None]
    """
    text = text.strip().strip("`")
    if text in ("on", "off"):
        return text == "on"
    if number := re.fullmatch(r"(-?\d[\d,]*(?:\.\d+)?(?:e\d+)?)(?:, [a-z].*)?", text):
        return float(number[1].replace(",", ""))
    name = text.split(", ")[0]
    return name if re.fullmatch(r"[\w./:()-]+", name) and name not in ("none", "never", "empty", "-") else None


# HTTP and the settings file


def _http() -> Iterator[Stated]:
    api = document(ROUTES, rd.__version__)
    for name, schema in api["components"]["schemas"]["CreateTournament"]["properties"].items():
        if "default" in schema and name not in ("parameters", "attribution"):  # objects, whose fields have defaults
            yield Stated(f"tournament.{name}", schema["default"], "CreateTournament of the OpenAPI document")
    for parameter in api["paths"]["/v1/tournaments/{name}/duels"]["get"]["parameters"]:
        if "default" in parameter["schema"]:
            yield Stated(f"duels.{parameter['name']}", parameter["schema"]["default"], "the OpenAPI document")


def _settings_file() -> Iterator[Stated]:
    lines = default_config_text("sqlite:///duels.db").splitlines()
    text = "\n".join(re.sub(r"^# (?=\w+ = )", "", line) for line in lines)
    for name, value in tomllib.loads(text)["service"].items():
        yield Stated(f"service.{name}", value, "rankduel.toml")


# Tables of the documentation


def _tables() -> Iterator[Stated]:
    yield from _rows("service", "service.md", "setting")
    yield from _rows("client", "client.md", "setting")
    page = (DOCS / "cli.md").read_text()
    cells: dict[tuple[str, str], str] = {}
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        for row in re.findall(r"^\| (`-.*?) \| .* \| (.*?) \|$", section, re.MULTILINE):
            for option in re.findall(r"`(--?[a-z-]+)", row[0]):
                for command in section.partition("\n")[0].split(", "):
                    cells[command, option] = row[1]
    for parser, action in _options():
        command = parser.prog.removeprefix("rankduel ")
        cell = cells.get((command.split()[0], action.option_strings[-1]), "")
        if command in NOT_IN_TABLES:
            continue
        if not _is_computed(command, action) and (value := _value(cell)) is not None:
            yield Stated(_own(command, action), value, "docs/cli.md")


def _rows(group: str, page: str, heading: str) -> Iterator[Stated]:
    """Read a table of settings, which may have several settings in a row: `| rate, burst | 1, 2 | meaning |`."""
    table = re.search(rf"^\| {heading} \|(.*)\|\n\|[-|]+\|\n((?:\|.*\n)+)", (DOCS / page).read_text(), re.MULTILINE)
    assert table is not None, page
    column = 1 + [cell.strip() for cell in table[1].split("|")].index("default")
    for line in table[2].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = re.findall(r"`(\w+)`", cells[0])
        values = cells[column].split(", ") if len(names) > 1 else [cells[column]]
        for name, text in zip(names, values, strict=True):
            if (value := _value(text)) is not None:
                yield Stated(f"{group}.{name}", value, f"docs/{page}")
