"""The reference pages that are made from the program: of its commands, its HTTP calls, and all that goes by a name."""

import inspect
import json
import re
import textwrap
from argparse import SUPPRESS, Action, ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import rankduel as rd
from rankduel.cli import COMMANDS
from rankduel.clicks import CLICKS
from rankduel.interleaving import INTERLEAVINGS, MULTILEAVINGS
from rankduel.preferences.problems import PROBLEMS
from rankduel.service.app import ROUTES
from rankduel.service.http.openapi import document
from rankduel.simulation.delays import LAWS

__all__ = ["commands", "http", "names"]

NOTICE = "<!-- Made by docs/generate.py from the program. Change that, then run: make docs -->"
GROUPS = {
    "ask": "Traffic",
    "tell": "Traffic",
    "ingest": "Traffic",
    "admin": "Admin",
    "read": "Read",
    None: "No key needed",
}


class UndocumentedError(ValueError):
    """Something of the program that says nothing of itself."""


# Commands


def commands() -> str:
    """The page of all commands and options, as the program declares them."""
    parser = ArgumentParser(prog="rankduel")
    subparsers = parser.add_subparsers(required=True)
    for command in COMMANDS:
        command.declare(subparsers.add_parser)
    parts = [
        "# All commands and options",
        NOTICE,
        "What `rankduel COMMAND --help` says, for every command. [The command line](cli.md) explains more.",
    ]
    for about, leaf in _leaves(subparsers):
        parts += _command(about, leaf)
    return "\n\n".join(parts) + "\n"


def _leaves(subparsers: "_SubParsersAction[ArgumentParser]") -> Iterator[tuple[str, ArgumentParser]]:
    """Each command, and each action of one, with the line that lists it."""
    lines = {choice.dest: choice.help or "" for choice in subparsers._choices_actions}
    for name, parser in subparsers.choices.items():
        yield lines[name], parser
        for action in parser._actions:
            if isinstance(action, _SubParsersAction):
                yield from _leaves(action)


