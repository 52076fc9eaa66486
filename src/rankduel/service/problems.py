"""Error responses: problem+json (RFC 9457) with stable types."""

from dataclasses import dataclass
from typing import Any

from rankduel.errors import BrokenTournament, StorageError, TournamentExists, UnknownDuel, UnknownTournament

__all__ = ["CLOSE_CONNECTION", "PROBLEMS", "Headers", "Kind", "Problem", "problem_of"]

Headers = tuple[tuple[bytes, bytes], ...]
CLOSE_CONNECTION: Headers = ((b"connection", b"close"),)  # the rest of the request is not read


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of problem: name, HTTP status and title."""

    name: str
    status: int
    title: str

    @property
    def type(self) -> str:
        """The URI reference that identifies the type. It is not meant to be fetched."""
        return f"/problems/{self.name}"


PROBLEMS = {
    kind.name: kind
    for kind in (
        Kind("bad-request", 400, "Malformed request"),
        Kind("bad-host", 400, "Host not allowed"),
        Kind("too-deep", 400, "JSON nested too deeply"),
        Kind("no-key", 401, "API key required"),
        Kind("wrong-key", 401, "Invalid API key"),
        Kind("session-over", 401, "Session expired"),
        Kind("wrong-scope", 403, "API key lacks the required scope"),
        Kind("cross-site", 403, "Cross-site request refused"),
        Kind("not-found", 404, "Not found"),
        Kind("unknown-tournament", 404, "Unknown tournament"),
        Kind("unknown-ranker", 404, "Unknown ranker"),
        Kind("unknown-duel", 404, "Unknown duel"),
        Kind("wrong-method", 405, "Method not allowed"),
        Kind("conflict", 409, "Conflicting outcome"),
        Kind("tournament-exists", 409, "Tournament exists with different settings"),
        Kind("wrong-state", 409, "Not allowed in the current state of the tournament"),
        Kind("too-large", 413, "Body too large"),
        Kind("wrong-media-type", 415, "Unsupported media type"),
        Kind("bad-value", 422, "Invalid value"),
        Kind("too-many-requests", 429, "Rate limit exceeded"),
        Kind("too-many-wrong-keys", 429, "Too many invalid API keys from this address"),
        Kind("failed", 500, "Internal server error"),
        Kind("stopping", 503, "Server is stopping"),
        Kind("busy", 503, "Too many pending reads"),
        Kind("deadline", 503, "Deadline exceeded"),
        Kind("broken-tournament", 503, "Tournament cannot be opened"),
        Kind("storage", 503, "Storage unavailable"),
    )
}


class Problem(Exception):  # noqa: N818 - the term of RFC 9457
    """An error response to one request: type, detail, response headers, and more fields such as `value`."""

    def __init__(self, name: str, detail: str = "", *, headers: Headers = (), **more: Any) -> None:
        super().__init__(detail)
        self.kind = PROBLEMS[name]
        self.detail = detail
        self.headers = headers
        self.more = more

    def body(self) -> dict[str, Any]:
        """Return the fields of the response.

        >>> Problem("unknown-duel", "no duel '9-9'", value="9-9").body()["type"]
        '/problems/unknown-duel'
        """
        kind = self.kind
        fields = {"type": kind.type, "title": kind.title, "status": kind.status, "detail": self.detail}
        return fields | {name: value for name, value in self.more.items() if value is not None}


_NAMES: dict[type[Exception], str] = {
    UnknownTournament: "unknown-tournament",
    UnknownDuel: "unknown-duel",
    TournamentExists: "tournament-exists",
}


def problem_of(error: Exception) -> Problem:
    """Translate an exception into a problem. Storage errors and unexpected errors show no details."""
    match error:
        case Problem():
            return error
        case UnknownTournament() | UnknownDuel() | TournamentExists():
            return Problem(_NAMES[type(error)], str(error)[:1000])
        case BrokenTournament():
            repair = "stop the service, then run `rankduel storage verify --repair` to set the broken events aside"
            return Problem("broken-tournament", f"{error}; {repair}"[:1000])
        case StorageError():
            problem = Problem("storage", "the storage cannot be read or written; try again, and see the server log")
        case ValueError():
            return Problem("bad-value", str(error)[:1000])
        case _:
            problem = Problem("failed", "unexpected error; see the server log")
    problem.__cause__ = error
    return problem
