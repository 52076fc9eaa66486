"""`LocalTournament`: run a tournament in this process, on SQLite or PostgreSQL."""

import weakref
from collections.abc import Iterable
from concurrent.futures import Future
from functools import cache
from typing import Any, Self

from rankduel.bandits import Bandit
from rankduel.errors import TournamentExists
from rankduel.interleaving import Interleaved
from rankduel.live import standings
from rankduel.live.defaults import DAY, DEFAULT_INTERLEAVING
from rankduel.live.operator_actions import OperatorActions, check_text
from rankduel.live.read_only import check_known
from rankduel.live.results import Counts, Health, LiveDuel, Receipt
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import Status
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.validation import as_list, check_name
from rankduel.live.runtime.clock import now
from rankduel.live.runtime.deletion import check_confirmed, delete_tournament
from rankduel.live.runtime.issuing import DuelIssuer
from rankduel.live.runtime.maintenance import Maintenance
from rankduel.live.runtime.recording import ResultRecorder
from rankduel.live.runtime.runtime import TournamentRuntime
from rankduel.live.runtime.state import load_state
from rankduel.live.settings import (
    Settings,
    check_same,
    new_settings,
)
from rankduel.live.storage.contract import Created, Opened, Storage, TellResult
from rankduel.live.storage.open_storages import acquire, release, release_dropped, schedule_maintenance
from rankduel.live.storage.writer import Writer
from rankduel.live.tournament import Tournament
from rankduel.types import Outcome

__all__ = ["LocalTournament"]


class LocalTournament(OperatorActions, Tournament, schemes=("",)):
    """A tournament that runs in this process. See `Tournament` for methods without a docstring here."""

    def __init__(self, runtime: TournamentRuntime, session: int) -> None:
        self._issuer = DuelIssuer(runtime, session)
        super().__init__(runtime, ResultRecorder(runtime, self._issuer))
        self.method = runtime.method
        self._maintenance = Maintenance(runtime)
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
        interleaving: str = DEFAULT_INTERLEAVING,
        expires_after: float = DAY,
        seed: int | None = None,
        draft: bool = False,
        exist_ok: bool = False,
        by: str = "",
        key: str | None = None,
        **dials: Any,
    ) -> Self:
        given = {"bandit": bandit, "delta": delta, "tolerance": tolerance, "seed": seed, **dials}
        given |= {"interleaving": interleaving, "expires_after": expires_after}
        settings = new_settings(rankers, **given)
        body = settings.to_dict() | {"by": check_text("by", by)} | ({"draft": True} if draft else {})
        writer = acquire(storage, check_name("the name of a tournament", name))
        try:
            (created,) = writer.put(name, [Created(now(), body)]).result()
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

    def check_same(
        self, *, rankers: Iterable[str], seed: int | None = None, draft: bool = False, by: str = "", **given: Any
    ) -> None:
        """Raise TournamentExists unless the tournament was created with these settings, by anyone, draft or not."""
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
    def delete(cls, name: str, *, storage: str, confirm: str, key: str | None = None) -> None:
        check_confirmed(name, confirm)
        try:
            writer = acquire(storage, check_name("the name of a tournament", name), create=False)
        except TournamentExists:
            raise ValueError(f"tournament {name!r} is open in this process; close it before you delete it") from None
        try:
            check_known(name, writer.storage)
            delete_tournament(writer, name)
        finally:
            release(writer, name)

    @classmethod
    def _opened(cls, name: str, writer: Writer) -> Self:
        # Each opening is a new session, so the id of a duel that a crash lost is never issued again.
        (session,) = writer.put(name, [Opened()]).result()
        return cls(TournamentRuntime(name, writer, *load_state(writer.storage, name)), session)

    def close(self) -> None:
        """Store a snapshot, so that the next opening is fast, and release the storage.

        If you do not call it, no acknowledged data is lost.
        """
        if not self._runtime.closed and not self._runtime.deleted:
            self._runtime.take_snapshot()
        if self._end.detach() is not None:
            self._runtime.closed = True
            release(self._runtime.writer, self.name)

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
    def deleted(self) -> bool:
        """Whether the tournament was deleted, by another process."""
        return self._runtime.deleted

    @property
    def failing(self) -> Exception | None:
        """The failure of the storage or the bandit, while users see the baseline; None if both work."""
        return self._runtime.failing

    def counters(self) -> dict[str, int]:
        """Return all durable counters."""
        return dict(self._runtime.counters)

    def snapshot(self) -> tuple[type[Bandit], bytes]:
        """Return the bandit's class and a snapshot of its current state. Making it holds the lock."""
        with self._lock:
            return type(self._state.bandit), self._state.bandit.snapshot()

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
    release_dropped(runtime.writer, runtime.name)


def _settings(storage: Storage, name: str) -> Settings:
    return Settings.from_dict(next(storage.read(name)).body)
