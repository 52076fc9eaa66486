"""HTTP requests of `RemoteTournament`: problem responses become the exceptions that a local tournament raises."""

from time import monotonic
from typing import Any

from rankduel.client.answers import words
from rankduel.client.client import key_of
from rankduel.client.response import Answer, Failure
from rankduel.client.transport import Transport
from rankduel.client.wire import encoded
from rankduel.errors import StorageError, TournamentExists, UnknownDuel, UnknownTournament
from rankduel.live.rules.validation import brief

__all__ = ["Calls"]

_TIMEOUT_SECONDS = 30.0
_MAX_ANSWER_BYTES = 64 << 20
_ERRORS: dict[str, type[Exception]] = {
    "/problems/unknown-tournament": UnknownTournament,
    "/problems/tournament-exists": TournamentExists,
    "/problems/unknown-ranker": ValueError,
    "/problems/unknown-duel": UnknownDuel,
    "/problems/wrong-state": ValueError,
    "/problems/bad-value": ValueError,
    "/problems/bad-request": ValueError,
}


class Calls:
    """Requests to one service. Errors without a local counterpart are `StorageError`."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url = url
        self._transport = Transport(url, key_of(key))
        self._closed = False

    def close(self) -> None:
        """Close the connections. Later requests raise StorageError."""
        self._closed = True
        self._transport.close()

    def send(self, verb: str, path: str, body: object = None, *, once: bool = False) -> Any:
        """Send a request and return the decoded body of the response. Raise an exception unless the status is 2xx."""
        if self._closed:
            raise StorageError(f"the tournament at {self.url} is closed; open it again")
        text = None if body is None else encoded(body)
        try:
            answer = self._transport.call(
                verb, path, text, due=monotonic() + _TIMEOUT_SECONDS, largest=_MAX_ANSWER_BYTES, once=once
            )
        except Failure as failure:
            raise StorageError(f"no valid response from {self.url}: {words(str(failure))}") from failure
        if 200 <= answer.status < 300:
            return answer.value
        raise self._error(answer)

    def _error(self, answer: Answer) -> Exception:
        problem = answer.value if isinstance(answer.value, dict) else {}
        message = words(problem.get("detail") or problem.get("title") or f"status {answer.status}")
        name = problem.get("type")
        kind = _ERRORS.get(name, StorageError) if isinstance(name, str) else StorageError
        if kind is StorageError:
            return StorageError(f"{self.url} rejected the request: {message}")
        if kind is ValueError and "value" in problem and words(problem["value"]) not in message:
            message = f"{message}, got {brief(problem['value'])}"
        return kind(f"{message} (at {words(problem['at'])})" if "at" in problem else message)
