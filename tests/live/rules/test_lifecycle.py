"""Statuses, the actions that they allow, and the sentences that say what users see."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from rankduel.live.rules.lifecycle import ACTIONS, AFTER_DECISION, STATUSES, Rollout, Situation, status_of

RUNNING = Situation("running", baseline="ltr-2")
DECIDED = replace(RUNNING, decided="bm25-flat")
ROLLED_OUT = replace(DECIDED, rollout=Rollout("bm25-flat", 0.5))


def test_each_status_comes_from_the_stored_phase() -> None:
    phases = ("draft", "running", "paused", "stopped", "archived")
    found = {status_of(phase, decided=d, rolled_out=r) for phase, d, r in product(phases, (False, True), (False, True))}
    assert found == set(STATUSES)


@pytest.mark.parametrize(
    ("situation", "possible"),
    [
        (
            replace(RUNNING, phase="draft"),
            "start archive delete configure add_rankers retire pause_ranker start_ranker",
        ),
        (RUNNING, "pause stop archive configure add_rankers retire pause_ranker start_ranker"),
        (replace(RUNNING, phase="paused"), "start stop archive configure add_rankers retire pause_ranker start_ranker"),
        (DECIDED, "pause stop roll_out archive configure add_rankers"),
        (
            replace(DECIDED, tied=True),
            "pause stop roll_out archive configure add_rankers retire pause_ranker start_ranker",
        ),
        (ROLLED_OUT, "pause stop roll_out roll_back archive configure"),
        (replace(ROLLED_OUT, phase="paused"), "start stop roll_back archive configure"),
        (replace(DECIDED, phase="stopped"), "archive delete"),
        (replace(DECIDED, phase="archived"), "delete"),
    ],
)
def test_possible_actions(situation: Situation, possible: str) -> None:
    assert {action for action in ACTIONS if situation.refusal(action) is None} == set(possible.split())
    assert set(situation.effects) == set(possible.split())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, "All users see the winner `bm25-flat`."),
        ({"share": 0.05}, "5 % of users see the winner `bm25-flat`, and all others see the baseline `ltr-2`."),
        ({"share": 0.0}, "All users see the baseline `ltr-2`, although `bm25-flat` won."),
        ({"after_decision": "baseline"}, "All users see the baseline `ltr-2`, although `bm25-flat` won."),
        (
            {"after_decision": "compare", "share": 0.125},
            "12.5 % of users see pages that compare the winner `bm25-flat` with the baseline `ltr-2`, "
            "and all others see the baseline `ltr-2`.",
        ),
        ({"after_decision": "compare", "external_baseline": True}, "All users see the winner `bm25-flat`."),
        ({"after_decision": "compare", "baseline": "bm25-flat"}, "All users see the baseline `bm25-flat`."),
        ({"tied": True}, "All users see `bm25-flat`, one of the tied rankers."),
        ({"shadow": True}, "All users see the baseline `ltr-2`, because the tournament is a dry run."),
        ({"failing": True}, "All users see the baseline `ltr-2`, because the tournament fails."),
        ({"phase": "paused"}, "All users see the baseline `ltr-2`, although `bm25-flat` won."),
        ({"decided": None}, "All users see pages that mix the results of two rankers."),
        ({"decided": None, "share": 0.0}, "All users see the baseline `ltr-2`."),
        ({"decided": None, "phase": "draft"}, "All users see the baseline `ltr-2`."),
        (
            {"decided": None, "phase": "paused", "moving_baseline": True},
            "All users see the champion `ltr-2`, because no baseline is set.",
        ),
        (
            {"rollout": Rollout("bm25-flat", 0.5), "share": 0.0, "shadow": True},
            "50 % of users see the winner `bm25-flat`, and all others see the baseline `ltr-2`.",
        ),
        ({"rollout": Rollout("ltr", 1.0)}, "All users see `ltr`."),
        ({"rollout": Rollout("ltr-2", 1.0)}, "All users see the baseline `ltr-2`, although `bm25-flat` won."),
    ],
)
def test_what_users_see(change: dict[str, Any], sentence: str) -> None:
    assert replace(DECIDED, **change).users_see == sentence


@pytest.mark.parametrize(
    ("situation", "action", "sentence"),
    [
        (DECIDED, "stop", "All users will see the baseline `ltr-2`, although `bm25-flat` won."),
        (RUNNING, "pause", "All users will see the baseline `ltr-2`."),
        (
            replace(RUNNING, phase="draft", share=0.1),
            "start",
            "10 % of users will see pages that mix the results of two rankers, "
            "and all others will see the baseline `ltr-2`.",
        ),
        (
            replace(ROLLED_OUT, phase="paused", rollout=Rollout("bm25-flat", 1.0)),
            "start",
            "All users will see the winner `bm25-flat` instead of the baseline `ltr-2`.",
        ),
        (ROLLED_OUT, "roll_back", "All users will see the baseline `ltr-2`, although `bm25-flat` won."),
        (
            DECIDED,
            "roll_out",
            "The share of users that you choose will see the winner `bm25-flat`, "
            "and all others will see the baseline `ltr-2`.",
        ),
        (
            replace(DECIDED, phase="stopped"),
            "archive",
            "All users will still see the baseline `ltr-2`, although `bm25-flat` won.",
        ),
        (
            DECIDED,
            "add_rankers",
            "The decision will be open again. All users will see pages that mix the results of two rankers "
            "instead of the winner `bm25-flat`.",
        ),
    ],
)
def test_what_users_will_see(situation: Situation, action: str, sentence: str) -> None:
    assert situation.effects[action] == sentence


def test_the_sentence_says_what_is_served() -> None:
    """In all situations, a user in the share and one outside see what the sentence names."""
    for phase, share, shadow, after, decided, rollout in product(
        ("running", "paused", "archived"),
        (0.0, 0.05, 1.0),
        (False, True),
        AFTER_DECISION,
        ("bm25-flat", "ltr-2"),
        (None, Rollout("bm25-flat", 0.5)),
    ):
        now = Situation(
            phase, "ltr-2", share=share, shadow=shadow, after_decision=after, decided=decided, rollout=rollout
        )
        inside = now.served(lambda share: share > 0)[1] if phase == "running" else None
        outside = now.served(lambda share: False)[1] if phase == "running" else None
        assert outside is None
        assert ("`bm25-flat`" in now.users_see.replace(", although `bm25-flat` won", "")) == (inside == "bm25-flat")
        assert "`ltr-2`" in now.users_see or (inside, share if rollout is None else 0.5) == ("bm25-flat", 1.0)
