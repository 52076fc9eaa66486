"""Name options in error messages: `--exist-ok` where Python code says `exist_ok=True`."""

import re
from argparse import ArgumentParser, Namespace

__all__ = ["name_options"]

_ARGUMENTS = {"n_rankers": "rankers", "daily_duels": "daily"}  # Python arguments with another name than the option
_QUOTED = r"\([^()]*\)|'[^']*'|\"[^\"]*\""  # names, and options of bandits and problems: left unchanged
_REFUSALS = {  # of a service: the command line takes the key from the environment
    r"[^:;.]*Authorization: Bearer rd_\.\.\.`?": " set the environment variable RANKDUEL_KEY to an API key",
    r"\b(the|this) (API )?key\b(?! in )": "the API key in RANKDUEL_KEY",
    r"\bneeds the scope (\w+)": r"needs an API key with the scope \1 in RANKDUEL_KEY",
}


def name_options(message: str, parser: ArgumentParser, given: Namespace) -> str:
    """Replace the names of Python arguments in an error message by the options of a command.

    A short name such as `delta` may also be a parameter of a bandit, or a setting of `rankduel.toml`. It is replaced
    only if the message shows the value that the option has.

    >>> parser = ArgumentParser()
    >>> _ = parser.add_argument("--share", type=float), parser.add_argument("--exist-ok", action="store_true")
    >>> given = parser.parse_args(["--share", "2"])
    >>> name_options("share must be a number from 0 to 1, got 2.0", parser, given)
    '--share must be a number from 0 to 1, got 2.0'
    >>> name_options("'home' exists: open it, or create it with exist_ok=True", parser, given)
    "'home' exists: open it, or create it with --exist-ok"
    """
    options = {
        action.dest: option
        for action in parser._actions
        for option in action.option_strings
        if not option.startswith("--no-")
    }
    flags = {action.dest for action in parser._actions if action.option_strings and action.nargs == 0}
    names = {name: name for name in options} | {name: dest for name, dest in _ARGUMENTS.items() if dest in options}
    for name, dest in names.items():
        word = rf"(?<![\w.-])({name})"
        if dest in flags:
            message = _replace_unquoted(rf"{word}=True\b", options[dest], message)
        else:
            message = _replace_unquoted(rf"{word}=(?=['\"\d-])", f"{options[dest]} ", message)
        if "_" in name:
            message = _replace_unquoted(rf"{word}(?![\w=])", options[dest], message)
        elif (found := re.search(rf"(?:^|: ){word} must be\b.*?, got (.*)", message)) and _shows(
            found[2], getattr(given, dest, None)
        ):
            message = message[: found.start(1)] + options[dest] + message[found.end(1) :]
    if message.startswith(("http://", "https://")):
        for pattern, replacement in _REFUSALS.items():
            message = re.sub(pattern, replacement, message)
    return message


def _replace_unquoted(pattern: str, replacement: str, message: str) -> str:
    """Replace a pattern with one group, except in quotes and parentheses.

    >>> _replace_unquoted("(seed)=", "--seed ", "Geometric(seed=1) needs seed=2")
    'Geometric(seed=1) needs --seed 2'
    """
    return re.sub(f"{_QUOTED}|{pattern}", lambda found: replacement if found[1] else found[0], message)


def _shows(text: str, value: object) -> bool:
    """Whether a text begins with a value, which may be cut off by dots.

    >>> _shows("2.0, as above", 2.0), _shows("'very long...", "very long name"), _shows("3", 30), _shows("1", None)
    (True, True, False, False)
    """
    shown = re.match(r"'[^']*'|'[^']*(?=\.\.\.$)|[^\s,;:]+", text)
    values = value if isinstance(value, list) else [value]
    return shown is not None and any(
        shown[0] in (repr(one), str(one)) or (text.endswith("...") and repr(one).startswith(shown[0])) for one in values
    )