def _command(about: str, parser: ArgumentParser) -> list[str]:
    if not about:
        raise UndocumentedError(f"{parser.prog}: no help")
    options = [action for action in parser._actions if action.help != SUPPRESS and not _is_help(action)]
    level = "##" if parser.prog.count(" ") == 1 else "###"
    parts = [f"{level} {parser.prog}"]
    text = parser.description or f"{about[0].upper()}{about[1:]}."
    parts += [_escaped(_filled(paragraph)) for paragraph in text.strip().split("\n\n")]
    if any(isinstance(action, _SubParsersAction) for action in options):
        return parts
    usage = re.sub(r"\s+", " ", parser.format_usage().removeprefix("usage: ").replace("[-h] ", "")).strip()
    wrapped = textwrap.fill(usage, 84, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    parts.append(f"```text\n{wrapped}\n```")
    if options:
        rows = [f"| {_option(action)} | {_escaped(_help(parser, action))} |" for action in options]
        parts.append("\n".join(["| option | what |", "|---|---|", *rows]))
    if parser.epilog:
        lines = [line.strip() for line in parser.epilog.splitlines() if line.strip() and line.strip() != "examples:"]
        parts.append("\n".join(["```text", *lines, "```"]))
    return parts


def _is_help(action: Action) -> bool:
    return "--help" in action.option_strings


def _option(action: Action) -> str:
    """An option as it is typed: `--runs N`, or `PROBLEM`."""
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        shown = action.metavar or (
            f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()
        )
        value = f" {shown if isinstance(shown, str) else ' '.join(shown)}"
    return ", ".join(f"`{name}{value}`" for name in action.option_strings)


def _help(parser: ArgumentParser, action: Action) -> str:
    if not action.help:
        raise UndocumentedError(f"{parser.prog}: {_option(action)} has no help")
    choices = f" ({', '.join(map(str, action.choices))})" if action.choices and action.metavar else ""
    return _filled(parser._get_formatter()._expand_help(action)) + choices


# HTTP


def http() -> str:
    """The page of all HTTP calls, bodies and problems, from the OpenAPI document."""
    api = document(ROUTES, rd.__version__)
    calls = [
        (method.upper(), path, operation)
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    ]
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {name: [] for name in dict.fromkeys(GROUPS.values())}
    for call in calls:
        groups[GROUPS[_scope(call[2])]].append(call)
    parts = [
        "# All HTTP calls",
        NOTICE,
        "This page is generated from the OpenAPI 3.1 document that your server returns at `/v1/openapi.json`. "
        "[The HTTP service](service.md) shows how to use the calls and explains their guarantees. Send your API key as "
        "`Authorization: Bearer rd_...`. The key needs the scope of the call. Until you create the first key, you need "
        "no key on the machine of the server. Percent-encode names in a path.",
    ]
    for group, members in groups.items():
        parts.append(f"## {group}")
        for method, path, operation in members:
            parts += _call(method, path, operation)
    parts += ["## Bodies", "All fields of requests and responses. Requests with unknown fields are refused."]
    for name, schema in sorted(api["components"]["schemas"].items()):
        parts += [f"### {name}", *_schema(schema)]
    parts += ["## Types of problems", *_problems(calls)]
    return "\n\n".join(parts) + "\n"


def _scope(operation: Mapping[str, Any]) -> str | None:
    return operation["security"][0]["key"][0] if operation["security"] else None


def _call(method: str, path: str, operation: Mapping[str, Any]) -> list[str]:
    if not operation["summary"]:
        raise UndocumentedError(f"{method} {path}: no summary")
    scope = _scope(operation)
    parts = [f"### `{method} {path}`", _escaped(operation["summary"]) + (f" Scope: `{scope}`." if scope else "")]
    lines = [
        f"- `?{each['name']}=`, {_kind(each['schema'])}: {_escaped(each['description'])}"
        for each in operation["parameters"]
        if each["in"] == "query"
    ]
    if body := operation.get("requestBody"):
        kinds = dict.fromkeys(_kind(content["schema"]) for content in body["content"].values())
        media = "" if list(body["content"]) == ["application/json"] else f", as {_listed(body['content'])}"
        lines.append(f"- {'Request' if body['required'] else 'Optional request'} body: {', or '.join(kinds)}{media}")
    for status, answer in operation["responses"].items():
        for media, content in answer.get("content", {}).items():
            if media != "application/problem+json":
                lines.append(f"- Response: {status}, {_kind(content['schema'])}")
    return [*parts, "\n".join(lines)]


def _schema(schema: Mapping[str, Any]) -> list[str]:
    parts = [_escaped(inspect.cleandoc(schema["description"]))] if schema.get("description") else []
    fields = schema.get("properties", {})
    if not fields:
        return [*parts, _kind(schema)]
    rows = []
    for name, field in fields.items():
        default = f"`{json.dumps(field['default'])}`" if "default" in field else "no"
        about = f": {_escaped(field['description'])}" if "description" in field else ""
        rows.append(
            f"| `{name}` | {_kind(field)}{about} | {'yes' if name in schema.get('required', ()) else default} |"
        )
    return [*parts, "\n".join(["| field | type | required, or default |", "|---|---|---|", *rows])]


def _kind(schema: Mapping[str, Any]) -> str:
    """The type of a value in words.

    >>> _kind({"anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}]})
    'integer (1 to 9) or null'
    >>> _kind({"type": "array", "items": {"$ref": "#/components/schemas/DuelOut"}, "maxItems": 1000})
    'list (up to 1,000) of [DuelOut](#duelout)'
    """
    match schema:
        case {"$ref": ref}:
            name = ref.rpartition("/")[2]
            words = f"[{name}](#{name.lower()})"
        case {"anyOf": several} | {"oneOf": several}:
            words = " or ".join(
                map(_kind, sorted(several, key=lambda one: "items" in one))
            )  # lists last: "or" is clear
        case {"enum": values}:
            words = " or ".join(f"`{json.dumps(value)}`" for value in values)
        case {"type": "array", "items": items}:
            words = (
                "list" + (f" (up to {schema['maxItems']:,})" if "maxItems" in schema else "") + f" of {_kind(items)}"
            )
        case {"type": "string", "maxLength": most}:
            words = f"string (up to {most:,} characters)"
        case {"type": list(kinds)}:
            words = " or ".join(kinds)
        case _:
            words = schema.get("type", "anything") + _bounds(schema)
    return words


def _bounds(schema: Mapping[str, Any]) -> str:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None or high is None or high >= 2**53:
        return ""
    above, below = "above " * ("exclusiveMinimum" in schema), "below " * ("exclusiveMaximum" in schema)
    return f" ({above}{low:,} to {below}{high:,.10g})"


def _problems(calls: Sequence[tuple[str, str, Mapping[str, Any]]]) -> list[str]:
    """Every type of problem, with the status it comes with and the calls that have it, if not nearly all."""
    seen: dict[tuple[str, str], list[str]] = {}
    for method, path, operation in calls:
        for status, answer in operation["responses"].items():
            if "application/problem+json" in answer.get("content", {}):
                for kind in answer["description"].split(", "):
                    seen.setdefault((status, kind), []).append(f"`{method} {path}`")
    rows = [
        f"| `{kind}` | {status} | {', '.join(where) if len(where) <= 3 else f'{len(where)} of {len(calls)} calls'} |"
        for (status, kind), where in sorted(seen.items())
    ]
    return ["\n".join(["| type | status | where |", "|---|---|---|", *rows])]


# Names


def names() -> str:
    """The page of all that is known by a name: on the command line, in specs and in settings."""
    parts = [
        "# All names",
        NOTICE,
        "What can be named on the command line, in experiments and in the settings of a tournament, with its options "
        'and their defaults: `--bandit "RUCB(alpha=0.6)"`, `interleaving="probabilistic(tau=1)"`. Options without a '
        "value must be given.",
        "## Bandits",
        f"{_listed({**rd.REGISTRY, **rd.MULTI_REGISTRY})}: each has [a page](bandits/README.md).",
    ]
    for title, page, registry in (
        ("Problems", "tutorial.md#a-problem", PROBLEMS),
        ("Interleaving methods", "interleaving.md", INTERLEAVINGS),
        ("Multileaving methods", "multileaving.md", MULTILEAVINGS),
        ("Simulated users", "clicks.md", CLICKS),
        ("Delays", "late.md#how-late", LAWS),
    ):
        rows = [
            f"| `{_signature(name, made)}` | {_escaped(_first_line(name, made))} |" for name, made in registry.items()
        ]
        parts += [f"## {title}", "\n".join(["| name | what |", "|---|---|", *rows]), f"[More]({page})"]
    return "\n\n".join(parts) + "\n"


def _signature(name: str, made: Callable[..., Any]) -> str:
    try:
        parameters = inspect.signature(made).parameters.values()
    except ValueError:  # compiled without one
        return name
    options = [
        each.name if each.default is each.empty else f"{each.name}={_short(each.default)}"
        for each in parameters
        if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    return f"{name}({', '.join(options)})" if options else name


def _first_line(name: str, made: Callable[..., Any]) -> str:
    if not made.__doc__:
        raise UndocumentedError(f"{name}: no docstring")
    return _filled(inspect.cleandoc(made.__doc__).split("\n\n")[0])


# Text


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _filled(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str) -> str:
    """Plain text as Markdown: outside of `code`, a star, a bracket or a bar is only itself."""
    return "`".join(
        re.sub(r"([*<|\[_])", r"\\\1", part) if number % 2 == 0 else part for number, part in enumerate(text.split("`"))
    )
