"""The preview of a change says what users would see, and changes nothing."""

from typing import Any

import pytest

from service.servers import Client, at


@pytest.mark.parametrize(
    ("change", "sees"),
    [
        (
            {"share": 0.25},
            "25 % of users (now 100 %) will see pages that mix the results of two rankers, "
            "and all others will see the baseline `a`.",
        ),
        ({"share": 0}, "All users will see the baseline `a`."),
        ({"share": 0, "baseline": "b"}, "All users will see the baseline `b`."),
        ({"shadow": True}, "All users will see the baseline `a`, because the tournament is a dry run."),
        ({}, "All users will still see pages that mix the results of two rankers."),
    ],
)
def test_new_settings(client: Client, name: str, change: dict[str, Any], sees: str) -> None:
    before = client.get(at(name)).body
    assert client.post(at(name, ":preview"), {"action": "configure"} | change).body == {"users_see": sees}
    assert client.get(at(name)).body == before
    client.send("PATCH", at(name), {"share": 1} | change)
    after = sees.replace("will see", "see").replace("will still see", "see").replace(" (now 100 %)", "")
    assert client.get(at(name)).body["users_see"] == after


def test_a_roll_out(client: Client, name: str) -> None:
    half = {"action": "roll_out", "share": 0.5, "ranker": "b"}
    answer = client.post(at(name, ":preview"), half).body["users_see"]
    assert answer == "50 % of users will see `b`, and all others will see the baseline `a`."
    assert client.get(at(name)).body["rollout"] is None
    for wrong in ({"share": 2}, {"ranker": "a\nb"}, {"action": "stop"}, {"reason": ""}):
        assert client.post(at(name, ":preview"), half | wrong).problem == "bad-value"
