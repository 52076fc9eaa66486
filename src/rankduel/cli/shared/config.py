"""`rankduel.toml`: where the tournaments are kept, and how the service is run."""

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from rankduel.service.settings import ServiceSettings

__all__ = ["ABOUT", "CONFIG", "Config", "commented", "read_config"]

CONFIG = Path("rankduel.toml")  # where it is looked for
ABOUT = {
    "storage": "where tournaments are kept: sqlite:///FILE, sqlite:////FULL/PATH or postgresql://...",
    "host": "the address to listen to; another one than that of this machine itself needs an API key",
    "port": "where to listen",
    "hosts": "names by which clients call the service, as a proxy passes them on, beside the address itself",
    "processes": "how many; more than one needs a PostgreSQL storage",
    "largest_body": "bytes of a request",
    "deadline": "seconds for a request",
    "rate": "requests a second of one key, or of one address where no key is needed",
    "burst": "requests at once, above that rate",
    "wrong_keys": "wrong keys a second and address that are looked at; more are refused at once",
    "wrong_keys_burst": "wrong keys at once, above that rate",
    "keys_every": "seconds after which a key that was made or revoked elsewhere is known",
    "connections": "at once",
    "connections_per_address": "at once, of one address; raise it if a proxy on another machine is in front",
    "session": "seconds that somebody who has signed in to the dashboard may stay",
    "keep_alive": "seconds that an idle connection is kept open; longer than your proxy keeps its own",
    "stop_within": "seconds that unfinished requests have after SIGTERM",
    "access_log": "a line for each request",
}


@dataclass(frozen=True)
class Config:
    """The settings of a `rankduel.toml`."""

    storage: str | None = None
    service: ServiceSettings = field(default_factory=ServiceSettings)


def read_config(path: Path) -> Config:
    """The settings of a file; ValueError if they are not right, with the place and what was expected."""
    try:
        given = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    _check_known(path, given, ("storage", "service"), "")
    service = given.get("service", {})
    if not isinstance(service, dict):
        raise ValueError(f"{path}: service must be a table, [service], got {service!r}")
    kinds = {each.name: _default(each.name) for each in fields(ServiceSettings)}
    _check_known(path, service, kinds, "service.")
    for name, value in {"storage": given.get("storage", ""), **service}.items():
        expected = _expected(kinds.get(name, ""))
        if not expected[1](value):
            raise ValueError(f"{path}: {name} must be {expected[0]}, got {value!r}")
    try:
        return Config(given.get("storage"), ServiceSettings(**service))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def commented(storage: str) -> str:
    """A `rankduel.toml` with every setting: those with a default are comments."""
    lines = [
        "# rankduel.toml: read by the commands that are run in this folder. A setting behind a # has its default.",
        "",
        f"# {ABOUT['storage']}",
        f"storage = {_toml(storage)}",
        "",
        "[service]",
    ]
    for each in fields(ServiceSettings):
        lines += [f"# {ABOUT[each.name]}", f"# {each.name} = {_toml(_default(each.name))}", ""]
    return "\n".join(lines)


def _check_known(path: Path, given: Iterable[str], known: Iterable[str], before: str) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, list(known), 1, 0.5)
            hint = f"did you mean {before}{near[0]}?" if near else f"expected some of {', '.join(known)}"
            raise ValueError(f"{path}: unknown setting {before}{name}, {hint}")


def _default(name: str) -> Any:
    (found,) = (each for each in fields(ServiceSettings) if each.name == name)
    assert found.default is not MISSING
    return found.default


def _expected(default: Any) -> tuple[str, Any]:
    """What a setting must be, in words and as a test, by its default."""
    if isinstance(default, bool):
        return "true or false", lambda value: isinstance(value, bool)
    if isinstance(default, tuple):
        return "a list of strings", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)
    if isinstance(default, str):
        return "a string", lambda value: isinstance(value, str)
    kinds = int if isinstance(default, int) else int | float
    words = "a whole number" if isinstance(default, int) else "a number"
    return words, lambda value: isinstance(value, kinds) and not isinstance(value, bool)


def _toml(value: Any) -> str:
    """A value as TOML has it.

    >>> _toml(("a", "b")), _toml(True), _toml(0.5), _toml("text")
    ('["a", "b"]', 'true', '0.5', '"text"')
    """
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
