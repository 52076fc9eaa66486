"""Run the service in one process, or in several processes that share a PostgreSQL storage."""

import asyncio
import gc
import logging
import signal
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
import uvloop
from uvicorn.supervisors import Multiprocess

from rankduel.live import storage_at
from rankduel.service.app import make_app
from rankduel.service.auth.keys import ApiKeys
from rankduel.service.http.connection_limits import Connections
from rankduel.service.http.gateway import Gateway
from rankduel.service.http.protocol import GuardedProtocol
from rankduel.service.logs import log_to_stderr
from rankduel.service.proxies import TrustedProxies
from rankduel.service.settings import ServiceSettings
from rankduel.service.webhooks.settings import WebhookSettings

__all__ = ["serve"]

_GC_THRESHOLD_OBJECTS = 20_000  # allocations between two garbage collections: the objects of a batch are freed by then
_WORKER_SILENCE_SECONDS = 60  # a silent process is replaced after this time: on a busy machine, startup is slow
_BACKLOG_CONNECTIONS = 2048
_log = logging.getLogger("rankduel.service")


def serve(
    storage: str,
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    create: bool = False,
    webhooks: Sequence[WebhookSettings] = (),
    **settings: Any,
) -> None:
    """Serve the tournaments of a storage until SIGTERM or SIGINT. `settings` are the fields of `ServiceSettings`.

    A storage that does not exist is an error, unless you pass `create=True`. A new storage has no API key.

    The server answers all requests that have arrived before it stops. Port 0 picks a free port, and the log record
    "listening" contains it.
    """
    chosen = ServiceSettings(host=host, port=port, **settings)
    if chosen.processes > 1 and storage.startswith("sqlite:"):
        raise ValueError(
            f"processes must be 1, got {chosen.processes}: one process owns a SQLite file; use PostgreSQL for more"
        )
    for hook in webhooks:
        hook.secret()  # raises ValueError if it is missing
    _prepare()
    if chosen.processes > 1:
        _serve_many(storage, chosen, create=create, webhooks=webhooks)
    else:
        app = make_app(storage, chosen, create=create, webhooks=webhooks)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve_one(app, chosen))


def _prepare() -> None:
    """Configure logging and garbage collection of a serving process."""
    log_to_stderr()
    gc.set_threshold(_GC_THRESHOLD_OBJECTS, *gc.get_threshold()[1:])


async def _serve_one(app: Gateway, settings: ServiceSettings) -> None:
    await app.service.start()
    try:
        sockets = [*map(partial(_listen_on, settings.host), settings.metrics_ports), _listen(settings)]
    except OSError:
        await app.service.stop()
        raise
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # uvicorn replaces it while it runs, and raises the signal again
    await uvicorn.Server(_config(app, settings)).serve(sockets)  # on exit, the lifespan stops the service
    _log.info("stopped")


def _serve_many(storage: str, settings: ServiceSettings, *, create: bool, webhooks: Sequence[WebhookSettings]) -> None:
    shared = storage_at(storage, create=create)
    try:
        settings.check(ApiKeys.load(shared))
    finally:
        shared.close()
    for port in settings.metrics_ports:
        _listen_on(settings.host, port).close()  # raises OSError if the port is taken
    sockets: list[Any] = [_OwnSocket(settings)] if settings.metrics_ports else []
    sockets.append(_listen(settings))
    Multiprocess(_config(_App(storage, settings, tuple(webhooks)), settings), sockets=sockets).run()


@dataclass(frozen=True)
class _App:
    """App factory: creates the app in the process that serves it."""

    storage: str
    settings: ServiceSettings
    webhooks: tuple[WebhookSettings, ...]

    def __call__(self) -> Gateway:
        _prepare()
        return make_app(self.storage, self.settings, webhooks=self.webhooks)


@dataclass(frozen=True)
class _OwnSocket:
    """Becomes a socket in each process that it is sent to: it listens on the first of `metrics_ports` that is free."""

    settings: ServiceSettings

    def __reduce__(self) -> tuple[Any, ...]:
        return _listen_alone, (self.settings,)


def _listen_alone(settings: ServiceSettings) -> socket.socket:
    """Return a socket that listens on the first free port of `metrics_ports`."""
    for port in settings.metrics_ports:
        with suppress(OSError):
            return _listen_on(settings.host, port)
    log_to_stderr()
    ports = f"{settings.metrics_ports.start} to {settings.metrics_ports.stop - 1}"
    _log.error("no metrics of this process: all ports from %s are in use by other programs", ports)
    return _listen_on(settings.host, 0)  # users matter more than metrics


def _listen(settings: ServiceSettings) -> socket.socket:
    """Return a listening socket that child processes inherit, and log its port."""
    listening = _listen_on(settings.host, settings.port)
    listening.set_inheritable(True)
    _log.info("listening", extra={"host": settings.host, "port": listening.getsockname()[1]})
    return listening


def _listen_on(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG_CONNECTIONS)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from None


def _config(app: Any, settings: ServiceSettings) -> uvicorn.Config:
    proxies = TrustedProxies(settings.trusted_proxies)
    connections = Connections(settings.connections, settings.connections_per_address, proxies)
    return uvicorn.Config(
        app,
        factory=isinstance(app, _App),
        workers=settings.processes,
        http=partial(GuardedProtocol, connections=connections),  # type: ignore[arg-type]  # called, never inspected
        ws="none",
        loop="uvloop",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_worker_healthcheck=_WORKER_SILENCE_SECONDS,
        timeout_keep_alive=round(settings.keep_alive),
        timeout_graceful_shutdown=round(settings.stop_within),
    )
