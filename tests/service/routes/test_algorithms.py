"""The algorithms that the form of the dashboard offers."""

from rankduel.bandits import REGISTRY
from rankduel.interleaving.registry import INTERLEAVINGS
from service.servers import Client


def test_the_form_offers_every_algorithm_and_a_tournament_takes_its_options(client: Client) -> None:
    found = client.get("/v1/algorithms").body
    assert [one["name"] for one in found["bandits"]] == list(REGISTRY)
    assert {one["name"] for one in found["interleavings"]} == set(INTERLEAVINGS)
    merge = next(one for one in found["bandits"] if one["name"] == "MergeDTS")
    assert merge["summary"].startswith("Find the Condorcet winner of hundreds of arms")
    assert [option["name"] for option in merge["options"]] == ["alpha", "batch_size", "c", "elimination"]
    assert merge["options"][1]["default"] == 16
    assert merge["options"][1]["about"].startswith("M, at least 2.")
    for one in found["bandits"]:
        given = {option["name"]: option["default"] for option in one["options"] if option["default"] is not None}
        body = {"name": f"with {one['name']}", "rankers": ["a", "b"], "bandit": one["name"], "parameters": given}
        made = client.post("/v1/tournaments", body)
        assert made.status == 201, made.body
        assert made.body["settings"]["bandit"].startswith(f"{one['name']}(")
