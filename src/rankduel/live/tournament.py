"""`Tournament`: the interface of live tournaments, local or remote."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from rankduel.interleaving import Interleaved
from rankduel.live.defaults import DAY, DEFAULT_INTERLEAVING, DEFAULT_ROLLOUT_SHARE
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
from rankduel.live.rules.lifecycle import Rollout
from rankduel.live.rules.signals import Clicks, Shown, Signal
from rankduel.live.settings import Settings
from rankduel.types import Outcome

__all__ = ["Tournament"]

_ANY_OTHER = ""  # the key of the class for addresses whose scheme has no class of its own
_CLASSES: dict[str, type["Tournament"]] = {}  # by the scheme of the address


class Tournament(ABC):
    """A durable tournament of rankers on live traffic. Thread-safe.

    `ask` returns the two rankers to compare for a query. `tell` stores the outcome. Tells may arrive late, twice or
    never. A tell that was acknowledged is durable and counts once.

    `create` and `open` return a `LocalTournament` for the address of a database, and a `RemoteTournament` for the
    address of a service. Both have the same methods and raise the same exceptions:

    - ValueError or TypeError: an invalid argument, or an action that the state of the tournament does not allow
    - UnknownTournament, TournamentExists, UnknownDuel: an unknown tournament or duel, or a name that is in use
    - StorageError: the storage or the service failed, or the tournament is closed

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
        """Register a class, so that `create` and `open` use it for addresses with these schemes."""
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
        interleaving: str = DEFAULT_INTERLEAVING,
        expires_after: float = DAY,
        seed: int | None = None,
        draft: bool = False,
        exist_ok: bool = False,
        by: str = "",
        key: str | None = None,
        **dials: Any,
    ) -> "Tournament":
        """Create a tournament.

        - `storage`: address of a database, `sqlite:///duels.db` or `postgresql://...`, or of a service,
          `http://host:8080`.
        - `key`: API key of the service, by default the environment variable `RANKDUEL_KEY`.
        - `bandit`: spec of a bandit in the registry, or `module:Class`. The default is `CertifiedSparring`. It
          eliminates the best ranker with probability at most `delta` (0.01), over the whole run, provided that one
          ranker is at least as good as all others, and that outcomes are independent with preferences that do not
          change. With a `tolerance`, it also ends when the remaining rankers are that close to each other.
        - `expires_after`: seconds after the ask until a duel expires. Later outcomes are not learnt.
        - `draft`: create it without issuing duels. Users see the baseline until `start`.
        - `exist_ok`: open the tournament if it already exists with these settings.
        - `by`: who creates it, for the journal. A service takes the name of the API key instead.
        - `dials`: settings that `configure` can change later. `baseline` is shown if there is no duel (by default the
          first ranker). It must be a ranker, unless you set `external_baseline`. `share` is the share of the traffic
          that takes part. `after_decision` says what this share sees after a decision: `winner`, `baseline`, or
          `compare` for duels of the winner against the baseline. `daily_cap` limits the duels of a client per day,
          `in_flight_cap` the duels in flight. `guardrails` and `attribution` are rules. With `shadow`, the tournament
          is a dry run: duels are chosen and logged, users see the baseline.
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
            draft=draft,
            exist_ok=exist_ok,
            by=by,
            key=key,
            **dials,
        )

    @classmethod
    def open(cls, name: str, *, storage: str, key: str | None = None) -> "Tournament":
        """Open an existing tournament. It continues exactly where its journal ends."""
        return _class_for(storage, key).open(name, storage=storage, key=key)

    @classmethod
    def delete(cls, name: str, *, storage: str, confirm: str, key: str | None = None) -> None:
        """Delete a tournament with all its data, for good. Its name can be used again.

        The tournament must be a draft, stopped or archived, and not open in this process. `confirm` must be its name.
        """
        _class_for(storage, key).delete(name, storage=storage, confirm=confirm, key=key)

    @abstractmethod
    def close(self) -> None:
        """Release the storage, or the connections to the service. Without it, no acknowledged data is lost."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Ask

    def ask(self, query_id: str | None = None, client_id: str | None = None) -> LiveDuel:
        """Get the two rankers to compare for a query. The same query gets the same duel.

        If there is no duel, `id` is None, `serve` is "baseline" or "winner", and `first` and `second` are both the
        ranker to show. Then there is nothing to tell. Client ids are stored as hashes.
        """
        return self.ask_many([(query_id, client_id)])[0]

    @abstractmethod
    def ask_many(self, asked: Iterable[tuple[str | None, str | None]]) -> list[LiveDuel]:
        """Ask for many duels at once. Each item is a query id and a client id; both may be None."""

    # Tell

    def tell(
        self,
        duel: LiveDuel | str,
        outcome: Outcome | None = None,
        *,
        clicks: Iterable[Hashable] | None = None,
        shown: Interleaved | None = None,
    ) -> Receipt:
        """Store the outcome of a duel, or the documents that were clicked. It is durable when this returns.

        `duel` is what `ask` returned, its id or its ticket. Clicks are credited on the page that `duel.interleave`
        made, or on `shown`. The attribution rules decide about equal credit and pages without clicks. Repeating a tell
        changes nothing.
        """
        result = outcome_or_clicks(duel, outcome, clicks, shown)
        return Receipt(Status.UNKNOWN, None) if result is None else self.tell_many([(duel, result)])[0]

    @abstractmethod
    def tell_many(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> list[Receipt]:
        """Store the outcomes or clicks of many duels. Return one receipt for each."""

    @abstractmethod
    def tell_soon(self, told: Iterable[tuple[LiveDuel | str, Outcome | Clicks]]) -> Future[list[Receipt]]:
        """Like `tell_many`, without waiting. The future has the receipts as soon as everything is durable.

        Raise StorageError if the write queue is full.
        """

    def show(self, duel: LiveDuel | str, page: Interleaved | None = None) -> Status:
        """Report that the page of a duel was shown, by default the page that `duel.interleave` made."""
        return self.show_many([(duel, page)])[0]

    @abstractmethod
    def show_many(self, shown: Iterable[tuple[LiveDuel | str, Interleaved | None]]) -> list[Status]:
        """Report many shown pages at once."""

    @abstractmethod
    def observe(self, seen: Iterable[Signal | Shown]) -> list[Status]:
        """Store signals (user actions, by query id) and shown pages. Signals resolve a duel when its window closes.

        This works only for duels whose page was reported, here or by `show`. Returns a status for each item:
        `accepted`, `duplicate`, `late` (the duel is over), `unknown` (the query has no duel) or `limit` (the duel has
        the maximum number of signals).
        """

    # Read

    @property
    @abstractmethod
    def status(self) -> str:
        """`draft`, `running`, `paused`, `decided`, `rolled_out`, `stopped` or `archived`."""

    @property
    @abstractmethod
    def rollout(self) -> Rollout | None:
        """The ranker that is rolled out, and the share of all traffic that sees it; None without a roll-out."""

    @property
    @abstractmethod
    def users_see(self) -> str:
        """What users see now, in one sentence."""

    @abstractmethod
    def effects(self) -> dict[str, str]:
        """Return what users will see after each action that is possible now: a sentence by name of the action."""

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The current settings. A service does not send the seed and the salt: there they are -1 and ""."""

    @property
    @abstractmethod
    def attribution(self) -> Attribution:
        """The rules that turn signals and clicks into the outcome of a duel."""

    @property
    @abstractmethod
    def rankers(self) -> list[str]:
        """All rankers, eliminated and retired ones included, in the order in which they were added."""

    @property
    @abstractmethod
    def champion(self) -> str:
        """The current best guess."""

    @property
    @abstractmethod
    def winner(self) -> str | None:
        """The ranker declared the best, or None while several are left."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """The number of duels by state."""

    @abstractmethod
    def decision(self) -> LiveDecision:
        """Return the winner, the tied rankers or the current leader. `str` puts it in words."""

    @abstractmethod
    def leaderboard(self) -> list[Standing]:
        """Return all rankers: the champion, the others left, the eliminated, the retired; each group by rating.

        The rating is the Bradley-Terry rating. It takes into account which opponents a ranker met.
        """

    @abstractmethod
    def timeline(self) -> list[Departure]:
        """Return the eliminated and retired rankers, in the order in which they left."""

    @abstractmethod
    def preferences(self) -> list[Meeting]:
        """Return all pairs that have met, with the wins of each side."""

    @abstractmethod
    def duels(self, limit: int = 100, before: str | None = None) -> list[DuelRow]:
        """Return the latest duels, or the latest before the duel with the id `before`; newest first.

        A service does not send clients, propensities and pages: there they are None. The page is "" if it was removed
        by retention or an erasure.
        """

    @abstractmethod
    def health(self) -> Health:
        """Return counters of asks, tells and signals, and current failures."""

    @abstractmethod
    def journal(self, since: int = 0) -> Iterator[Event]:
        """Return all events after event number `since`, as stored."""

    # Operate

    @abstractmethod
    def start(self, reason: str = "", by: str = "") -> None:
        """Start a draft, or resume after `pause`. A roll-out continues, too."""

    @abstractmethod
    def pause(self, reason: str = "", by: str = "") -> None:
        """Issue no duels and show the baseline until `start`. Duels in flight can still be resolved."""

    @abstractmethod
    def stop(self, reason: str = "", by: str = "") -> None:
        """End the tournament for good: it issues no more duels, and all users see the baseline, also after a decision.

        Duels in flight can still be resolved.
        """

    @abstractmethod
    def roll_out(
        self, share: float = DEFAULT_ROLLOUT_SHARE, ranker: str | None = None, reason: str = "", by: str = ""
    ) -> None:
        """Show a ranker to a share of all traffic after the decision, and the baseline to all others.

        `ranker` is one that is left, by default the winner. Call it again to change the share: clients that are in stay
        in when it grows. Guardrails stay armed.
        """

    @abstractmethod
    def roll_back(self, reason: str = "", by: str = "") -> None:
        """End a roll-out: all users see the baseline. This sets `after_decision` to "baseline"."""

    @abstractmethod
    def archive(self, reason: str = "", by: str = "") -> None:
        """End the tournament for good and hide it from lists. All users see the baseline."""

    @abstractmethod
    def configure(self, *, reason: str = "", by: str = "", **dials: Any) -> None:
        """Change settings while the tournament runs. `create` lists them under `dials`."""

    @abstractmethod
    def add_rankers(self, rankers: Iterable[str], reason: str = "", by: str = "") -> None:
        """Add rankers, up to 10,000 in total. Requires a bandit that can add arms, such as CertifiedSparring."""

    @abstractmethod
    def retire(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Remove a ranker for good. Requires a bandit that can retire arms, such as CertifiedSparring."""

    @abstractmethod
    def pause_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Issue no duels with a ranker until `start_ranker`. It is not eliminated."""

    @abstractmethod
    def start_ranker(self, ranker: str, reason: str = "", by: str = "") -> None:
        """Resume duels with a paused ranker."""

    @abstractmethod
    def void(self, duel: LiveDuel | str, reason: str = "", by: str = "") -> None:
        """Declare a duel void, so that its outcome is not learnt.

        Raise ValueError if the duel is already resolved, UnknownDuel if it does not exist.
        """

    @abstractmethod
    def erase_client(self, client_id: str, reason: str = "", by: str = "") -> int:
        """Remove the data of a client: the hash of its id, and the pages, signals and query ids of its duels.

        Return the number of its duels. Outcomes stay, because what was learnt does not name anybody. Open duels become
        void. The journal records the erasure without the client.
        """


def _class_for(storage: object, key: str | None) -> type[Tournament]:
    """Return the class for tournaments at an address.

    >>> _class_for("sqlite:///duels.db", key=None).__name__
    'LocalTournament'
    >>> _class_for("sqlite:///duels.db", key="rd_1_secret")
    Traceback (most recent call last):
    ValueError: key is only for a service at an http address, got storage 'sqlite:///duels.db'
    """
    scheme = storage.partition("://")[0] if isinstance(storage, str) else ""
    if scheme in ("http", "https") and scheme not in _CLASSES:
        raise ValueError(f"cannot open {storage!r} yet; import rankduel.client first")
    tournament_class = _CLASSES.get(scheme, _CLASSES[_ANY_OTHER])
    if key is not None and tournament_class is _CLASSES[_ANY_OTHER]:
        raise ValueError(f"key is only for a service at an http address, got storage {storage!r}")
    return tournament_class
