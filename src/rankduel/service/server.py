"""Run the service: one process, or several where the storage is shared by them."""

import asyncio
import gc
import logging
import signal
import socket
import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
import uvloop
from uvicorn.supervisors import Multiprocess

from rankduel.live import storage_at
from rankduel.service.app import make_app
from rankduel.service.auth.keys import KeyRing
from rankduel.service.http.gateway import Gateway
from rankduel.service.http.limits import Connections
from rankduel.service.http.protocol import GuardedProtocol
from rankduel.service.logs import log_to_stderr
from rankduel.service.settings import ServiceSettings

__all__ = ["serve"]

_YOUNG = 20_000  # objects before the garbage collector looks: those of a batch are gone by then
_SILENT = 60  # seconds after which a process that says nothing is replaced: on a busy machine one takes long to start
_log = logging.getLogger("rankduel.service")


def serve(storage: str, host: str = "127.0.0.1", port: int = 8080, **settings: Any) -> None:
    """Serve the tournaments of a storage until SIGTERM or SIGINT; the settings are those of `ServiceSettings`.

    Requests that have come are answered before it ends, and what was acknowledged is durable at any moment. Port 0 is
    any free one; the line "listening" of the log names it.
    """
    chosen = ServiceSettings(host=host, port=port, **settings)
    if chosen.processes > 1 and storage.startswith("sqlite:"):
        raise ValueError(f"one process owns a SQLite file: processes must be 1, got {chosen.processes}")
    _prepare()
    if chosen.processes > 1:
        _serve_many(storage, chosen)
    else:
        app = make_app(storage, chosen)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve_one(app, chosen))


def _prepare() -> None:
    """Make this process one that serves."""
    log_to_stderr()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


async def _serve_one(app: Gateway, settings: ServiceSettings) -> None:
    await app.service.begin()
    try:
        bound = _bound(settings)
    except OSError:
        await app.service.end()
        raise
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # uvicorn has its own meanwhile, and raises the signal once more
    await uvicorn.Server(_config(app, settings)).serve([bound])  # at the end it tells the app to end, too
    _log.info("stopped")


def _serve_many(storage: str, settings: ServiceSettings) -> None:
    shared = storage_at(storage)
    try:
        settings.check(KeyRing.of(shared))
    finally:
        shared.close()
    Multiprocess(_config(_App(storage, settings), settings), sockets=[_bound(settings)]).run()


@dataclass(frozen=True)
class _App:
    """The app, made in the process that serves it."""

    storage: str
    settings: ServiceSettings

    def __call__(self) -> Gateway:
        _prepare()
        return make_app(self.storage, self.settings)


def _bound(settings: ServiceSettings) -> socket.socket:
    """A socket that listens, known by the log."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        bound = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        raise OSError(error.errno, f"cannot listen to {settings.host}:{settings.port}: {error.strerror}") from None
    bound.set_inheritable(True)
    _log.info("listening", extra={"host": settings.host, "port": bound.getsockname()[1]})
    return bound


def _config(app: Any, settings: ServiceSettings) -> uvicorn.Config:
    connections = Connections(settings.connections, settings.connections_per_address)
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
        timeout_worker_healthcheck=_SILENT,
        timeout_keep_alive=round(settings.keep_alive),
        timeout_graceful_shutdown=round(settings.stop_within),
    )
