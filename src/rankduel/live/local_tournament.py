"""`LocalTournament`: a tournament that this process runs, on SQLite or PostgreSQL."""

import threading
import weakref
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from functools import cache
from time import time as now
from typing import Any, Self

from rankduel.bandits import Bandit
from rankduel.errors import TournamentExists, UnknownDuel
from rankduel.interleaving import Interleaved
from rankduel.live import standings
from rankduel.live.read_only import ReadOnlyTournament, check_known
from rankduel.live.results import Counts, Health, LiveDuel, Receipt
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import Status
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS, as_list, brief, check_name, some_of
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.maintenance import Maintenance
from rankduel.live.runtime.recording import ResultRecorder
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.runtime.state import load_state
from rankduel.live.settings import DAY, Settings, check_new, check_same, check_window, checked_dials, new_settings
from rankduel.live.storage.contract import Change, Created, Opened, Storage, TellResult, Void
from rankduel.live.storage.open_storages import acquire, release, schedule_maintenance
from rankduel.live.storage.writer import Writer
from rankduel.live.tournament import Tournament
from rankduel.types import Outcome

__all__ = ["LocalTournament"]

_MAX_REASON_CHARACTERS = 10 * MAX_NAME_CHARACTERS
_DONE = {"retired": "retired", "ranker_paused": "paused", "ranker_started": "started"}  # by kind of event


