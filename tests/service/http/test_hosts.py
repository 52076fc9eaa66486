"""The host check, directly. The strict parsing of headers is in attack/test_http.py."""

import pytest

from rankduel.service.http.hosts import Hosts
from rankduel.service.problems import Problem
from rankduel.service.settings import ServiceSettings


@pytest.mark.parametrize(
    ("settings", "accepted", "refused"),
    [
        (ServiceSettings(), ["localhost", "127.0.0.1:8080", "[::1]"], ["duels.example", "0.0.0.0"]),
        (ServiceSettings(hosts=("duels.example",)), ["localhost", "Duels.Example:443"], ["x.duels.example"]),
        (ServiceSettings(host="10.0.0.5", hosts=("duels.example",)), ["10.0.0.5:80", "duels.example"], ["localhost"]),
    ],
)
def test_hosts_of_the_settings(settings: ServiceSettings, accepted: list[str], refused: list[str]) -> None:
    hosts = Hosts(settings.allowed_hosts)
    for host in accepted:
        hosts.check(host.encode())
    for host in refused:
        with pytest.raises(Problem, match="does not name this server") as caught:
            hosts.check(host.encode())
        assert caught.value.body()["value"] == host
