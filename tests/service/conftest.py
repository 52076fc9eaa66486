"""A server for the tests of a module, without keys, and one client for each test."""

from collections.abc import Iterator

import pytest

from service.servers import Client, Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('service')}/duels.db") as server:
        yield server
        assert not [line for line in server.lines if "Traceback" in line]


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client as client:
        yield client


@pytest.fixture
def name(client: Client, request: pytest.FixtureRequest) -> str:
    """A tournament of the test's own."""
    name = request.node.name
    made = client.post("/v1/tournaments", {"name": name, "rankers": ["a", "b", "c"], "baseline": "a", "seed": 1})
    assert made.status == 201
    return str(name)
