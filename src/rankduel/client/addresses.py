"""Name resolution in the background: DNS has no deadline, so a thread of its own waits for it."""

import ipaddress
import socket
import threading
from time import monotonic
from typing import Any

__all__ = ["Addresses"]

_REFRESH_SECONDS = 60.0  # then the name is resolved again, while the known addresses stay in use
_RETRY_SECONDS = 1.0  # the same after a failure

Address = tuple[int, Any]  # family, and the address for `socket.connect`


class Addresses:
    """The addresses of a host, looked up in the background; the one that answered last comes first."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._literal = _is_literal(host)
        self._known: list[Address] = []
        self._failure: OSError | None = None
        self._due = 0.0  # when to resolve it again
        self.forked()

    def forked(self) -> None:
        """A thread that was looking is not there after a fork, and a lock may be held for ever."""
        self._resolving = False
        self._lock = threading.Condition()

    def known(self, due: float) -> list[Address]:
        """The addresses; OSError if there are none, TimeoutError if none was found before `due`."""
        with self._lock:
            if monotonic() >= self._due and not self._resolving:
                self._begin()
            while not self._known and (self._resolving or self._failure is None):
                if (left := due - monotonic()) <= 0:
                    raise TimeoutError
                self._lock.wait(left)
            if not self._known and self._failure is not None:
                raise self._failure
            return list(self._known)

    def prefer(self, family: int, sockaddr: Any) -> None:
        """Try this address first from now on."""
        if self._known and self._known[0] != (family, sockaddr):
            with self._lock:
                self._known.sort(key=lambda address: address != (family, sockaddr))

    def _begin(self) -> None:
        if self._literal:
            self._resolve()
            return
        thread = threading.Thread(target=self._resolve, name="rankduel address", daemon=True)
        thread.start()
        self._resolving = True

    def _resolve(self) -> None:
        found: list[Address] = []
        failure: OSError | None = None
        try:
            for family, _, _, _, sockaddr in socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM):
                if (family, sockaddr) not in found:
                    found.append((int(family), sockaddr))
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that cannot be one
            failure = error if isinstance(error, OSError) else OSError(str(error))
        with self._lock:
            self._resolving = False
            self._failure = failure
            self._due = monotonic() + (_REFRESH_SECONDS if found else _RETRY_SECONDS)
            if found:
                first = self._known[:1]
                self._known = sorted(found, key=lambda address: address not in first)
            self._lock.notify_all()


def _is_literal(host: str) -> bool:
    """Whether a host is an address already, for which nobody has to be asked.

    >>> _is_literal("10.0.0.1"), _is_literal("::1"), _is_literal("localhost")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
