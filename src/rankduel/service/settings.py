"""Settings of the service: address, limits and timeouts."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from rankduel.service.addresses import is_loopback
from rankduel.service.auth.keys import ApiKeys
from rankduel.service.proxies import TrustedProxies

__all__ = ["ServiceSettings"]

_LARGEST_PORT = 65_535
_LOOPBACK_HOSTS = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Settings of one server. Times are in seconds, sizes in bytes.

    >>> ServiceSettings(host="0.0.0.0", hosts=["duels.example"]).allowed_hosts
    ('0.0.0.0', 'duels.example')
    """

    host: str = "127.0.0.1"
    port: int = 8080
    hosts: tuple[str, ...] = ()  # more names that are allowed in the Host header
    trusted_proxies: tuple[str, ...] = ("127.0.0.1", "::1")  # addresses and networks whose X-Forwarded-* are believed
    processes: int = 1
    metrics_port: int = 0  # first of the ports on which each process listens alone, for Prometheus; 0: none
    largest_body: int = 1_000_000
    deadline: float = 10.0  # from the head of a request to its response
    rate: float = 20_000.0  # requests per second of one key, or of one address while there are no keys
    burst: float = 40_000.0
    wrong_keys: float = 1.0  # per second from one address
    wrong_keys_burst: float = 20.0
    session: float = 43_200.0  # duration of a login session of the dashboard
    keys_every: float = 1.0  # interval at which stored keys are read again: revoked keys are refused then
    connections: int = 1_000  # open connections in total; further ones get status 503
    connections_per_address: int = 200  # from one address (IPv6: one /64 network); not of loopback and trusted proxies
    keep_alive: float = 75.0
    stop_within: float = 15.0  # after a SIGTERM: requests that are still pending are then cancelled
    retention_days: float = 0.0  # pages, signals and clients of older duels are removed; 0: never
    retention_query_ids: bool = False  # remove query ids of older duels, too
    access_log: bool = False
    public_url: str = ""  # of the dashboard, for links in webhooks

    def __post_init__(self) -> None:
        for name in ("hosts", "trusted_proxies"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        TrustedProxies(self.trusted_proxies)  # raises ValueError
        for name in ("port", "metrics_port"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST_PORT:
                raise ValueError(f"{name} must be a whole number from 0 to {_LARGEST_PORT}, got {value!r}")
        integers = ("processes", "largest_body", "connections", "connections_per_address")
        for name in integers:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number >= 1, got {value!r}")
        numbers = ("deadline", "rate", "burst", "wrong_keys", "wrong_keys_burst", "keys_every", "keep_alive", "session")
        for name in (*numbers, "stop_within"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
                raise ValueError(f"{name} must be a number > 0 and < 1e9, got {value!r}")
        if self.metrics_port and (self.metrics_ports.stop - 1 > _LARGEST_PORT or self.port in self.metrics_ports):
            ports = f"{self.metrics_ports.start} to {self.metrics_ports.stop - 1}"
            raise ValueError(
                f"metrics_port: the ports of the processes must be at most {_LARGEST_PORT}, and none may be the port "
                f"{self.port} of the service; got {ports}"
            )
        days = self.retention_days
        if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days < 1e6:
            raise ValueError(f"retention_days must be a number >= 0 and < 1e6, got {days!r}; 0 keeps everything")

        url = urlsplit(self.public_url)
        if self.public_url and not (url.scheme in ("http", "https") and url.hostname and not url.query + url.fragment):
            raise ValueError(f"public_url must be https://HOST or http://HOST, got {self.public_url!r}")
        object.__setattr__(self, "public_url", self.public_url.rstrip("/"))

    def check(self, api_keys: ApiKeys) -> None:
        """Raise ValueError if other machines could reach the server and there is no API key."""
        if not self.loopback and not api_keys.required:
            raise ValueError(
                f"there is no API key: create one (rankduel keys create), or listen on 127.0.0.1 instead of {self.host}"
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def metrics_ports(self) -> range:
        """The ports on which each process listens alone: the first process that starts takes the first one."""
        return range(self.metrics_port, self.metrics_port + self.processes) if self.metrics_port else range(0)

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """All names that are allowed in the Host header."""
        return (*(_LOOPBACK_HOSTS if self.loopback else (self.host,)), *self.hosts)
