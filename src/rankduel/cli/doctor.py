"""`rankduel doctor`: check versions, settings, storage, disk and clock of a service."""

import ctypes
import os
import platform
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from http.client import HTTPException
from importlib import metadata
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import numpy as np

import rankduel
from rankduel.cli.shared.config import CONFIG, Config, read_config
from rankduel.cli.shared.findings import print_findings
from rankduel.cli.shared.storage_option import add_storage_options, is_service
from rankduel.client import names_at
from rankduel.errors import StorageError
from rankduel.live import Storage, storage_at
from rankduel.live.admin.findings import Finding
from rankduel.live.storage.sql import SqlStorage
from rankduel.live.storage.sqlite import SqliteStorage

__all__ = ["declare"]

_DESCRIPTION = """\
Check versions, settings, storage, disk and clock. Each line is marked ok, warning or error, and says how to fix a
problem. The exit code is 1 if there is an error. You can check a storage while it is in use. To check the data in it,
run `rankduel storage verify`.
"""
_SERVER_PACKAGES = ("msgspec", "starlette", "uvicorn")  # of the extra `server`
_LOW_DISK_BYTES, _FULL_DISK_BYTES = 2e9, 2e8  # free space below these is a warning, an error
_SLOW_SYNC_SECONDS = 0.05
_LARGE_WAL_BYTES = 1e9
_NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs", "lustre")
_CLOCK_UNSYNCED = 5  # adjtimex(2): TIME_ERROR
_READY_TIMEOUT_SECONDS, _READY_BYTES = 10.0, 1_000


