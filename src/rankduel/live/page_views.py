"""Page views: collect the clicks of a user on one page, and tell them together, once."""

import json
import logging
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from time import monotonic
from types import TracebackType
from typing import Protocol, Self

from rankduel.errors import StorageError
from rankduel.interleaving import Interleaved
from rankduel.live.results import LiveDuel, Receipt
from rankduel.live.rules.duels import Status
from rankduel.live.rules.signals import Clicks
from rankduel.live.rules.validation import brief, number, whole

__all__ = ["PageView", "PageViews"]

_MAX_VIEWS_PER_TELL = 500
_MAX_TOLD = 100_000  # names of duels that are known to be told
_IDLE_CHECK_SECONDS = 10.0  # between two checks for idle views
_MAX_TIMEOUT_SECONDS = 86_400.0
_REPEAT_SECONDS = 3600.0  # between two warnings
_TITLES = {
    "told-early": "told early because too many are open",
    "not-told": "not told",
    "no-view": "no open view",
}
_log = logging.getLogger("rankduel")


class TellMany(Protocol):
    """`tell_many` of a tournament."""

    def __call__(self, told: list[tuple[LiveDuel | str, Clicks]], /) -> Sequence[Receipt]:
        """Tell the clicks on some pages. Return a receipt for each."""


