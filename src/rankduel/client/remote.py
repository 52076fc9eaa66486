"""`RemoteTournament`: a tournament of a service, with the face of one in this process."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self
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
from rankduel.client.wire import checked, event_of, path_of, query_of, show_of, tell_of
from rankduel.errors import TournamentExists, UnknownTournament
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
    Standing,
    Status,
)
from rankduel.live.remote_schemes import SCHEMES
from rankduel.live.results import Health
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.signals import Shown, Signal
from rankduel.live.settings import Settings
from rankduel.types import Outcome

__all__ = ["RemoteTournament", "names_at"]

_MOST = 1000  # items of a batch, and lines of a page


class RemoteTournament:
    """A tournament of a service, for scripts and operators: as `Tournament`, each call is one to the service.

    Made by `Tournament.create` and `Tournament.open` with a storage of `http://host:8080` or `https://host`. The API
    key is `key`, or that of the environment, `RANKDUEL_KEY`. What goes wrong raises what it would in process, and a
    service that cannot be reached or refuses the key is a `StorageError`. Where users wait, use `Client` instead.
    """

    def __init__(self, name: str, storage: str, key: str | None = None) -> None:
        self.name = checked("the name of a tournament", name)
        self._calls = Calls(storage, key)
        self._threads: ThreadPoolExecutor | None = None

    @classmethod
    def create(
        cls,
        name: str,
        *,
        rankers: Iterable[str],
        storage: str,
        key: str | None = None,
        exist_ok: bool = False,
        **settings: Any,
    ) -> Self:
        """Begin a tournament; the settings are those of `Tournament.create`."""
        tournament = cls(name, storage, key)
        if isinstance(rankers, str | bytes | Mapping) or not isinstance(rankers, Iterable):
            raise TypeError(f"rankers must be a list, got {rankers!r}")
        if not exist_ok and tournament._exists():
            raise TournamentExists(f"{name!r} is in {storage} already: open it, or create it with exist_ok=True")
        plain = {setting: _plain(value) for setting, value in settings.items()}
        tournament._calls.send("POST", "/v1/tournaments", {"name": name, "rankers": list(rankers), **plain})
        return tournament

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> Self:
        """Go on with a tournament."""
        tournament = cls(name, storage, key)
        tournament._look()
        return tournament

    def _exists(self) -> bool:
        try:
            self._look()
        except UnknownTournament:
            return False
        return True

    def close(self) -> None:
        """Let go of the connections."""
        if self._threads is not None:
            self._threads.shutdown()
        self._calls.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteTournament {self.name!r} at {self._calls.url}>"

    # Ask

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """The two rankers that should meet for a query; the same query gets the same duel."""
        return duel_in(self._calls.send("POST", self._at("ask"), query_of(query_id, client_id)))

    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """The same for many queries, each with a client or None."""
        queries = [query_of(query, client) for query, client in asked]
        duels: list[LiveDuel] = []
        for start in range(0, len(queries), _MOST):
            batch = queries[start : start + _MOST]
            answer = self._calls.send("POST", self._at("ask"), {"queries": batch})
            duels += [duel_in(each) for each in lines(answer, "duels", len(batch))]
        return duels

    # Tell

    def tell(
        self,
        duel: LiveDuel | str,
        outcome: Outcome | None = None,
        *,
        clicks: Iterable[Hashable] | None = None,
        shown: Interleaved | None = None,
    ) -> Receipt:
        """Who won a duel, or which documents were clicked; on return this is durable."""
        return self._tell([tell_of(duel, outcome, clicks, shown)])[0]

    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | None]]) -> list[Receipt]:
        """The same for many duels. Each has a receipt of its own."""
        return self._tell([tell_of(duel, outcome, None, None) for duel, outcome in told])

    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | None]]) -> Future[list[Receipt]]:
        """The same, without waiting: the receipts are in the future as soon as all is durable."""
        items = [tell_of(duel, outcome, None, None) for duel, outcome in told]
        if self._threads is None:
            self._threads = ThreadPoolExecutor(4, thread_name_prefix="rankduel remote")
        return self._threads.submit(self._tell, items)

    def _tell(self, items: list[dict[str, Any] | None]) -> list[Receipt]:
        """Where there was no duel there is nothing to send."""
        real = [item for item in items if item is not None]
        receipts: list[Receipt] = []
        for start in range(0, len(real), _MOST):
            batch = real[start : start + _MOST]
            answer = self._calls.send("POST", self._at("tell"), batch)
            receipts += [receipt_in(each) for each in lines(answer, "receipts", len(batch))]
        answered = iter(receipts)
        return [Receipt(Status.UNKNOWN, None) if item is None else next(answered) for item in items]

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> Status:
        """The page of a duel was shown; `page` is by default the one that `duel.interleave` has made."""
        return self.show_many([(duel, page)])[0]

    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        """The same for many duels."""
        items = [show_of(duel, page) for duel, page in shown]
        real = [item for item in items if item is not None]
        statuses: list[Status] = []
        for start in range(0, len(real), _MOST):
            batch = real[start : start + _MOST]
            answer = self._calls.send("POST", self._at("show"), batch)
            statuses += [status_in(each) for each in lines(answer, "statuses", len(batch))]
        answered = iter(statuses)
        return [Status.UNKNOWN if item is None else next(answered) for item in items]

    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """What users did, by the id of their query: it is kept, and decides the duel when its window closes."""
        events = [event_of(one) for one in seen]
        statuses: list[Status] = []
        path = f"/v1/events?{urlencode({'tournament': self.name})}"
        for start in range(0, len(events), _MOST):
            batch = events[start : start + _MOST]
            answer = self._calls.send("POST", path, batch)
            if errors := lines(answer, "errors"):
                raise ValueError(words(errors[0]))
            statuses += [status_in(each) for each in lines(answer, "statuses", len(batch))]
        return statuses

    # Where it stands

    @property
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""
        status: str = field(self._look(), "status", str)
        return status

    @property
    def settings(self) -> Settings:
        """What it is made of, as it is now. Seed and salt stay with the service: here they are -1 and empty."""
        (created,) = lines(self._page("journal", 1, 0), "events", 1)
        return settings_in(self._look(), created)

    @property
    def attribution(self) -> Attribution:
        """How what users do becomes the outcome of a duel."""
        return attribution_in(self.settings)

    @property
    def rankers(self) -> list[str]:
        """All rankers that ever took part, in the order in which they came."""
        return [field(line, "ranker", str) for line in self._pages("rankers", "rankers")]

    @property
    def champion(self) -> str:
        """The ranker that is the best guess now."""
        champion: str = field(self._look(), "champion", str)
        return champion

    @property
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""
        winner: str | None = field(self._look(), "winner", str | None)
        return winner

    @property
    def counts(self) -> Counts:
        """How many duels were asked for, and what became of them."""
        return counts_in(field(self._look(), "duels"))

    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or where it stands; by `str` in words."""
        return value_in(LiveDecision, self._calls.send("GET", self._at("decision")))

    def leaderboard(self) -> list[Standing]:
        """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""
        return [value_in(Standing, line) for line in self._pages("leaderboard", "standings")]

    def timeline(self) -> list[Departure]:
        """The rankers that are out, in the order in which they went."""
        return [value_in(Departure, line) for line in self._pages("timeline", "departures")]

    def preferences(self) -> list[Meeting]:
        """All pairs that have met, and how often each won."""
        return [value_in(Meeting, line) for line in self._pages("preferences", "pairs")]

    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """The latest duels, or the latest before the one of that id; newest first."""
        arms = {ranker: arm for arm, ranker in enumerate(self.rankers)}
        rows: list[DuelRow] = []
        while len(rows) < limit:
            answer = self._page("duels", min(_MOST, limit - len(rows)), before)
            rows += [row_in(line, arms) for line in lines(answer, "duels")]
            before = next_in(answer, "duels", str)
            if before is None:
                break
        return rows[:limit]

    def health(self) -> Health:
        """Whether all is well: what became of asks, tells and signals, and what has failed."""
        return health_in(self._calls.send("GET", self._at("health")))

    def journal(self, since: int = 0) -> Iterator[Event]:
        """All that has happened after event number `since`, as it is stored."""
        return (value_in(Event, line) for line in self._pages("journal", "events", since))

    # Operate. The service knows by the key who did it.

    def start(self, reason: str = "", by: str = "") -> None:
        """Go on after `pause`."""
        self._operate(":start", reason, by)

    def pause(self, reason: str = "", by: str = "") -> None:
        """No more duels until `start`; what is in flight may still be told."""
        self._operate(":pause", reason, by)

    def stop(self, reason: str = "", by: str = "") -> None:
        """The end: no more duels for good; what is in flight may still be told."""
        self._operate(":stop", reason, by)

    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        """Change settings while it runs: those that `create` names as such."""
        plain = {dial: _plain(value) for dial, value in dials.items()}
        self._operate("", reason, by, verb="PATCH", **plain)

    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        """Let more rankers take part. Only for bandits that can add arms, as CertifiedSparring."""
        if isinstance(rankers, str | bytes | Mapping) or not isinstance(rankers, Iterable):
            raise TypeError(f"rankers must be a list, got {rankers!r}")
        if names := list(rankers):
            self._operate("/rankers", reason, by, rankers=names)

    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Take a ranker out for good. Only for bandits that can retire arms, as CertifiedSparring."""
        self._operate(f"{_part('rankers', ranker)}:retire", reason, by)

    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Let a ranker meet nobody until `start_ranker`; it stays in the race."""
        self._operate(f"{_part('rankers', ranker)}:pause", reason, by)

    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Let a paused ranker meet others again."""
        self._operate(f"{_part('rankers', ranker)}:start", reason, by)

    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        """Declare that a duel shall not be learnt. Too late for one that was told."""
        known = duel.id if isinstance(duel, LiveDuel) else duel
        if known is None:
            raise ValueError(f"no duel {duel!r} in {self.name!r}")
        self._operate(f"{_part('duels', known)}:void", reason, by)

    # The wire

    def _at(self, *more: str) -> str:
        return path_of(self.name, *more)

    def _look(self) -> Any:
        return self._calls.send("GET", self._at())

    def _operate(self, what: str, reason: str, by: str, verb: str = "POST", **body: Any) -> None:
        told = f"{reason} ({by})" if reason and by else reason or by
        self._calls.send(verb, self._at() + what, {**body, "reason": told}, once=True)

    def _page(self, what: str, limit: int, after: object) -> Any:
        query = {"limit": limit} if after is None else {"limit": limit, "after": after}
        return self._calls.send("GET", f"{self._at(what)}?{urlencode(query)}")

    def _pages(self, what: str, name: str, after: int = 0) -> Iterator[Any]:
        following: int | None = after
        while following is not None:
            answer = self._page(what, _MOST, following)
            yield from lines(answer, name)
            following = next_in(answer, name, int)


def names_at(storage: str, key: str | None = None) -> list[str]:
    """The tournaments of a service, in alphabetical order."""
    calls = Calls(storage, key)
    names: list[str] = []
    try:
        after: str | None = ""
        while after is not None:
            query = urlencode({"limit": _MOST, "after": after} if after else {"limit": _MOST})
            answer = calls.send("GET", f"/v1/tournaments?{query}")
            names += [field(line, "name", str) for line in lines(answer, "tournaments")]
            after = next_in(answer, "tournaments", str)
    finally:
        calls.close()
    return names


def _part(kind: str, name: str) -> str:
    """The place of a ranker or a duel, behind that of its tournament."""
    return path_of(kind, checked("a name", name)).removeprefix("/v1/tournaments")


def _plain(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


SCHEMES.update({"http": RemoteTournament, "https": RemoteTournament})