def declare(add_parser: Callable[..., ArgumentParser]) -> None:
    """Add the command and its options."""
    parser = add_parser(
        "doctor",
        help="check versions, settings, storage, disk and clock",
        description=_DESCRIPTION,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_storage_options(parser)
    parser.set_defaults(run=partial(_doctor, parser))


def _doctor(_parser: ArgumentParser, options: Namespace) -> int:
    return print_findings(_examine(options))


def _examine(options: Namespace) -> Iterator[Finding]:
    yield from _versions()
    config = Config()
    path = options.config or CONFIG
    if options.config is not None or path.exists():
        try:
            config = read_config(path)
        except (ValueError, OSError) as error:
            yield Finding("error", "settings", str(error))
            return
        yield Finding("ok", "settings", f"{path} is valid")
        yield from _webhooks(config)
    url = options.storage or config.storage
    if url is None:
        yield Finding(
            "error", "storage", f"no storage given; pass --storage URL, or create a {CONFIG} with rankduel init"
        )
    elif is_service(url):
        yield _service(url)
        yield _readiness(url)
    else:
        yield from _storage(url, config)
    yield _clock()


def _versions() -> Iterator[Finding]:
    main = f"rankduel {rankduel.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    yield Finding("ok", "versions", f"{main}, SQLite {sqlite3.sqlite_version}")
    absent = [package for package in _SERVER_PACKAGES if not _installed(package)]
    if absent:
        yield Finding(
            "warning",
            "service",
            f"{', '.join(absent)} not installed; to run the service, pip install 'rankduel[server]'",
        )
    else:
        yield Finding(
            "ok", "service", ", ".join(f"{package} {metadata.version(package)}" for package in _SERVER_PACKAGES)
        )


def _webhooks(config: Config) -> Iterator[Finding]:
    for hook in config.webhooks:
        try:
            signed = hook.secret() is not None
        except ValueError as error:
            yield Finding("error", "webhooks", str(error))
            continue
        text = f"{hook.name} sends {', '.join(hook.kinds)} to {hook.host}, {'signed' if signed else 'not signed'}"
        if hook.allow_http and hook.url.startswith("http:"):
            yield Finding("warning", "webhooks", f"{text}, without TLS: others on the network can read the messages")
        else:
            yield Finding("ok", "webhooks", f"{text}. To try it, run rankduel webhooks test")


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _service(url: str) -> Finding:
    began = time.perf_counter()
    try:
        names = names_at(url)
    except (StorageError, ValueError) as error:
        return Finding(
            "error", "service", f"{error}. Check that it is running, and that RANKDUEL_KEY is a key with the scope read"
        )
    took = 1000 * (time.perf_counter() - began)
    return Finding("ok", "service", f"{url} has {len(names)} tournaments, answered in {took:.0f} ms")


def _readiness(url: str) -> Finding:
    """Report what /readyz says: whether the storage can be read and written, and whether the clock jumped."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"{url.rstrip('/')}/readyz", timeout=_READY_TIMEOUT_SECONDS) as answer:
            said = answer.read(_READY_BYTES).decode(errors="replace").strip()
    except HTTPError as error:
        with error:
            said = error.read(_READY_BYTES).decode(errors="replace").strip()
        return Finding("error", "service", f"not ready: {said}; see its log")
    except (OSError, HTTPException, ValueError) as error:
        return Finding("error", "service", f"/readyz does not answer: {error}")
    if said != "ok":
        return Finding("warning", "service", f"{said}; see its log")
    return Finding("ok", "service", "ready: the storage can be read and written")


def _storage(url: str, config: Config) -> Iterator[Finding]:
    try:
        storage = storage_at(url, own=False)
    except (StorageError, ValueError, ImportError) as error:
        yield Finding("error", "storage", f"{error}. If the storage is damaged, restore a backup")
        return
    with closing(storage):
        try:
            yield from _tables(storage, config)
        except StorageError as error:
            yield Finding("error", "storage", f"{error}. For details, run rankduel storage verify")
        if isinstance(storage, SqliteStorage):
            yield from _file(storage)
            yield from _disk(storage.path.parent)
        elif isinstance(storage, SqlStorage):
            yield _checksums(storage)
            yield from _writable(storage)


def _tables(storage: Storage, config: Config) -> Iterator[Finding]:
    names = storage.names()
    yield Finding("ok", "storage", f"{storage.url} has {len(names)} tournaments: {', '.join(names) or 'none yet'}")
    yield _keys(storage, config)
    yield from _times(storage, names)


def _checksums(storage: SqlStorage) -> Finding:
    ((setting,),) = storage.select("SELECT current_setting('data_checksums')")
    if setting == "on":
        return Finding("ok", "disk", "PostgreSQL has data checksums")
    text = "PostgreSQL has no data checksums, so disk damage may go unnoticed. Stop it, then run pg_checksums --enable"
    return Finding("warning", "disk", text)


def _writable(storage: SqlStorage) -> Iterator[Finding]:
    try:
        storage.check_writable()
    except StorageError as error:
        yield Finding("error", "storage", f"{error}. Tells are refused until it can be written")


def _keys(storage: Storage, config: Config) -> Finding:
    made = storage.keys()
    valid = sum(key.revoked is None for key in made)
    if valid:
        return Finding("ok", "keys", f"{valid} valid")
    if config.service.loopback:
        return Finding("ok", "keys", "no API keys; every process on this machine has full access")
    return Finding(
        "error", "keys", f"no API keys, so the service cannot listen on {config.service.host}; run rankduel keys create"
    )


def _times(storage: Storage, names: list[str]) -> Iterator[Finding]:
    """Find duels in the future. Times in a journal never decrease, so tournaments stall if the clock was set back."""
    for name in names:
        latest = max((row.issued for row in storage.duels(name, 1)), default=0.0)
        ahead = latest - time.time()
        if ahead > 1:
            yield Finding(
                "warning", "clock", f"the last duel of {name!r} is {ahead:.0f} s in the future; set the clock"
            )


def _file(storage: SqliteStorage) -> Iterator[Finding]:
    path = storage.path
    ((mode,),) = storage.select("PRAGMA journal_mode")
    if mode != "wal":
        yield Finding(
            "error",
            "storage",
            f"the journal mode must be wal, got {mode}; another program changed it, set it back",
        )
    rights = path.stat().st_mode & 0o777
    if rights & 0o077:
        yield Finding("warning", "storage", f"other users can read {path} and the secrets in it; run chmod 600 {path}")
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        yield Finding("error", "storage", f"this user cannot write {path} or its folder; change their permissions")
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > _LARGE_WAL_BYTES:
        size = log.stat().st_size / 1e9
        yield Finding(
            "warning",
            "storage",
            f"the write-ahead log has {size:.1f} GB; look for a program that keeps the file open for reading",
        )


def _disk(folder: Path) -> Iterator[Finding]:
    kind = _file_system(folder)
    if kind is not None and kind.startswith(_NETWORK_FILE_SYSTEMS):
        yield Finding("error", "disk", f"{folder} is on {kind}, where file locks are unreliable; use a local disk")
    free = shutil.disk_usage(folder).free
    level = "error" if free < _FULL_DISK_BYTES else "warning" if free < _LOW_DISK_BYTES else "ok"
    yield Finding(level, "disk", f"{free / 1e9:.1f} GB free" + ("" if level == "ok" else "; free some space"))
    try:
        seconds = _sync_time(folder)
    except OSError as error:
        yield Finding("error", "disk", f"cannot write to {folder}: {error.strerror}")
        return
    text = f"a sync takes {1000 * seconds:.1f} ms"
    slow = "; each tell waits for one, so use a faster disk" if seconds > _SLOW_SYNC_SECONDS else ""
    yield Finding("warning" if slow else "ok", "disk", text + slow)


def _sync_time(folder: Path) -> float:
    """Median time of ten fsync calls, in seconds."""
    times = []
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".rankduel-doctor-") as file:
        for _ in range(10):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def _file_system(folder: Path) -> str | None:
    """Type of the file system of a folder, or None if the system does not say."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return None
    mounts = [(Path(words[1].replace("\\040", " ")), words[2]) for words in map(str.split, lines) if len(words) > 2]
    over = [(len(mount.parts), kind) for mount, kind in mounts if folder.is_relative_to(mount)]
    return max(over)[1] if over else None


def _clock() -> Finding:
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    if not sys.platform.startswith("linux"):
        return Finding("ok", "clock", now)
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    if state == _CLOCK_UNSYNCED:
        return Finding("warning", "clock", f"{now}, not synchronised; run an NTP client such as chrony")
    return Finding("ok", "clock", f"{now}, synchronised")
