"""How the service is run: what it listens to, and how much it takes."""

from dataclasses import dataclass

from rankduel.service.auth.keys import KeyRing
from rankduel.service.http.limits import is_loopback

__all__ = ["ServiceSettings"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """The settings of one server. Times are in seconds, sizes in bytes.

    >>> ServiceSettings(host="0.0.0.0", hosts=["duels.example"]).names
    ('0.0.0.0', 'duels.example')
    """

    host: str = "127.0.0.1"
    port: int = 8080
    hosts: tuple[str, ...] = ()  # names by which clients may call it, beside the address it listens to
    processes: int = 1
    largest_body: int = 1_000_000
    deadline: float = 10.0  # from the first byte of a request to its answer
    rate: float = 20_000.0  # requests a second of one key, or of one address where no key is needed
    burst: float = 40_000.0
    wrong_keys: float = 1.0  # a second and address that are looked at; more are answered at once
    wrong_keys_burst: float = 20.0
    session: float = 43_200.0  # how long somebody who has signed in to the dashboard may stay
    keys_every: float = 1.0  # how often stored keys are read again: a revoked key is refused after that
    connections: int = 1_000  # at once; more are told to come back
    connections_per_address: int = 200  # at once, of one address (IPv6: of one /64 network) that is not loopback
    keep_alive: float = 75.0
    stop_within: float = 15.0  # requests that are not answered by then, after SIGTERM, are given up
    access_log: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "hosts", tuple(self.hosts))
        if isinstance(self.port, bool) or not isinstance(self.port, int) or not 0 <= self.port <= 65_535:
            raise ValueError(f"port must be a whole number from 0 to 65535, got {self.port!r}")
        whole = ("processes", "largest_body", "connections", "connections_per_address")
        for name in whole:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
        numbers = ("deadline", "rate", "burst", "wrong_keys", "wrong_keys_burst", "keys_every", "keep_alive", "session")
        for name in (*numbers, "stop_within"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
                raise ValueError(f"{name} must be a number > 0 and < 1e9, got {value!r}")

    def check(self, keys: KeyRing) -> None:
        """Raise if others could come in without a key."""
        if not self.loopback and not keys.made:
            raise ValueError(
                f"there is no API key, so only this machine may come in: make one (rankduel keys create), or listen to "
                f"127.0.0.1 instead of {self.host}"
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def names(self) -> tuple[str, ...]:
        """All names that a Host header may have."""
        return (*(_LOOPBACK if self.loopback else (self.host,)), *self.hosts)
