"""`rankduel webhooks`: make a secret, and send a test message."""

import secrets
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from functools import partial

from rankduel.cli.shared.storage_option import add_config_option, load_config
from rankduel.service.webhooks.bodies import body_of, test_message
from rankduel.service.webhooks.sender import Sender
from rankduel.service.webhooks.settings import WebhookSettings, new_secret

__all__ = ["declare"]

_DESCRIPTION = """\
Make a secret for a webhook, or send a test message to the webhooks of rankduel.toml.

secret prints a new secret. Give it to the receiver, and to the service in the environment variable that secret_env
names.

test sends one message of the type tournament.test, signed as all messages are, and prints the response. It needs no
running service. The exit code is 1 if a receiver does not accept the message.
"""
_EXAMPLES = """\
examples:
  rankduel webhooks secret
  rankduel webhooks test
  rankduel webhooks test --name chat --config /etc/rankduel.toml
"""


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "webhooks",
        help="make a secret for a webhook, and send a test message",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    new = actions.add_parser("secret", help="print a new secret")
    new.set_defaults(run=_secret)
    test = actions.add_parser("test", help="send a test message and print the response")
    test.add_argument("--name", metavar="NAME", help="only the webhook with this name (default: all)")
    add_config_option(test)
    test.set_defaults(run=partial(_test, test))


def _secret(_options: Namespace) -> int:
    print(new_secret())
    return 0


def _test(parser: ArgumentParser, options: Namespace) -> int:
    hooks = load_config(parser, options).webhooks
    if not hooks:
        parser.error("no webhooks configured; add [[webhooks]] to rankduel.toml, or pass --config FILE")
    chosen = [hook for hook in hooks if options.name in (None, hook.name)]
    if not chosen:
        known = ", ".join(hook.name for hook in hooks)
        parser.error(f"unknown webhook {options.name!r} in --name; known webhooks: {known}")
    try:
        accepted = [_send(hook) for hook in chosen]
    except ValueError as error:  # a missing secret
        parser.error(str(error))
    return 0 if all(accepted) else 1


def _send(hook: WebhookSettings) -> bool:
    """Send a test message, print the response, and return whether the receiver has accepted it."""
    body = body_of(test_message(time.time()), hook.format)
    began = time.perf_counter()
    problem = Sender(hook).send(f"msg_{secrets.token_hex(16)}", body).problem
    took = 1000 * (time.perf_counter() - began)
    print(f"{hook.name}: {problem or 'accepted'} ({hook.host}, {took:.0f} ms)", flush=True)
    return problem is None
