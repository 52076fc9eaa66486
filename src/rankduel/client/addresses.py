"""Name resolution in a background thread: DNS lookups have no deadline, so no call waits for one."""

import ipaddress
import socket
import threading
from time import monotonic
from typing import Any

__all__ = ["Addresses"]

_REFRESH_SECONDS = 60.0  # between lookups; the known addresses stay in use meanwhile
_RETRY_SECONDS = 1.0  # between lookups after a failure

Address = tuple[int, Any]  # address family, and the address for `socket.connect`


class Addresses:
    """Cached addresses of a host, refreshed in the background. The address that worked last comes first."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._literal = _is_literal(host)
        self._known: list[Address] = []
        self._failure: OSError | None = None
        self._due = 0.0  # when to look up the host again
        self.forked()

    def forked(self) -> None:
        """Start afresh after a fork: the child has no lookup thread, and the inherited lock may never be released."""
        self._resolving = False
        self._lock = threading.Condition()

    def known(self, due: float) -> list[Address]:
        """Return the addresses. Raise OSError if the lookup failed, TimeoutError if it takes until `due`."""
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
        """Put an address first, for the next calls."""
        if self._known and self._known[0] != (family, sockaddr):
            with self._lock:
                self._known.sort(key=lambda address: address != (family, sockaddr))

    def failed(self) -> None:
        """No known address accepts connections: look up the host again soon, because it may have moved."""
        with self._lock:
            self._due = min(self._due, monotonic() + _RETRY_SECONDS)

    def _begin(self) -> None:
        if self._literal:
            self._resolve()
            return
        thread = threading.Thread(target=self._resolve, name="rankduel address", daemon=True)
        thread.start()
        self._resolving = True

    def _resolve(self) -> None:
        addresses: list[Address] = []
        failure: OSError | None = None
        try:
            for family, _, _, _, sockaddr in socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM):
                if (family, sockaddr) not in addresses:
                    addresses.append((int(family), sockaddr))
        except (OSError, UnicodeError) as error:  # UnicodeError: an invalid host name
            failure = error if isinstance(error, OSError) else socket.gaierror(str(error))
        with self._lock:
            self._resolving = False
            self._failure = failure
            self._due = monotonic() + (_REFRESH_SECONDS if addresses else _RETRY_SECONDS)
            if addresses:
                first = self._known[:1]
                self._known = sorted(addresses, key=lambda address: address not in first)
            self._lock.notify_all()


def _is_literal(host: str) -> bool:
    """Whether a host is an IP address, which needs no lookup.

    >>> _is_literal("10.0.0.1"), _is_literal("::1"), _is_literal("localhost")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