class LocalTournament(ReadOnlyTournament, Tournament, schemes=("",)):
    """A tournament that this process runs. `Tournament` documents what is not documented here."""

    def __init__(self, runtime: TournamentRuntime, session: int) -> None:
        super().__init__(runtime.name, runtime.storage, runtime.state, runtime.lock)
        self.method = runtime.method
        self._runtime = runtime
        self._issuer = DuelIssuer(runtime, session)
        self._recorder = ResultRecorder(runtime, self._issuer)
        self._maintenance = Maintenance(runtime)
        self._adding = threading.Lock()
        runtime.writer.listeners[self.name] = runtime.happened
        schedule_maintenance(runtime.writer, self.name, self._maintenance.run_due)
        self._end = weakref.finalize(self, _end, runtime)  # nothing above holds this object

    @classmethod
    def create(
        cls,
        name: str,
        *,
        rankers: Iterable[str],
        storage: str,
        bandit: str | None = None,
        delta: float | None = None,
        tolerance: float | None = None,
        interleaving: str = "team_draft",
        expires_after: float = DAY,
        seed: int | None = None,
        exist_ok: bool = False,
        key: str | None = None,
        **dials: Any,
    ) -> Self:
        given = {"bandit": bandit, "delta": delta, "tolerance": tolerance, "seed": seed, **dials}
        given |= {"interleaving": interleaving, "expires_after": expires_after}
        settings = new_settings(rankers, **given)
        writer = acquire(storage, check_name("the name of a tournament", name))
        try:
            (created,) = writer.put(name, [Created(now(), settings.to_dict())]).result()
            if created is None and not exist_ok:
                raise TournamentExists(
                    f"{name!r} is in {writer.storage.url} already: open it, or create it with exist_ok=True"
                )
            if created is None:
                check_same(name, _settings(writer.storage, name), settings, seeded=seed is not None)
            return cls._opened(name, writer)
        except BaseException:
            release(writer, name)
            raise

    def check_same(self, *, rankers: Iterable[str], seed: int | None = None, **given: Any) -> None:
        """Raise TournamentExists if `create` with these settings would have made another tournament."""
        settings = new_settings(rankers, seed=seed, **given)
        check_same(self.name, _settings(self.storage, self.name), settings, seeded=seed is not None)

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> Self:
        writer = acquire(storage, check_name("the name of a tournament", name))
        try:
            check_known(name, writer.storage)
            return cls._opened(name, writer)
        except BaseException:
            release(writer, name)
            raise

    @classmethod
    def _opened(cls, name: str, writer: Writer) -> Self:
        # A new session: no id of a duel that a crash has lost is ever given again.
        (session,) = writer.put(name, [Opened()]).result()
        return cls(TournamentRuntime(name, writer, *load_state(writer.storage, name)), session)

    def close(self) -> None:
        """Store a snapshot, so that opening is quick, and release the storage. Nothing is lost without it."""
        if not self._runtime.closed:
            self._runtime.take_snapshot()
        self._end()

    def __repr__(self) -> str:
        return f"<Tournament {self.name!r}: {len(self._state.rankers)} rankers, {self._state.status}>"

    # Ask

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        return self._issuer.ask_many(asked)

    def ask_now(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel] | None:
        """Ask without waiting, for an event loop; None if the storage must be read first."""
        return self._issuer.ask_now(asked)

    def known(self, query_ids: Iterable[str]) -> set[str]:
        """Those of these queries that have a duel in this tournament."""
        return set(self._issuer.duels_of(as_list("query_ids", query_ids)))

    # Tell

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Receipt]:
        return _receipts(self._runtime.write(self._recorder.tells(told)))

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[Receipt]]:
        receipts: Future[list[Receipt]] = Future()
        receipts.set_running_or_notify_cancel()  # it cannot be cancelled: all of it will be written

        def done(stored: Future[list[TellResult]]) -> None:
            if (error := stored.exception()) is not None:
                receipts.set_exception(error)
            else:
                receipts.set_result(_receipts(stored.result()))

        self.submit_tells(told).add_done_callback(done)
        return receipts

    def submit_tells(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[TellResult]]:
        """The same as `tell_soon`, with results as the storage has them: for a server, which answers many at once."""
        return self._runtime.writer.put_now(self.name, self._recorder.tells(told))

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        return self._runtime.write(self._recorder.shows(shown))

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        return self._recorder.observe(seen)

    @property
    def attribution(self) -> Attribution:
        return self._runtime.attribution

    def seed_of(self, duel: str) -> int:
        """The seed that makes the page of a duel; 48 bits, exact in any JSON."""
        return self._state.seed_of(duel)

    # Read

    @property
    def counts(self) -> Counts:
        self._runtime.check()
        self._runtime.writer.flush(self.name)
        self._maintenance.expire()
        if self.storage.shared:
            self._runtime.count_again()
        return self._runtime.counts()

    def health(self) -> Health:
        runtime = self._runtime
        return standings.health(
            runtime.counters,
            runtime.failing,
            self.storage.url,
            actions=runtime.actions,
            maintenance=runtime.maintenance_failure,
        )

    @property
    def maintenance_failure(self) -> str | None:
        """Why duels are not resolved, do not expire, or guardrails are not checked; None if all is well."""
        return self._runtime.maintenance_failure

    @property
    def durable_counts(self) -> Counts:
        """How many duels were issued, and what became of them, as far as it is durable. Never waits."""
        return self._runtime.counts()

    @property
    def counters_version(self) -> int:
        """A number that changes whenever counters change."""
        return self._runtime.counters_version

    @property
    def failing(self) -> Exception | None:
        """Why users see the baseline though the tournament runs: the storage or the bandit has failed."""
        return self._runtime.failing

    def counters(self) -> dict[str, int]:
        """All counters, as far as they are durable."""
        return dict(self._runtime.counters)

    def snapshot(self) -> tuple[type[Bandit], bytes]:
        """The class of the bandit, and its newest snapshot: the last one that is stored, if it has all rankers."""
        with self._lock:
            kind, n_rankers = type(self._state.bandit), len(self._state.rankers)
        for snapshot in self.storage.snapshots(self.name):
            if kind.restore(snapshot.bandit).n_arms == n_rankers:
                return kind, snapshot.bandit
        with self._lock:
            return kind, self._state.bandit.snapshot()

    # Operate

    def start(self, reason: str = "", by: str = "") -> None:
        self._change("started", ("paused",), reason, by)

    def pause(self, reason: str = "", by: str = "") -> None:
        self._change("paused", ("running",), reason, by)

    def stop(self, reason: str = "", by: str = "") -> None:
        self._change("stopped", ("running", "paused"), reason, by)

    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        changes = checked_dials(dials)
        if changes.get("attribution") is not None:
            check_window(changes["attribution"], self._state.settings.expires_after)
            changes["attribution"]["version"] = self.attribution.version + 1
        self._change("configured", ("running", "paused"), reason, by, **changes)

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        names = [check_name("a ranker", ranker) for ranker in as_list("rankers", rankers)]
        with self._adding:  # two threads that add at the same time do not exceed the limit together
            with self._lock:
                check_new(names, self._state.rankers)
                self._state.changeable("add")
            if names:
                self._change("added", ("running", "paused"), reason, by, rankers=names)

    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("retired", "retire", ranker, reason, by)

    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("ranker_paused", "pause", ranker, reason, by)

    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._change_ranker("ranker_started", "resume", ranker, reason, by)

    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        self._runtime.check()
        session, number, _ = self._recorder.find(duel)
        body = {"duel": f"{session}-{number}", "reason": _check_text("reason", reason), "by": _check_text("by", by)}
        (state,) = self._runtime.writer.put(self.name, [Void(session, number, self._runtime.time(), body)]).result()
        if state is None:
            raise UnknownDuel(f"no duel {brief(duel)} in tournament {self.name!r}")
        if state == "resolved":
            raise ValueError(f"duel {session}-{number} is resolved already: it cannot be void")

    def _change_ranker(self, kind: str, method: str, ranker: str, reason: str, by: str) -> None:
        with self._lock:
            arm = self._state.arms.get(ranker)
            if arm is None:
                known = some_of(self._state.rankers)
                raise ValueError(f"unknown ranker {brief(ranker)} in tournament {self.name!r}; known rankers: {known}")
            if arm not in self._state.bandit.alive:
                raise ValueError(f"ranker {ranker!r} was eliminated or retired before: it cannot be {_DONE[kind]}")
            if kind == "retired" and self._state.bandit.n_alive == 1:
                raise ValueError(f"ranker {ranker!r} is the last one left: it cannot be retired")
            self._state.changeable(method)
        self._change(kind, ("running", "paused"), reason, by, ranker=ranker)

    def _change(self, kind: str, allowed: Sequence[str], reason: str, by: str, **body: Any) -> None:
        self._runtime.check()
        if self._state.status not in allowed:
            raise ValueError(f"{self.name!r} is {self._state.status}: it cannot be {kind}")
        body |= {"reason": _check_text("reason", reason), "by": _check_text("by", by)}
        (done,) = self._runtime.write([Change(self._runtime.time(), kind, body)])
        if isinstance(done, ValueError):
            raise done

    def run_maintenance(self) -> None:
        """Run due maintenance now: a thread does it every quarter of a second."""
        self._maintenance.run_due()


@cache
def _receipt(result: TellResult) -> Receipt:
    return Receipt(result.status, None if result.outcome is None else Outcome(result.outcome))


def _receipts(told: Iterable[TellResult]) -> list[Receipt]:
    return list(map(_receipt, told))


def _end(runtime: TournamentRuntime) -> None:
    runtime.closed = True
    release(runtime.writer, runtime.name)


def _settings(storage: Storage, name: str) -> Settings:
    return Settings.from_dict(next(storage.read(name)).body)


def _check_text(what: str, text: object) -> str:
    if not isinstance(text, str) or len(text) > _MAX_REASON_CHARACTERS:
        raise ValueError(f"{what} must be a text of at most {_MAX_REASON_CHARACTERS} characters, got {brief(text)}")
    return text
