"""Any sequence of asks, tells, delays, pauses and restarts gives what a few lines of Python say it should."""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import rankduel as rd
from live.conftest import Clock
from live.learning import learnt
from live.unsynced import unsynced
from rankduel.live import LocalTournament, local_tournament
from rankduel.live.runtime import runtime, snapshots
from rankduel.live.runtime.state import State

EXPIRES_AFTER = 100


@dataclass
class Known:
    """What the model knows of a duel."""

    duel: rd.live.LiveDuel
    outcome: rd.Outcome | None = None


class Model(RuleBasedStateMachine):
    """A tournament, and the duels as a list."""

    def __init__(self) -> None:
        super().__init__()
        self.world = ExitStack()
        self.world.enter_context(unsynced())
        self.clock = Clock()
        for module in (runtime, local_tournament):
            self.world.enter_context(patch.object(module, "now", self.clock))
        self.world.enter_context(patch.object(snapshots, "SNAPSHOT_INTERVAL_EVENTS", 15))
        self.folder = self.world.enter_context(tempfile.TemporaryDirectory())
        self.duels: list[Known] = []
        self.by_query: dict[str, Known] = {}
        self.paused = False

    @initialize(bandit=st.sampled_from(["CertifiedSparring", "MergeDTS", "SparringEXP3"]))
    def create(self, bandit: str) -> None:
        self.t = LocalTournament.create(
            "x",
            rankers=list("abcdefgh"),
            storage=f"sqlite:///{self.folder}/duels.db",
            bandit=bandit,
            seed=1,
            baseline="base",
            external_baseline=True,
            expires_after=EXPIRES_AFTER,
        )

    @rule(query=st.integers(0, 30).map(str))
    def ask(self, query: str) -> None:
        duel = self.t.ask(query)
        if query in self.by_query:
            assert duel == self.by_query[query].duel
        elif self.paused:
            assert (duel.id, duel.first, duel.second) == (None, "base", "base")
        else:
            assert duel.expires == self.clock.now + EXPIRES_AFTER
            assert duel.id not in [known.duel.id for known in self.duels]
            self.by_query[query] = Known(duel)
            self.duels.append(self.by_query[query])

    @precondition(lambda self: self.duels)
    @rule(data=st.data(), outcome=st.sampled_from(rd.Outcome))
    def tell(self, data: st.DataObject, outcome: rd.Outcome) -> None:
        known = data.draw(st.sampled_from(self.duels))
        ways: list[rd.live.LiveDuel | str] = [known.duel, known.duel.id or "", known.duel.ticket or ""]
        named = data.draw(st.sampled_from(ways))
        receipt = self.t.tell(named, outcome)
        if known.outcome is not None:
            assert receipt.status == ("duplicate" if outcome is known.outcome else "conflict")
        else:
            assert receipt.status == ("late" if known.duel.expires <= self.clock.now else "accepted")
            known.outcome = outcome
        assert receipt.outcome is known.outcome

    @rule(seconds=st.integers(1, 60))
    def wait(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule()
    def pause_or_resume(self) -> None:
        (self.t.start if self.paused else self.t.pause)()
        self.paused = not self.paused

    @rule()
    def restart(self) -> None:
        before = learnt(self.t._state)
        self.t.close()
        self.t = LocalTournament.open("x", storage=f"sqlite:///{self.folder}/duels.db")
        assert learnt(self.t._state) == before

    @invariant()
    def counts_agree(self) -> None:
        if hasattr(self, "t"):
            counts = self.t.counts
            assert counts.issued == len(self.duels)
            assert counts.resolved + counts.late == sum(known.outcome is not None for known in self.duels)
            assert counts.in_flight == sum(
                known.outcome is None and known.duel.expires > self.clock.now for known in self.duels
            )

    def teardown(self) -> None:
        with self.world:
            if hasattr(self, "t"):
                assert learnt(State.replay(self.t.journal())) == learnt(self.t._state)
                self.t.close()


TestModel = pytest.mark.slow(Model.TestCase)
TestModel.settings = settings(max_examples=25, stateful_step_count=60, deadline=None)
