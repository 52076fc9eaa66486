"""Host check against DNS rebinding: the Host header must name this server."""

import re
from collections.abc import Iterable

from rankduel.service.problems import Problem

__all__ = ["Hosts"]

_HOST = re.compile(r"(?:\[([0-9a-f.:]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?")  # an IPv6 address or a name, and a port
_MAX_PORT = 65_535
_MAX_REMEMBERED = 1_000  # accepted Host headers


class Hosts:
    """Allowed values of the Host header.

    In a DNS rebinding attack, the name of another site resolves to this server. Its pages send that name, so they are
    refused.

    >>> hosts = Hosts(["duels.example", "127.0.0.1"])
    >>> "duels.example:8080" in hosts, "DUELS.example" in hosts, "evil.example" in hosts, "[::1]:80" in hosts
    (True, True, False, False)
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(name.lower() for name in names)
        self._accepted: dict[str, bool] = {}

    def __contains__(self, host: str) -> bool:
        known = self._accepted.get(host)
        if known is None:
            known = _name_in(host.lower()) in self.names
            if known and len(self._accepted) < _MAX_REMEMBERED:
                self._accepted[host] = known
        return known

    def check(self, host: bytes) -> None:
        """Raise a Problem if a Host header does not name this server."""
        text = host.decode("latin-1")
        if text not in self:
            detail = f"the Host header {text[:200]!r} does not name this server; add the name to the setting `hosts`"
            raise Problem("bad-host", detail, value=text[:200])


def _name_in(host: str) -> str | None:
    """Return the name or address in a Host header, without its port; None if the header is malformed."""
    parts = _HOST.fullmatch(host)
    if parts is None or int(parts[3] or 0) > _MAX_PORT or (parts[1] is not None and ":" not in parts[1]):
        return None
    return parts[1] or parts[2]
