"""Page views of a client: their clicks are told through the outbox."""

from rankduel.client.outbox import Outbox, Route
from rankduel.client.reporter import Reporter
from rankduel.client.wire import item_text, tell_of
from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, PageViews, Receipt
from rankduel.live.rules.signals import Clicks

__all__ = ["ClientPageViews"]


class ClientPageViews(PageViews):
    """Page views that are told through the outbox of a client. It holds no reference to the client."""

    def __init__(self, outbox: Outbox, route: Route, reporter: Reporter, timeout: float) -> None:
        def put(told: list[tuple[LiveDuel | str, Clicks]], /) -> list[Receipt]:
            for duel, clicks in told:
                outbox.put(route, item_text(tell_of(duel, clicks)))
            return []  # receipts come later: the outbox reports them

        super().__init__(put, timeout=timeout)
        self._reporter = reporter

    def _size_of(self, duel: LiveDuel | str, shown: Interleaved) -> int:
        """Return the size of a tell of all documents. Raise an exception if it cannot be sent."""
        return len(item_text(tell_of(duel, Clicks(shown.documents, shown))))

    def _report(self, kind: str, detail: str, times: int) -> None:
        self._reporter.failed("tell", kind, detail, times=times)
