"""Page views of a client: their clicks are told through the outbox."""

from collections.abc import Hashable, Iterable

from rankduel.client.outbox import Outbox, Route
from rankduel.client.reporter import Reporter
from rankduel.client.wire import item_text, tell_of
from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, PageViews
from rankduel.live.rules.signals import Clicks

__all__ = ["ClientPageViews"]


class ClientPageViews(PageViews):
    """Page views that are told through the outbox of a client. It holds no reference to the client."""

    def __init__(self, outbox: Outbox, route: Route, reporter: Reporter, timeout: float) -> None:
        def tell(duel: LiveDuel | str, /, *, clicks: list[Hashable], shown: Interleaved) -> bool:
            return outbox.put(route, _text(duel, clicks, shown))

        super().__init__(tell, timeout=timeout)
        self._reporter = reporter

    def _size_of(self, duel: LiveDuel | str, shown: Interleaved) -> int:
        """Return the size of a tell of all documents. Raise an exception if it cannot be sent."""
        return len(_text(duel, shown.documents, shown))

    def _report(self, kind: str, detail: str, times: int) -> None:
        self._reporter.failed("tell", kind, detail, times=times)


def _text(duel: LiveDuel | str, clicks: Iterable[Hashable], shown: Interleaved) -> bytes:
    return item_text(tell_of(duel, Clicks(tuple(clicks), shown)))
