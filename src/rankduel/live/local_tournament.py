"""`LocalTournament`: run a tournament in this process, on SQLite or PostgreSQL."""

import threading
import weakref
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from functools import cache
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
from rankduel.live.runtime.clock import now
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.maintenance import Maintenance
from rankduel.live.runtime.recording import ResultRecorder
from rankduel.live.runtime.retention import erase_client
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
_DONE = {"retired": "retired", "ranker_paused": "paused", "ranker_started": "started"}  # for errors, by kind of event


class LocalTournament(ReadOnlyTournament, Tournament, schemes=("",)):
    """A tournament that runs in this process. See `Tournament` for methods without a docstring here."""

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
        self._end = weakref.finalize(self, _end, runtime)  # nothing above refers to `self`

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
                    f"tournament {name!r} already exists in {writer.storage.url}; open it, or pass exist_ok=True"
                )
            if created is None:
                check_same(name, _settings(writer.storage, name), settings, seeded=seed is not None)
            return cls._opened(name, writer)
        except BaseException:
            release(writer, name)
            raise

    def check_same(self, *, rankers: Iterable[str], seed: int | None = None, **given: Any) -> None:
        """Raise TournamentExists unless the tournament was created with these settings."""
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
        # Each opening is a new session, so the id of a duel that a crash lost is never issued again.
        (session,) = writer.put(name, [Opened()]).result()
        return cls(TournamentRuntime(name, writer, *load_state(writer.storage, name)), session)

    def close(self) -> None:
        """Store a snapshot, so that the next opening is fast, and release the storage.

        If you do not call it, no acknowledged data is lost.
        """
        if not self._runtime.closed:
            self._runtime.take_snapshot()
        self._end()

    def __repr__(self) -> str:
        return f"<Tournament {self.name!r}: {len(self._state.rankers)} rankers, {self._state.status}>"

    # Ask

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        return self._issuer.ask_many(asked)

    def ask_now(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel] | None:
        """Ask without blocking, for an event loop. Return None if the storage must be read first."""
        return self._issuer.ask_now(asked)

    def known(self, query_ids: Iterable[str]) -> set[str]:
        """Return the queries that have a duel in this tournament."""
        return set(self._issuer.duels_of(as_list("query_ids", query_ids)))

    # Tell

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Receipt]:
        return _receipts(self._runtime.write(self._recorder.tells(told)))

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[Receipt]]:
        receipts: Future[list[Receipt]] = Future()
        receipts.set_running_or_notify_cancel()  # not cancellable: the entries are already queued

        def done(stored: Future[list[TellResult]]) -> None:
            if (error := stored.exception()) is not None:
                receipts.set_exception(error)
            else:
                receipts.set_result(_receipts(stored.result()))

        self.submit_tells(told).add_done_callback(done)
        return receipts

    def submit_tells(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[TellResult]]:
        """Like `tell_soon`, with the results of the storage: for a server that batches the tells of many requests."""
        return self._runtime.writer.put_now(self.name, self._recorder.tells(told))

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        return self._runtime.write(self._recorder.shows(shown))

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        return self._recorder.observe(seen)

    @property
    def attribution(self) -> Attribution:
        return self._runtime.attribution

    def seed_of(self, duel: str) -> int:
        """Return the seed that makes the page of a duel. It has 48 bits, so JSON numbers hold it exactly."""
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
            self.storage.redacted,
            actions=runtime.actions,
            maintenance=runtime.maintenance_failure,
            clock=runtime.clock_warning,
        )

    @property
    def maintenance_failure(self) -> str | None:
        """Why maintenance failed, so that duels are not resolved or guardrails not checked; None if it works."""
        return self._runtime.maintenance_failure

    @property
    def durable_counts(self) -> Counts:
        """The durable counts of duels by state. Never blocks, and none of them ever decreases."""
        return self._runtime.durable_counts

    @property
    def id(self) -> int:
        """The id in the storage. Tournaments that are created later have larger ids."""
        return self.storage.tournament_id(self.name)

    @property
    def n_left(self) -> int:
        """The number of rankers that are not eliminated or retired. Never blocks."""
        return self._state.bandit.n_alive

    @property
    def counters_version(self) -> int:
        """A number that changes whenever the counters change."""
        return self._runtime.counters_version

    @property
    def failing(self) -> Exception | None:
        """The failure of the storage or the bandit, while users see the baseline; None if both work."""
        return self._runtime.failing

    def counters(self) -> dict[str, int]:
        """Return all durable counters."""
        return dict(self._runtime.counters)

    def snapshot(self) -> tuple[type[Bandit], bytes]:
        """Return the bandit's class and a snapshot: the newest stored one that has all rankers, or a new one."""
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
        with self._adding:  # two threads must not exceed the limit together
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
            raise UnknownDuel(f"unknown duel {brief(duel)} in tournament {self.name!r}")
        if state == "resolved":
            raise ValueError(f"duel {session}-{number} is already resolved, so it cannot be declared void")

    def erase_client(self, client_id: str, reason: str = "", by: str = "") -> int:
        self._runtime.check()
        by, reason = _check_text("by", by), _check_text("reason", reason)
        return erase_client(self._runtime.writer, self.name, client_id, reason=reason, by=by)

    def _change_ranker(self, kind: str, method: str, ranker: str, reason: str, by: str) -> None:
        with self._lock:
            arm = self._state.arms.get(ranker)
            if arm is None:
                known = some_of(self._state.rankers)
                raise ValueError(f"unknown ranker {brief(ranker)} in tournament {self.name!r}; known rankers: {known}")
            if arm not in self._state.bandit.alive:
                raise ValueError(f"ranker {ranker!r} is already eliminated or retired, so it cannot be {_DONE[kind]}")
            if kind == "retired" and self._state.bandit.n_alive == 1:
                raise ValueError(f"ranker {ranker!r} is the last one left, so it cannot be retired")
            self._state.changeable(method)
        self._change(kind, ("running", "paused"), reason, by, ranker=ranker)

    def _change(self, kind: str, allowed: Sequence[str], reason: str, by: str, **body: Any) -> None:
        self._runtime.check()
        if self._state.status not in allowed:
            needed = " or ".join(allowed)
            raise ValueError(f"tournament {self.name!r} is {self._state.status}; this is possible only while {needed}")
        body |= {"reason": _check_text("reason", reason), "by": _check_text("by", by)}
        (done,) = self._runtime.write([Change(self._runtime.time(), kind, body)])
        if isinstance(done, ValueError):
            raise done

    def run_maintenance(self) -> None:
        """Run due maintenance now, instead of within a quarter of a second."""
        self._maintenance.run_due()


@cache
def _receipt(result: TellResult) -> Receipt:
    return Receipt(result.status, None if result.outcome is None else Outcome(result.outcome))


def _receipts(results: Iterable[TellResult]) -> list[Receipt]:
    return list(map(_receipt, results))


def _end(runtime: TournamentRuntime) -> None:
    runtime.closed = True
    release(runtime.writer, runtime.name)


def _settings(storage: Storage, name: str) -> Settings:
    return Settings.from_dict(next(storage.read(name)).body)


def _check_text(what: str, text: object) -> str:
    if not isinstance(text, str) or len(text) > _MAX_REASON_CHARACTERS:
        raise ValueError(f"{what} must be a string of at most {_MAX_REASON_CHARACTERS} characters, got {brief(text)}")
    return text
