"""The list of tournaments: search, filter, sort and pages."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from service.servers import Client, Server, at, serving

NAMES = [f"{'Home' if k % 2 else 'shop'} {k:02d}" for k in range(30)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with 30 tournaments: three are paused, and each has as many duels as its number."""
    url = f"sqlite:///{tmp_path_factory.mktemp('overviews')}/duels.db"
    with serving(url) as server, server.client as client:
        for number, name in enumerate(NAMES):
            client.post("/v1/tournaments", {"name": name, "rankers": ["a", "b", "c"]})
            duels = client.post(at(name, "/ask"), {"n": number + 1}).body["duels"]
            told = [{"duel": duel["duel"], "outcome": "tie"} for duel in duels[:number]]
            assert not told or client.post(at(name, "/tell"), told).status == 200
        for name in NAMES[:3]:
            client.post(at(name, ":pause"))
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client as client:
        yield client


def listed(client: Client, **query: Any) -> list[str]:
    return [one["name"] for one in client.get(f"/v1/overviews?{urlencode(query)}").body["tournaments"]]


def test_pages_of_the_list_are_disjoint_and_complete(client: Client) -> None:
    first = client.get("/v1/overviews").body
    assert len(first["tournaments"]) == 25
    assert first["matching"] == 30
    assert (first["broken"], first["n_broken"]) == ([], 0)
    pages = [name for offset in (0, 7, 14, 21, 28, 35) for name in listed(client, limit=7, offset=offset)]
    assert pages == sorted(NAMES, key=str.casefold)


def test_a_search_finds_a_part_of_the_name_in_any_case(client: Client) -> None:
    found = client.get("/v1/overviews?search=HOME+1").body
    assert [one["name"] for one in found["tournaments"]] == [name for name in NAMES if name.startswith("Home 1")]
    assert found["matching"] == sum(found["by_status"].values()) == 5
    assert listed(client, search="nowhere") == []


def test_a_filter_by_status_counts_all_statuses_of_the_search(client: Client) -> None:
    found = client.get("/v1/overviews?status=paused&search=shop").body
    assert [one["name"] for one in found["tournaments"]] == ["shop 00", "shop 02"]
    assert found["matching"] == 2
    assert found["by_status"] == {"paused": 2, "running": 13}
    assert listed(client, status="archived") == []


def test_every_order_and_its_reverse(client: Client) -> None:
    for sort, field in (("name", "name"), ("duels", "resolved"), ("activity", "active")):
        up = client.get(f"/v1/overviews?limit=100&sort={sort}").body["tournaments"]
        values = [one[field].casefold() if sort == "name" else one[field] for one in up]
        assert values == sorted(values)
        assert listed(client, limit=100, sort=f"-{sort}") == [one["name"] for one in up][::-1]
    last = client.get("/v1/overviews?sort=-status&limit=4").body["tournaments"]
    assert [one["status"] for one in last] == ["paused"] * 3 + ["running"]
    assert listed(client, sort="-activity", limit=3) == NAMES[2::-1]  # they were paused last


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "offset=-1", "offset=1000001", "status=gone", "sort=age", "search=" + "x" * 201]
)
def test_bounds_are_documented_and_kept(client: Client, query: str) -> None:
    assert client.get(f"/v1/overviews?{query}").problem == "bad-value"
    operation = client.get("/v1/openapi.json").body["paths"]["/v1/overviews"]["get"]
    schemas = {one["name"]: one["schema"] for one in operation["parameters"]}
    assert schemas["status"]["enum"] == [
        *("current", "draft", "running", "paused", "decided", "rolled_out", "stopped", "archived")
    ]
    assert schemas["limit"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}


def test_a_duel_is_found_by_its_query(client: Client) -> None:
    asked = client.post(at("shop 04", "/ask"), {"query_id": "q/ä 1"}).body
    client.post(at("shop 04", "/tell"), {"duel": asked["duel"], "outcome": "first"})
    found = client.get(at("shop 04", f"/duels?{urlencode({'query_id': 'q/ä 1'})}")).body
    assert [one["duel"] for one in found["duels"]] == [asked["duel"]]
    assert (found["duels"][0]["query_id"], found["next"]) == ("q/ä 1", None)
    assert client.get(at("shop 04", "/duels?query_id=other")).body == {"duels": [], "next": None}
    assert client.get(at("shop 02", f"/duels?{urlencode({'query_id': 'q/ä 1'})}")).body["duels"] == []
    assert client.get(at("shop 04", "/duels?query_id=" + "x" * 201)).problem == "bad-value"
