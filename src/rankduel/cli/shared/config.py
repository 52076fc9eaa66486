"""`rankduel.toml`: read, check and write the settings of storage and service."""

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from rankduel.service.settings import ServiceSettings
from rankduel.service.webhooks.settings import WebhookSettings, webhooks_from

__all__ = ["SETTING_HELP", "CONFIG", "Config", "default_config_text", "read_config"]

CONFIG = Path("rankduel.toml")  # looked up in the working directory
SETTING_HELP = {
    "storage": "where tournaments are kept: sqlite:///FILE, sqlite:////FULL/PATH or postgresql://...",
    "host": "the address to listen on; any address other than loopback needs an API key",
    "port": "the port to listen on",
    "hosts": "host names that clients use, in addition to the address itself",
    "trusted_proxies": "addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
    "processes": "server processes; more than one needs a PostgreSQL storage",
    "metrics_port": "each process listens on a port of its own, from this one on, for Prometheus; 0: none",
    "largest_body": "maximum size of a request body, in bytes",
    "deadline": "timeout of a request, in seconds",
    "rate": "requests per second and key, or per address where no key is needed",
    "burst": "requests above that rate that are allowed at once",
    "wrong_keys": "wrong keys per second and address that are checked; more are refused at once",
    "wrong_keys_burst": "wrong keys above that rate that are checked at once",
    "keys_every": "seconds between two reads of the stored keys: a new or revoked key takes effect after that",
    "connections": "maximum number of open connections",
    "connections_per_address": "open connections per address; loopback and trusted proxies have no such limit",
    "session": "lifetime of a dashboard session, in seconds",
    "keep_alive": "seconds that an idle connection stays open; must exceed the keep-alive timeout of your proxy",
    "stop_within": "seconds for unfinished requests after SIGTERM",
    "retention_days": "remove pages, signals and client hashes of duels older than this many days; 0 keeps them",
    "retention_query_ids": "remove query ids of these duels, too: a query that is asked again then gets a new duel",
    "access_log": "log a line for each request",
    "public_url": "URL of the dashboard for links in webhooks, such as https://duels.example",
}


@dataclass(frozen=True)
class Config:
    """The settings of a `rankduel.toml`."""

    storage: str | None = None
    service: ServiceSettings = field(default_factory=ServiceSettings)
    webhooks: tuple[WebhookSettings, ...] = ()


def read_config(path: Path) -> Config:
    """Read a settings file; a ValueError names the file, the setting, its value and the expected values."""
    try:
        given = tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    _check_known(path, given, ("storage", "service", "webhooks"), "")
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
        return Config(given.get("storage"), ServiceSettings(**service), webhooks_from(given.get("webhooks", [])))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def default_config_text(storage: str) -> str:
    """The text of a new `rankduel.toml` with every setting. Settings that have a default are commented out."""
    lines = [
        "# rankduel.toml: settings of the commands that you run in this folder. Commented settings show defaults.",
        "",
        f"# {SETTING_HELP['storage']}",
        f"storage = {_toml(storage)}",
        "",
        "[service]",
    ]
    for each in fields(ServiceSettings):
        lines += [f"# {SETTING_HELP[each.name]}", f"# {each.name} = {_toml(_default(each.name))}", ""]
    lines += ["# To send decisions, pauses and failures to other systems, add [[webhooks]]: see docs/webhooks.md", ""]
    return "\n".join(lines)


def _check_known(path: Path, given: Iterable[str], known: Iterable[str], before: str) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, list(known), 1, 0.5)
            hint = f"did you mean {before}{near[0]}?" if near else f"expected {', '.join(known)}"
            raise ValueError(f"{path}: unknown setting {before}{name}; {hint}")


def _default(name: str) -> Any:
    (found,) = (each for each in fields(ServiceSettings) if each.name == name)
    assert found.default is not MISSING
    return found.default


def _expected(default: Any) -> tuple[str, Any]:
    """The expected type of a setting, in words and as a test, by its default."""
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
    """Format a value as TOML.

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
