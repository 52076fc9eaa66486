"""What goes wrong, as clients see it: problem+json (RFC 9457) with types that never change."""

from dataclasses import dataclass
from typing import Any

from rankduel.errors import BrokenTournament, StorageError, TournamentExists, UnknownDuel, UnknownTournament

__all__ = ["PROBLEMS", "Kind", "Problem", "problem_of", "too_many_requests"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of problem: what clients may rely on."""

    name: str
    status: int
    title: str

    @property
    def type(self) -> str:
        """The address of the type; it names and is not fetched."""
        return f"/problems/{self.name}"


PROBLEMS = {
    kind.name: kind
    for kind in (
        Kind("bad-request", 400, "The request cannot be read"),
        Kind("bad-host", 400, "The server is not known by that name"),
        Kind("too-deep", 400, "The JSON is nested too deeply"),
        Kind("no-key", 401, "An API key is needed"),
        Kind("wrong-key", 401, "The API key is not known, or was revoked"),
        Kind("session-over", 401, "The session is over: sign in again"),
        Kind("wrong-scope", 403, "The API key may not do this"),
        Kind("cross-site", 403, "Pages of other sites may not do this"),
        Kind("not-found", 404, "There is nothing here"),
        Kind("unknown-tournament", 404, "There is no such tournament"),
        Kind("unknown-ranker", 404, "There is no such ranker"),
        Kind("unknown-duel", 404, "There is no such duel"),
        Kind("wrong-method", 405, "This address does not take that method"),
        Kind("conflict", 409, "Something else was told before, and stays"),
        Kind("tournament-exists", 409, "The tournament is there with other settings"),
        Kind("wrong-state", 409, "The tournament is not in a state for this"),
        Kind("too-large", 413, "The body is too large"),
        Kind("wrong-media-type", 415, "The body is not of a type that is read here"),
        Kind("bad-value", 422, "A value is not one that is taken here"),
        Kind("too-many-requests", 429, "Too many requests"),
        Kind("too-many-wrong-keys", 429, "Too many wrong keys from this address"),
        Kind("failed", 500, "The server has failed"),
        Kind("stopping", 503, "The server is stopping"),
        Kind("busy", 503, "Too many reads are waiting"),
        Kind("deadline", 503, "The answer took too long"),
        Kind("broken-tournament", 503, "The tournament cannot be opened"),
        Kind("storage", 503, "The storage does not answer as it should"),
    )
}


class Problem(Exception):  # noqa: N818 - what RFC 9457 calls it
    """A problem with one request: its type, what it is about, and the value that was wrong."""

    def __init__(
        self, name: str, detail: str = "", *, headers: tuple[tuple[bytes, bytes], ...] = (), **more: Any
    ) -> None:
        super().__init__(detail)
        self.kind = PROBLEMS[name]
        self.detail = detail
        self.headers = headers
        self.more = more

    def body(self) -> dict[str, Any]:
        """As clients get it.

        >>> Problem("unknown-duel", "no duel '9-9'", value="9-9").body()["type"]
        '/problems/unknown-duel'
        """
        kind = self.kind
        told = {"type": kind.type, "title": kind.title, "status": kind.status, "detail": self.detail}
        return told | {name: value for name, value in self.more.items() if value is not None}


def too_many_requests(wait_seconds: float, kind: str = "too-many-requests") -> Problem:
    """The problem of a client that is over its rate limit, and when it may come back."""
    return Problem(kind, "come back later", headers=((b"retry-after", b"%d" % (wait_seconds + 1)),))


_NAMES: dict[type[Exception], str] = {
    UnknownTournament: "unknown-tournament",
    UnknownDuel: "unknown-duel",
    TournamentExists: "tournament-exists",
}


def problem_of(error: Exception) -> Problem:
    """The problem that an error of rankduel is."""
    match error:
        case Problem():
            return error
        case UnknownTournament() | UnknownDuel() | TournamentExists():
            return Problem(_NAMES[type(error)], str(error))
        case BrokenTournament():
            repair = "stop the service and run `rankduel storage verify --repair`"
            return Problem("broken-tournament", f"{error}; to set such events aside, {repair}"[:1000])
        case StorageError():
            problem = Problem("storage", "the storage cannot be read or written now; the server's log says why")
        case ValueError():
            return Problem("bad-value", str(error)[:1000])
        case _:
            problem = Problem("failed", "an error that was not foreseen; the server's log has it")
    problem.__cause__ = error
    return problem
