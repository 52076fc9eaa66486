"""All webhooks of a process: start and stop them, and watch the health lights for them."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from time import monotonic

from rankduel.live import LocalTournament, Storage
from rankduel.service.webhooks.delivery import Delivery, DeliveryStatus
from rankduel.service.webhooks.health import HealthWatch
from rankduel.service.webhooks.settings import WebhookSettings

__all__ = ["Webhooks"]

_HEALTH_INTERVAL_SECONDS = 5.0
_STOP_SECONDS = 1.0
_log = logging.getLogger("rankduel.service")


class Webhooks:
    """The webhooks of a process. On a shared storage, one process delivers the messages of each webhook."""

    def __init__(
        self,
        hooks: Sequence[WebhookSettings],
        storage: Storage,
        *,
        tournaments: Callable[[], Mapping[str, LocalTournament]],
        broken: Callable[[], Mapping[str, str]],
        public_url: str = "",
    ) -> None:
        self._deliveries = [Delivery(hook, storage, tournaments, public_url) for hook in hooks]
        self._health = HealthWatch(tournaments, broken)
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._watch_health, name="rankduel webhooks", daemon=True)

    def start(self) -> None:
        """Start all threads. Log each webhook."""
        for delivery in self._deliveries:
            hook = delivery.hook
            about = {"webhook": hook.name, "host": hook.host, "format": hook.format, "kinds": hook.kinds}
            _log.info("webhook", extra=about | {"tournaments": hook.tournaments or "all"})
            delivery.start()
        if any("health" in delivery.hook.kinds for delivery in self._deliveries):
            self._watcher.start()

    def stop(self) -> None:
        """Stop all threads. Wait at most a second: messages that are not delivered are sent after the next start."""
        self._closing.set()
        until = monotonic() + _STOP_SECONDS
        for delivery in self._deliveries:
            delivery.stop()
        for delivery in self._deliveries:
            delivery.join(max(0.0, until - monotonic()))

    def statuses(self) -> list[DeliveryStatus]:
        """Return the state of each webhook in this process."""
        return [delivery.status for delivery in self._deliveries]

    def _watch_health(self) -> None:
        while not self._closing.wait(_HEALTH_INTERVAL_SECONDS):
            try:
                for message in self._health.changes():
                    for delivery in self._deliveries:
                        if delivery.hook.wants(message.kind, message.tournament):
                            delivery.report_health(message)
            except Exception:  # the thread must survive any failure
                _log.exception("cannot watch the health of tournaments for webhooks")
