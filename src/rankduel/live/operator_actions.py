"""The methods of `LocalTournament` that operators call. The journal records each change."""

import threading
from collections.abc import Iterable
from typing import Any

from rankduel.errors import UnknownDuel
from rankduel.live.defaults import DEFAULT_ROLLOUT_SHARE
from rankduel.live.read_only import ReadOnlyTournament
from rankduel.live.results import LiveDuel
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS, as_list, brief, check_name, some_of
from rankduel.live.runtime.recording import ResultRecorder
from rankduel.live.runtime.retention import erase_client
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.settings import check_baseline, check_new, check_rollout_share, check_window, checked_dials
from rankduel.live.storage.contract import Change, Void

__all__ = ["OperatorActions", "check_text"]

_MAX_REASON_CHARACTERS = 10 * MAX_NAME_CHARACTERS
_KINDS = {  # of the event of each action
    "start": "started",
    "pause": "paused",
    "stop": "stopped",
    "roll_out": "rolled_out",
    "roll_back": "rolled_back",
    "archive": "archived",
    "configure": "configured",
    "add_rankers": "added",
    "retire": "retired",
    "pause_ranker": "ranker_paused",
    "start_ranker": "ranker_started",
}
_BANDIT_METHODS = {"retire": "retire", "pause_ranker": "pause", "start_ranker": "resume"}


class OperatorActions(ReadOnlyTournament):
    """The methods of `LocalTournament` that operators call. See `Tournament` for what they do."""

    def __init__(self, runtime: TournamentRuntime, recorder: ResultRecorder) -> None:
        super().__init__(runtime.name, runtime.storage, runtime.state, runtime.lock)
        self._runtime = runtime
        self._recorder = recorder
        self._adding = threading.Lock()

    def start(self, reason: str = "", by: str = "") -> None:
        self._change("start", reason, by)

    def pause(self, reason: str = "", by: str = "") -> None:
        self._change("pause", reason, by)

    def stop(self, reason: str = "", by: str = "") -> None:
        self._change("stop", reason, by)

    def roll_out(
        self, share: float = DEFAULT_ROLLOUT_SHARE, ranker: str | None = None, reason: str = "", by: str = ""
    ) -> None:
        share = check_rollout_share(share)
        with self._lock:
            self._check_allowed("roll_out")
            ranker = self._to_roll_out(ranker)
        self._change("roll_out", reason, by, ranker=ranker, share=share)

    def _to_roll_out(self, ranker: str | None) -> str:
        """Return the ranker to roll out: the given one, the one that is rolled out already, or the winner."""
        state = self._state
        left = [state.rankers[arm] for arm in state.bandit.alive.tolist()]
        if ranker is None and state.rollout is not None:
            return state.rollout.ranker
        if ranker is None and len(left) > 1:
            tied = f"name one of the tied rankers: {some_of(left)}"
            raise ValueError(f"tournament {self.name!r} has no single winner; {tied}")
        if ranker is not None and ranker not in left:
            known = f"rankers that are left: {some_of(left)}"
            raise ValueError(f"cannot roll out {brief(ranker)} in tournament {self.name!r}; {known}")
        return ranker or left[0]

    def roll_back(self, reason: str = "", by: str = "") -> None:
        self._change("roll_back", reason, by)

    def archive(self, reason: str = "", by: str = "") -> None:
        self._change("archive", reason, by)

    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        changes = checked_dials(dials)
        if changes.get("attribution") is not None:
            check_window(changes["attribution"], self._state.settings.expires_after)
            changes["attribution"]["version"] = self._runtime.attribution.version + 1
        if {"baseline", "external_baseline"} & changes.keys():
            self._check_baseline(changes)
        self._change("configure", reason, by, **changes)

    def _check_baseline(self, changes: dict[str, Any]) -> None:
        """Check a new baseline, and replace None by the first ranker."""
        with self._lock:
            state = self._state
            changes["baseline"] = changes.get("baseline", state.settings.baseline) or state.rankers[0]
            external = changes.get("external_baseline", state.settings.external_baseline)
            check_baseline(changes["baseline"], state.rankers, external=external)

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        names = [check_name("a ranker", ranker) for ranker in as_list("rankers", rankers)]
        with self._adding:  # two threads must not exceed the limit together
            with self._lock:
                check_new(names, self._state.rankers)
                self._state.changeable("add")
            if names:
                self._change("add_rankers", reason, by, rankers=names)

    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("retire", ranker, reason, by)

    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("pause_ranker", ranker, reason, by)

    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("start_ranker", ranker, reason, by)

    def _change_ranker(self, action: str, ranker: str, reason: str, by: str) -> None:
        with self._lock:
            arm = self._state.arms.get(ranker)
            if arm is None:
                known = some_of(self._state.rankers)
                raise ValueError(f"unknown ranker {brief(ranker)} in tournament {self.name!r}; known rankers: {known}")
            if arm not in self._state.bandit.alive:
                done = _KINDS[action].removeprefix("ranker_")
                raise ValueError(f"ranker {ranker!r} is already eliminated or retired, so it cannot be {done}")
            if action == "retire" and self._state.bandit.n_alive == 1:
                raise ValueError(f"ranker {ranker!r} is the last one left, so it cannot be retired")
            self._state.changeable(_BANDIT_METHODS[action])
        self._change(action, reason, by, ranker=ranker)

    def refusal(self, action: str) -> str | None:
        """Return why an action is not possible now, as the rest of a sentence about the tournament, or None."""
        return self._situation().refusal(action)

    def _check_allowed(self, action: str) -> None:
        """Raise ValueError unless the status allows an action."""
        if (refusal := self.refusal(action)) is not None:
            raise ValueError(f"tournament {self.name!r} {refusal}")

    def _change(self, action: str, reason: str, by: str, **body: Any) -> None:
        self._runtime.check()
        self._check_allowed(action)
        body |= {"reason": check_text("reason", reason), "by": check_text("by", by)}
        (done,) = self._runtime.write([Change(self._runtime.time(), _KINDS[action], body)])
        if isinstance(done, ValueError):
            raise done

    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        self._runtime.check()
        session, number, _ = self._recorder.find(duel)
        body = {"duel": f"{session}-{number}", "reason": check_text("reason", reason), "by": check_text("by", by)}
        (state,) = self._runtime.write([Void(session, number, self._runtime.time(), body)])
        if state is None:
            raise UnknownDuel(f"unknown duel {brief(duel)} in tournament {self.name!r}")
        if state == "resolved":
            raise ValueError(f"duel {session}-{number} is already resolved, so it cannot be declared void")

    def erase_client(self, client_id: str, reason: str = "", by: str = "") -> int:
        self._runtime.check()
        by, reason = check_text("by", by), check_text("reason", reason)
        return erase_client(self._runtime.writer, self.name, client_id, reason=reason, by=by)


def check_text(what: str, text: object) -> str:
    """Check a reason or the name of an operator, and return it."""
    if not isinstance(text, str) or len(text) > _MAX_REASON_CHARACTERS:
        raise ValueError(f"{what} must be a string of at most {_MAX_REASON_CHARACTERS} characters, got {brief(text)}")
    return text
