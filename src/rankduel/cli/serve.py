"""`rankduel serve`: the HTTP service."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.storage_option import add_storage_options, is_service, load_config

__all__ = ["declare"]

_DESCRIPTION = """\
Serve the tournaments of a storage over HTTP, until SIGTERM or Ctrl-C. What was acknowledged is durable at any moment.

On the address of this machine itself (127.0.0.1, the default) no key is needed until one is made. Another address is
refused without an API key: make one by `rankduel init` or `rankduel keys create`. Options come before the settings of
rankduel.toml. docs/operations.md tells how to run it behind a proxy.
"""
_EXAMPLES = """\
examples:
  rankduel serve --storage sqlite:///duels.db
  rankduel serve --config /etc/rankduel.toml --host 10.0.0.5 --port 8080
  rankduel serve --storage postgresql://duels@db/duels --processes 4
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "serve",
        help="serve the tournaments of a storage over HTTP",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_storage_options(parser, services=False)
    parser.add_argument("--host", metavar="ADDRESS", help="the address to listen to (default: 127.0.0.1)")
    parser.add_argument("--port", type=whole(0), metavar="N", help="where to listen; 0 is any free one (default: 8080)")
    parser.add_argument("--processes", type=whole(1), metavar="N", help="how many; more than one needs PostgreSQL")
    parser.set_defaults(run=partial(_serve, parser))


def _serve(parser: ArgumentParser, options: Namespace) -> int:
    try:
        from rankduel.service import serve  # noqa: PLC0415 - not of the core
    except ModuleNotFoundError as error:
        parser.error(f"no module {error.name!r}: the service needs the extra `server`, pip install 'rankduel[server]'")
    config = load_config(parser, options)
    storage = options.storage or config.storage
    if storage is None:
        parser.error("which storage? --storage URL, or a rankduel.toml (rankduel init makes one)")
    if is_service(storage):
        parser.error(f"{storage} is a service already: a service needs a storage, as sqlite:///duels.db")
    given = {name: value for name in ("host", "port", "processes") if (value := getattr(options, name)) is not None}
    try:
        serve(storage, **asdict(config.service) | given)
    except (ValueError, ImportError) as error:  # ImportError: an extra is not installed
        parser.error(str(error))
    return 0
