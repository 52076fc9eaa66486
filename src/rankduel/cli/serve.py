"""`rankduel serve`: run the HTTP service."""

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from rankduel.cli.shared.numbers import whole
from rankduel.cli.shared.storage_option import add_storage_options, is_service, load_config

__all__ = ["declare"]

_DESCRIPTION = """\
Serve the tournaments of a storage over HTTP, until SIGTERM or Ctrl-C. Everything acknowledged is durable. The storage
must exist: `rankduel init` creates one with an admin key, --create one without keys.

On the loopback address (127.0.0.1, the default), requests need no API key until you create one. To listen on any other
address, create a key first, with `rankduel init` or `rankduel keys create`. Options override the settings of
rankduel.toml. docs/operations.md explains how to run the service behind a proxy.
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
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument(
        "--port", type=whole(0), metavar="N", help="port to listen on; 0 chooses a free port (default: 8080)"
    )
    parser.add_argument(
        "--processes",
        type=whole(1),
        metavar="N",
        help="number of server processes; more than one needs PostgreSQL (default: 1)",
    )
    parser.add_argument(
        "--create", action="store_true", help="create the storage if it does not exist; it then has no API key"
    )
    parser.set_defaults(run=partial(_serve, parser))


def _serve(parser: ArgumentParser, options: Namespace) -> int:
    try:
        from rankduel.service import serve  # noqa: PLC0415 - needs the extra `server`
    except ModuleNotFoundError as error:
        parser.error(f"no module {error.name!r}; the service needs the extra `server`: pip install 'rankduel[server]'")
    config = load_config(parser, options)
    storage = options.storage or config.storage
    if storage is None:
        parser.error("no storage given; pass --storage URL, or create a rankduel.toml with rankduel init")
    if is_service(storage):
        parser.error(f"--storage must be a storage such as sqlite:///duels.db, got the service {storage}")
    given = {name: value for name in ("host", "port", "processes") if (value := getattr(options, name)) is not None}
    try:
        serve(storage, create=options.create, webhooks=config.webhooks, **asdict(config.service) | given)
    except (ValueError, ImportError) as error:  # ImportError: a missing extra
        parser.error(str(error))
    return 0
