"""`Tournament`: the interface of a live tournament, whether it runs in this process or in a service."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from rankduel.interleaving import Interleaved
from rankduel.live.results import (
    Counts,
    Departure,
    Health,
    LiveDecision,
    LiveDuel,
    Meeting,
    Receipt,
    Standing,
    outcome_or_clicks,
)
from rankduel.live.rules.attribution import Attribution
from rankduel.live.rules.duels import DuelRow, Status
from rankduel.live.rules.events import Event
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.settings import DAY, Settings
from rankduel.types import Outcome

__all__ = ["Tournament"]

_ANY_OTHER = ""  # the scheme of the class that opens addresses whose scheme no other class has
_CLASSES: dict[str, type["Tournament"]] = {}  # by the scheme of the addresses that they open


class Tournament(ABC):
    """Rankers that duel on live traffic, stored durably. Any number of threads may use one object.

    `ask` names the two rankers to compare for a query; `tell` takes what users did, late, twice or never. Everything
    that `tell` has acknowledged is durable, and counts once.

    `create` and `open` return a `LocalTournament` for the address of a database, and a `RemoteTournament` for the
    address of a service. Both do the same, and raise the same errors:

    - ValueError or TypeError: a wrong argument, or an action that the state of the tournament does not allow
    - UnknownTournament, TournamentExists, UnknownDuel: no such tournament or duel, or the name is taken
    - StorageError: the storage or the service does not work, or the tournament was closed

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> storage = f"sqlite:///{folder.name}/duels.db"
    >>> t = Tournament.create("home-search", rankers=["bm25", "ltr", "ltr-2"], storage=storage, seed=1)
    >>> duel = t.ask(query_id="q-81")
    >>> t.ask(query_id="q-81") == duel
    True
    >>> t.tell(duel, Outcome.FIRST)
    Receipt(status=<Status.ACCEPTED: 'accepted'>, outcome=<Outcome.FIRST: 'first'>)
    >>> t.tell(duel, Outcome.FIRST).status
    <Status.DUPLICATE: 'duplicate'>
    >>> t.close()
    >>> with Tournament.open("home-search", storage=storage) as t:
    ...     t.counts.resolved
    1
    >>> folder.cleanup()
    """

    name: str

    def __init_subclass__(cls, schemes: Iterable[str] = (), **more: Any) -> None:
        """Let `create` and `open` use a class for addresses of these schemes."""
        super().__init_subclass__(**more)
        _CLASSES.update(dict.fromkeys(schemes, cls))

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
    ) -> "Tournament":
        """Create a tournament.

        - `storage` is an address: `sqlite:///duels.db`, `postgresql://...`, or that of a service, `http://host:8080`,
          for which `key` is the API key (by default `RANKDUEL_KEY` of the environment).
        - `bandit` is a name of the registry with its options, or `module:Class`. By default it is `CertifiedSparring`,
          which eliminates the best ranker with probability `delta` at most (0.01) and, with a `tolerance`, ends also
          where several rankers are that close.
        - An outcome that comes more than `expires_after` seconds after the ask is not learnt.
        - With `exist_ok`, a tournament that exists with these settings is opened.
        - The other settings can be changed later by `configure`: `baseline` is what users see where there is no duel
          (by default the champion), `share` the share of the traffic that takes part, `daily_cap` the most duels of a
          client in a day, `in_flight_cap` the most duels in flight, `guardrails` and `attribution` are rules; with
          `shadow`, duels are chosen and not shown.
        """
        return _class_for(storage, key).create(
            name,
            rankers=rankers,
            storage=storage,
            bandit=bandit,
            delta=delta,
            tolerance=tolerance,
            interleaving=interleaving,
            expires_after=expires_after,
            seed=seed,
            exist_ok=exist_ok,
            key=key,
            **dials,
        )

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> "Tournament":
        """Open a tournament; it goes on exactly where its journal ends."""
        return _class_for(storage, key).open(name, storage=storage, key=key)

    @abstractmethod
    def close(self) -> None:
        """Release the storage, or the connections to the service. Nothing is lost without it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Ask

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """Choose the two rankers to compare for a query; the same query gets the same duel.

        Where there is no duel, `serve` says what to show instead, `first` and `second` are both that ranker, there is
        no `id`, and nothing to tell. Client ids are stored as hashes.
        """
        return self.ask_many([(query_id, client_id)])[0]

    @abstractmethod
    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Ask for many duels at once, each by query and client, or None."""

    # Tell

    def tell(
        self,
        duel: LiveDuel | str,
        outcome: Outcome | None = None,
        *,
        clicks: Iterable[Hashable] | None = None,
        shown: Interleaved | None = None,
    ) -> Receipt:
        """Store who won a duel, or which documents were clicked; on return this is durable.

        `duel` is what `ask` has returned, or its id, or its ticket. Clicks are credited on the page that
        `duel.interleave` has made, or on `shown`; the attribution says what equal credit and no click mean. Telling
        the same again changes nothing.
        """
        told = outcome_or_clicks(duel, outcome, clicks, shown)
        return Receipt(Status.UNKNOWN, None) if told is None else self.tell_many([(duel, told)])[0]

    @abstractmethod
    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Receipt]:
        """Tell many duels, with one receipt each."""

    @abstractmethod
    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[Receipt]]:
        """Tell many duels without waiting: the future has the receipts as soon as all is durable.

        StorageError if too much waits to be written.
        """

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> Status:
        """Report that the page of a duel was shown; by default the page that `duel.interleave` has made."""
        return self.show_many([(duel, page)])[0]

    @abstractmethod
    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        """Report many pages at once."""

    @abstractmethod
    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """Store signals (what users did, by the id of their query); they resolve the duel when its window closes.

        A duel is resolved so only if its page was reported, here or by `show`. Each signal has a status: `accepted`,
        `duplicate`, `late` (its duel is over), `unknown` (its query has no duel) or `limit` (its duel has as many
        signals as a duel may have).
        """

    # Read

    @property
    @abstractmethod
    def status(self) -> str:
        """`running`, `paused` or `stopped`."""

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings as they are now. A service keeps the seed and the salt: there they are -1 and empty."""

    @property
    @abstractmethod
    def attribution(self) -> Attribution:
        """How signals and clicks become the outcome of a duel."""

    @property
    @abstractmethod
    def rankers(self) -> list[str]:
        """All rankers that ever took part, in the order in which they were added."""

    @property
    @abstractmethod
    def champion(self) -> str:
        """The ranker that is the best guess now."""

    @property
    @abstractmethod
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """How many duels were issued, and what became of them."""

    @abstractmethod
    def decision(self) -> LiveDecision:
        """The winner, or the rankers that are tied, or who is ahead; `str` puts it in words."""

    @abstractmethod
    def leaderboard(self) -> list[Standing]:
        """All rankers: the champion, others that are left by their share of wins, those out from the last one on."""

    @abstractmethod
    def timeline(self) -> list[Departure]:
        """The rankers that are out, in the order in which they left."""

    @abstractmethod
    def preferences(self) -> list[Meeting]:
        """All pairs that have met, and how often each won."""

    @abstractmethod
    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """The latest duels, or the latest before the one with that id; newest first.

        A service keeps clients, propensities and pages: there they are None.
        """

    @abstractmethod
    def health(self) -> Health:
        """Counters of asks, tells and signals, and what has failed."""

    @abstractmethod
    def journal(self, since: int = 0) -> Iterator[Event]:
        """All events after event number `since`, as they are stored."""

    # Operate

    @abstractmethod
    def start(self, reason: str = "", by: str = "") -> None:
        """Issue duels again after `pause`."""

    @abstractmethod
    def pause(self, reason: str = "", by: str = "") -> None:
        """Issue no duels until `start`; duels in flight may still be told."""

    @abstractmethod
    def stop(self, reason: str = "", by: str = "") -> None:
        """End the tournament: no duels any more; duels in flight may still be told."""

    @abstractmethod
    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        """Change settings while the tournament runs: those that `create` lists as `dials`."""

    @abstractmethod
    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        """Add rankers, up to 10,000 in all. Only for bandits that can add arms, such as CertifiedSparring."""

    @abstractmethod
    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Take a ranker out for good. Only for bandits that can retire arms, such as CertifiedSparring."""

    @abstractmethod
    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Issue no duels of a ranker until `start_ranker`; it is not eliminated."""

    @abstractmethod
    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Issue duels of a paused ranker again."""

    @abstractmethod
    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        """Declare a duel void: it will not be learnt. ValueError if it was told, UnknownDuel if there is none."""


def _class_for(storage: object, key: str | None) -> type[Tournament]:
    """The class that opens tournaments at an address.

    >>> _class_for("sqlite:///duels.db", key=None).__name__
    'LocalTournament'
    >>> _class_for("sqlite:///duels.db", key="rd_1_secret")
    Traceback (most recent call last):
    ValueError: a key is for the service at an http address, not for 'sqlite:///duels.db'
    """
    scheme = storage.partition("://")[0] if isinstance(storage, str) else ""
    if scheme in ("http", "https") and scheme not in _CLASSES:
        raise ValueError(f"import rankduel.client first, to reach {storage!r}")
    found = _CLASSES.get(scheme, _CLASSES[_ANY_OTHER])
    if key is not None and found is _CLASSES[_ANY_OTHER]:
        raise ValueError(f"a key is for the service at an http address, not for {storage!r}")
    return found