class PageView:
    """The clicks of a user on one page. They are told when the view is closed.

    `PageViews.open` and `Client.page_view` make views. A view is also a context manager.
    """

    def __init__(self, views: "PageViews", duel: LiveDuel | str, shown: Interleaved | None, size: int = 0) -> None:
        self.duel, self.shown = duel, shown
        self._views, self._size = views, size
        self._documents = {} if shown is None else {str(document): document for document in shown.documents}
        self._clicked: dict[str, None] = {}
        self._active = 0.0  # the time of the last activity
        self._names: set[str] = set()

    @property
    def clicks(self) -> list[Hashable]:
        """The clicked documents so far, in the order of their first clicks."""
        return [self._documents[name] for name in list(self._clicked)]

    @property
    def is_open(self) -> bool:
        """Whether clicks still count: the view is neither closed nor timed out."""
        return self in self._views

    def click(self, document: Hashable) -> bool:
        """Add a click. Return False if it does not count: the view is closed, or the document is not on its page.

        Documents are compared as text, so `7` and `"7"` are the same. A document counts once.
        """
        return self._views.click(self, document)

    def close(self) -> None:
        """Tell the clicks, also if there are none. After the first time, this does nothing."""
        self._views.close_view(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class PageViews:
    """Open page views of one tournament. Each duel is told once, with all clicks on its page. Thread-safe.

    A view is told when you close it, after `timeout` seconds without activity, and when the program exits. At most
    `max_views` views with pages of `max_bytes` bytes in total are open. Beyond that, the view that was idle longest is
    told early. If the program is killed, its open views are lost.

    Parameters
    ----------
    tell_many : the method of a `Tournament`; with a `Client`, use `client.page_view` instead of this class
    timeout : seconds without activity after which a view is told
    max_views : maximum number of open views
    max_bytes : maximum size of the pages of all open views as JSON

    >>> page = Interleaved("team_draft", ("d1", "d2", "d3"))
    >>> def tell_many(told):
    ...     print(*((duel, clicks.clicks) for duel, clicks in told))
    ...     return []
    >>> views = PageViews(tell_many)
    >>> views.open("3-17", page).click("d3")
    True
    >>> with views.open("3-17") as view:
    ...     view.click("d1"), view.click("d9")
    (True, False)
    ('3-17', ('d3', 'd1'))
    """

    def __init__(
        self, tell_many: TellMany, *, timeout: float = 600.0, max_views: int = 50_000, max_bytes: int = 64_000_000
    ) -> None:
        self._tell_many = tell_many
        self.timeout = number("timeout", timeout, below=_MAX_TIMEOUT_SECONDS)
        self.max_views = whole("max_views", max_views, at_least=1)
        self.max_bytes = whole("max_bytes", max_bytes, at_least=1)
        self._problems: dict[str, int] = {}  # views by kind of problem
        self._warned: dict[str, float] = {}  # the time of the last warning, by kind of problem
        self._forked()
        _all.add(self)
        weakref.finalize(self, _ended, weakref.ref(self))  # at exit, finalizers of later objects run first

    def _forked(self) -> None:
        """Start without views. After a fork, the parent tells those that are open."""
        self._views: OrderedDict[PageView, None] = OrderedDict()  # the one that is idle longest comes first
        self._by_name: dict[str, PageView] = {}  # by id and ticket of the duel
        self._told: dict[int, None] = {}  # hashes of the names of duels that were told, the oldest first
        self._bytes = 0
        self._ending = False
        self._thread: threading.Thread | None = None
        self._changed = threading.Condition()

    def __len__(self) -> int:
        return len(self._views)

    def __contains__(self, view: object) -> bool:
        return view in self._views

    def open(self, duel: LiveDuel | str, shown: Interleaved | None = None) -> PageView:
        """Return the open view of a duel, or open one. `duel` is what `ask` returned, its id or its ticket.

        `shown` is the page, by default the page of `duel.interleave`. The open view of a duel needs no page. If `ask`
        returned no duel, the view ignores clicks and tells nothing. So does the view of a duel that was told before,
        which is logged.
        """
        names = _names(duel)
        if not names:
            return PageView(self, duel, None)
        with self._changed:
            view, reason = self._known(names), self._refusal(names)
        if view is not None:
            return view
        if shown is None and isinstance(duel, LiveDuel):
            shown = duel.shown
        if shown is not None and not isinstance(shown, Interleaved):
            raise TypeError(f"a page must be what duel.interleave() returned, got {brief(shown)}")
        if shown is None or reason is not None:
            self._report("no-view", reason or "no page given: call duel.interleave() first, or pass shown=", 1)
            return PageView(self, duel, None)
        made, early = PageView(self, duel, shown, size=self._size_of(duel, shown)), list[PageView]()
        with self._changed:
            if (view := self._known(names)) is not None:  # opened by another thread meanwhile
                return view
            if self._refusal(names) is None:
                self._add(made, names)
                early = [self._pop() for _ in range(self._excess())]
        if early:
            self._tell_safely(early)
            self._report("told-early", f"{len(self)} page views are open", len(early))
        return made

    def click(self, view: PageView, document: Hashable) -> bool:
        """Add a click to a view. Return False if it does not count."""
        with self._changed:
            name = str(document)
            if view not in self._views or name not in view._documents:
                return False
            view._clicked[name] = None
            self._touch(view)
            return True

    def close_view(self, view: PageView) -> None:
        """Tell the clicks of a view, unless that was done."""
        with self._changed:
            if view not in self._views:
                return
            self._remove(view)
        self._tell([view])

    def close(self) -> None:
        """Tell all open views, and open no more."""
        with self._changed:
            self._ending = True
            views = [self._pop() for _ in range(len(self._views))]
            self._changed.notify_all()
        self._tell_safely(views)

    def abandon(self) -> None:
        """Tell all open views soon, in the background. Never blocks: the garbage collector may call this."""
        self._ending = True
        if self._changed.acquire(blocking=False):
            try:
                self._changed.notify_all()
            finally:
                self._changed.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _size_of(self, duel: LiveDuel | str, shown: Interleaved) -> int:
        """Return the size of a view in bytes."""
        return len(json.dumps(shown.to_dict(), default=str))

    # With the lock

    def _known(self, names: set[str]) -> PageView | None:
        """Return the open view of a duel, and remember all names of the duel."""
        view = next((self._by_name[name] for name in names if name in self._by_name), None)
        if view is not None:
            view._names |= names
            self._by_name |= dict.fromkeys(names, view)
            self._touch(view)
        return view

    def _refusal(self, names: set[str]) -> str | None:
        """Return why a duel can have no new view; None if it can."""
        if self._ending:
            return "page views are closed"
        if any(hash(name) in self._told for name in names):
            return "its duel was told before"
        return None

    def _add(self, view: PageView, names: set[str]) -> None:
        view._names = names
        self._by_name |= dict.fromkeys(names, view)
        self._views[view] = None
        self._bytes += view._size
        self._touch(view)
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._run, name="rankduel page views", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return  # no thread available now: the next view tries again
            self._thread = thread

    def _excess(self) -> int:
        """Return how many views must be told early, those that are idle longest first."""
        size, excess = self._bytes, 0
        for view in self._views:
            if len(self._views) - excess <= self.max_views and size <= self.max_bytes:
                break
            size -= view._size
            excess += 1
        return excess

    def _touch(self, view: PageView) -> None:
        view._active = monotonic()
        self._views.move_to_end(view)

    def _pop(self) -> PageView:
        """Remove the view that is idle longest."""
        view = next(iter(self._views))
        self._remove(view)
        return view

    def _remove(self, view: PageView) -> None:
        del self._views[view]
        self._bytes -= view._size
        for name in view._names:
            if self._by_name.get(name) is view:
                del self._by_name[name]
            self._told[hash(name)] = None
        while len(self._told) > _MAX_TOLD:
            del self._told[next(iter(self._told))]

    # The thread, which ends when no view is open

    def _run(self) -> None:
        while views := self._next():
            self._tell_safely(views)

    def _next(self) -> list[PageView]:
        """Wait for views that are due, and remove them. Return an empty list if no view is open."""
        with self._changed:
            while self._views:
                now, due = monotonic(), list[PageView]()
                while self._views and len(due) < _MAX_VIEWS_PER_TELL and (self._ending or self._left(now) <= 0):
                    due.append(self._pop())
                if due:
                    return due
                self._changed.wait(min(self._left(now), _IDLE_CHECK_SECONDS))
            self._thread = None
            return []

    def _left(self, now: float) -> float:
        """Return the seconds until the next view is due."""
        return next(iter(self._views))._active + self.timeout - now

    def _tell(self, views: list[PageView]) -> None:
        told = [(view.duel, Clicks(tuple(view.clicks), view.shown)) for view in views if view.shown is not None]
        for receipt in self._tell_many(told):
            if receipt.status not in (Status.ACCEPTED, Status.DUPLICATE):
                self._report("not-told", f"the receipt is {receipt.status}", 1)

    def _tell_safely(self, views: list[PageView]) -> None:
        """Tell views without a caller who could handle an error. One bad view costs no other."""
        for start in range(0, len(views), _MAX_VIEWS_PER_TELL):
            batch = views[start : start + _MAX_VIEWS_PER_TELL]
            try:
                self._tell(batch)
            except Exception as error:
                if len(batch) == 1 or isinstance(error, StorageError):
                    self._report("not-told", str(error), len(batch))
                else:
                    self._tell_safely(batch[: len(batch) // 2])
                    self._tell_safely(batch[len(batch) // 2 :])

    def _report(self, kind: str, detail: str, times: int) -> None:
        """Log a problem, at most once an hour for each kind."""
        now = monotonic()
        self._problems[kind] = self._problems.get(kind, 0) + times
        if kind not in self._warned or now - self._warned[kind] >= _REPEAT_SECONDS:
            self._warned[kind] = now
            _log.warning("page views: %s (%d so far); %s", _TITLES[kind], self._problems[kind], detail)


def _names(duel: LiveDuel | str) -> set[str]:
    """Return id and ticket of a duel, as far as known; empty if there is no duel."""
    if isinstance(duel, str):
        return {duel}
    if not isinstance(duel, LiveDuel):
        raise TypeError(f"duel must be what ask() returned, its id or its ticket, got {brief(duel)}")
    return set() if duel.id is None else {name for name in (duel.id, duel.ticket) if name is not None}


_all: weakref.WeakSet[PageViews] = weakref.WeakSet()


def _child() -> None:
    for views in list(_all):
        views._forked()


def _ended(reference: "weakref.ref[PageViews]") -> None:
    """Tell the open views when the program exits. Views that were garbage-collected had none."""
    views = reference()
    if views is not None:
        views.close()


os.register_at_fork(after_in_child=_child)
