"""`RemoteTournament`: use a tournament of a service over HTTP."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

from rankduel.client.answers import (
    attribution_in,
    counts_in,
    duel_in,
    field,
    health_in,
    lines,
    next_in,
    receipt_in,
    row_in,
    settings_in,
    status_in,
    value_in,
    words,
)
from rankduel.client.calls import Calls
from rankduel.client.wire import event_of, name_of, path_of, query_of, show_of, tell_of
from rankduel.errors import TournamentExists, UnknownDuel, UnknownTournament
from rankduel.interleaving import Interleaved
from rankduel.live import (
    Counts,
    Departure,
    DuelRow,
    Event,
    LiveDecision,
    LiveDuel,
    Meeting,
    Receipt,
    Rollout,
    Standing,
    Status,
    Tournament,
)
from rankduel.live.defaults import DAY, DEFAULT_INTERLEAVING, DEFAULT_ROLLOUT_SHARE
from rankduel.live.results import Health
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import numbers_of
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.rules.validation import as_list, brief, check_name
from rankduel.live.settings import Settings, check_rollout_share, checked_dials
from rankduel.types import Outcome

__all__ = ["RemoteTournament", "names_at"]

_MAX_ITEMS_PER_REQUEST = 1_000
_MAX_TELL_THREADS = 4
T = TypeVar("T")


class RemoteTournament(Tournament, schemes=("http", "https")):
    """A tournament of a service, for scripts and operators. Each call is an HTTP request.

    See `Tournament` for methods without a docstring here. If the service is unreachable or rejects the API key, a call
    raises `StorageError`. In applications with waiting users, use `Client` instead.
    """

    def __init__(self, name: str, storage: str, key: str | None = None) -> None:
        self.name = check_name("the name of a tournament", name)
        self._calls = Calls(storage, key)
        self._threads: ThreadPoolExecutor | None = None  # for `tell_soon`

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
        settings = {"bandit": bandit, "delta": delta, "tolerance": tolerance, "seed": seed, "draft": draft}
        settings |= {"interleaving": interleaving, "expires_after": expires_after, **checked_dials(dials)}
        body = {"name": name, "rankers": as_list("rankers", rankers), **settings}
        tournament = cls(name, storage, key)
        try:
            if not exist_ok and tournament._exists():
                raise TournamentExists(
                    f"tournament {name!r} already exists in {storage}; open it, or pass exist_ok=True"
                )
            tournament._calls.send("POST", "/v1/tournaments", body)
        except BaseException:
            tournament.close()
            raise
        return tournament

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> Self:
        tournament = cls(name, storage, key)
        try:
            tournament._summary()
        except BaseException:
            tournament.close()
            raise
        return tournament

    @classmethod
    def delete(cls, name: str, *, storage: str, confirm: str, key: str | None = None) -> None:
        tournament = cls(name, storage, key)
        try:
            tournament._calls.send("DELETE", f"{tournament._at()}?{urlencode({'confirm': confirm})}", once=True)
        finally:
            tournament.close()

    def _exists(self) -> bool:
        try:
            self._summary()
        except UnknownTournament:
            return False
        return True

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
        self._calls.close()

    def __repr__(self) -> str:
        return f"<RemoteTournament {self.name!r} at {self._calls.url}>"

    # Ask

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        queries = [query_of(query, client) for query, client in as_list("asked", asked)]
        duels: list[LiveDuel] = []
        for batch in _batches(queries):
            answer = self._calls.send("POST", self._at("ask"), {"queries": batch})
            duels += [duel_in(each) for each in lines(answer, "duels", len(batch))]
        return duels

    # Tell

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Receipt]:
        return self._tell([tell_of(duel, outcome) for duel, outcome in as_list("told", told)])

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[Receipt]]:
        items = [tell_of(duel, outcome) for duel, outcome in as_list("told", told)]
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_MAX_TELL_THREADS, thread_name_prefix="rankduel remote")
        return self._threads.submit(self._tell, items)

    def _tell(self, items: list[dict[str, Any] | None]) -> list[Receipt]:
        return self._report("tell", "receipts", items, receipt_in, Receipt(Status.UNKNOWN, None))

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        items = [show_of(duel, page) for duel, page in as_list("shown", shown)]
        return self._report("show", "statuses", items, status_in, Status.UNKNOWN)

    def _report(
        self, path: str, results: str, items: list[dict[str, Any] | None], read: Callable[[Any], T], unknown: T
    ) -> list[T]:
        """Send items in batches and return their results. An item that is None is not sent: its result is `unknown`."""
        received: list[T] = []
        for batch in _batches([item for item in items if item is not None]):
            answer = self._calls.send("POST", self._at(path), batch)
            received += [read(each) for each in lines(answer, results, len(batch))]
        results_in_order = iter(received)
        return [unknown if item is None else next(results_in_order) for item in items]

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        events = [event_of(item) for item in as_list("seen", seen)]
        statuses: list[Status] = []
        path = f"/v1/events?{urlencode({'tournament': self.name})}"
        for batch in _batches(events):
            answer = self._calls.send("POST", path, batch)
            if errors := lines(answer, "errors"):
                raise ValueError(words(errors[0]))
            statuses += [status_in(each) for each in lines(answer, "statuses", len(batch))]
        return statuses

    # Read

    @property
    def status(self) -> str:
        status: str = field(self._summary(), "status", str)
        return status

    @property
    def rollout(self) -> Rollout | None:
        rollout = field(self._summary(), "rollout")
        return None if rollout is None else value_in(Rollout, rollout)

    @property
    def users_see(self) -> str:
        sentence: str = field(self._summary(), "users_see", str)
        return sentence

    def effects(self) -> dict[str, str]:
        sentences: dict[str, str] = field(self._summary(), "effects", dict[str, str])
        return sentences

    @property
    def settings(self) -> Settings:
        (created,) = lines(self._page("journal", 1, 0), "events", 1)
        return settings_in(self._summary(), created)

    @property
    def attribution(self) -> Attribution:
        return attribution_in(self.settings)

    @property
    def rankers(self) -> list[str]:
        return [field(line, "ranker", str) for line in self._pages("rankers", "rankers")]

    @property
    def champion(self) -> str:
        champion: str = field(self._summary(), "champion", str)
        return champion

    @property
    def winner(self) -> str | None:
        winner: str | None = field(self._summary(), "winner", str | None)
        return winner

    @property
    def counts(self) -> Counts:
        return counts_in(field(self._summary(), "duels"))

    def decision(self) -> LiveDecision:
        return value_in(LiveDecision, self._calls.send("GET", self._at("decision")))

    def leaderboard(self) -> list[Standing]:
        return [value_in(Standing, line) for line in self._pages("leaderboard", "standings")]

    def timeline(self) -> list[Departure]:
        return [value_in(Departure, line) for line in self._pages("timeline", "departures")]

    def preferences(self) -> list[Meeting]:
        return [value_in(Meeting, line) for line in self._pages("preferences", "pairs")]

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        if before is not None and numbers_of(before) is None:
            raise ValueError(f"before must be the id of a duel such as 3-17, got {brief(before)}")
        arms = {ranker: arm for arm, ranker in enumerate(self.rankers)}
        rows: list[DuelRow] = []
        while len(rows) < limit:
            answer = self._page("duels", min(_MAX_ITEMS_PER_REQUEST, limit - len(rows)), before)
            rows += [row_in(line, arms) for line in lines(answer, "duels")]
            before = next_in(answer, "duels", str)
            if before is None:
                break
        return rows[:limit]

    def health(self) -> Health:
        return health_in(self._calls.send("GET", self._at("health")))

    def journal(self, since: int = 0) -> Iterator[Event]:
        return (value_in(Event, line) for line in self._pages("journal", "events", since))

    # Operate. The service takes the operator from the API key, so `by` becomes part of the reason

    def start(self, reason: str = "", by: str = "") -> None:
        self._operate(":start", reason, by)

    def pause(self, reason: str = "", by: str = "") -> None:
        self._operate(":pause", reason, by)

    def stop(self, reason: str = "", by: str = "") -> None:
        self._operate(":stop", reason, by)

    def roll_out(
        self, share: float = DEFAULT_ROLLOUT_SHARE, ranker: str | None = None, reason: str = "", by: str = ""
    ) -> None:
        self._operate(":roll-out", reason, by, share=check_rollout_share(share), ranker=ranker)

    def roll_back(self, reason: str = "", by: str = "") -> None:
        self._operate(":roll-back", reason, by)

    def archive(self, reason: str = "", by: str = "") -> None:
        self._operate(":archive", reason, by)

    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        self._operate("", reason, by, verb="PATCH", **checked_dials(dials))

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        if names := as_list("rankers", rankers):
            self._operate("/rankers", reason, by, rankers=names)

    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._operate(f"{_part('rankers', ranker)}:retire", reason, by)

    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._operate(f"{_part('rankers', ranker)}:pause", reason, by)

    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        self._operate(f"{_part('rankers', ranker)}:start", reason, by)

    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        named = name_of(duel)
        if named is None:
            raise UnknownDuel(f"unknown duel {brief(duel)} in tournament {self.name!r}")
        id = duel.id if isinstance(duel, LiveDuel) else duel
        self._operate(f"{_part('duels', id or '')}:void", reason, by)

    def erase_client(self, client_id: str, reason: str = "", by: str = "") -> int:
        answer = self._operate(":erase-client", reason, by, client_id=check_name("client_id", client_id))
        duels: int = field(answer, "duels", int)
        return duels

    # Requests

    def _at(self, *more: str) -> str:
        return path_of(self.name, *more)

    def _summary(self) -> Any:
        return self._calls.send("GET", self._at())

    def _operate(self, path: str, reason: str, by: str, verb: str = "POST", **body: Any) -> Any:
        reason = f"{reason} ({by})" if reason and by else reason or by
        return self._calls.send(verb, self._at() + path, {**body, "reason": reason}, once=True)

    def _page(self, what: str, limit: int, after: object) -> Any:
        query = {"limit": limit} if after is None else {"limit": limit, "after": after}
        return self._calls.send("GET", f"{self._at(what)}?{urlencode(query)}")

    def _pages(self, what: str, name: str, after: int = 0) -> Iterator[Any]:
        following: int | None = after
        while following is not None:
            answer = self._page(what, _MAX_ITEMS_PER_REQUEST, following)
            yield from lines(answer, name)
            following = next_in(answer, name, int)


def names_at(storage: str, key: str | None = None, *, archived: bool = False) -> list[str]:
    """Return the names of all tournaments of a service, in alphabetical order. Archived ones only with `archived`."""
    calls = Calls(storage, key)
    names: list[str] = []
    try:
        after: str | None = ""
        while after is not None:
            given = {"limit": _MAX_ITEMS_PER_REQUEST, "archived": "true" if archived else "false"}
            query = urlencode(given | {"after": after} if after else given)
            answer = calls.send("GET", f"/v1/tournaments?{query}")
            names += [field(line, "name", str) for line in lines(answer, "tournaments")]
            after = next_in(answer, "tournaments", str)
    finally:
        calls.close()
    return names


def _batches(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), _MAX_ITEMS_PER_REQUEST):
        yield items[start : start + _MAX_ITEMS_PER_REQUEST]


def _part(kind: str, name: str) -> str:
    """Return the URL path of a ranker or a duel, relative to its tournament."""
    return path_of(kind, name).removeprefix("/v1/tournaments")
