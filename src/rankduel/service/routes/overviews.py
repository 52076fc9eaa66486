"""The list of tournaments: search, filter by status, sort, and pages of overviews."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.json import decode

from rankduel.errors import StorageError
from rankduel.live import LocalTournament
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.service.http import response_schemas as out
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request, Route, encode
from rankduel.service.routes.dashboard import Overview, overview_of
from rankduel.service.routes.read import broken_among

__all__ = ["ROUTES"]

_CURRENT, _ARCHIVED = "current", "archived"
_STATUSES = ("draft", "running", "paused", "decided", "rolled_out", "stopped", _ARCHIVED)
_SORTED_BY: dict[str, Callable[["_Row"], Any]] = {
    "name": lambda row: row.name.casefold(),
    "status": lambda row: _STATUSES.index(row.status),
    "duels": lambda row: row.duels,
    "activity": lambda row: row.active,
}


class Cards(Struct):
    """A page of overviews, and the tournaments that cannot be opened. Numbers are for the whole search."""

    tournaments: list[Overview]
    broken: list[out.Broken]  # at most `limit`
    n_broken: int
    matching: int  # tournaments with the status, on all pages
    by_status: dict[str, int]


class _Row(NamedTuple):
    """The values of a tournament by which the list is filtered and sorted. All are in memory."""

    name: str
    status: str
    duels: int
    active: float


class _Found(Struct):
    """The result of a search: the names on the page, and numbers of tournaments."""

    names: list[str]
    matching: int
    by_status: dict[str, int]


async def cards(request: Request) -> Response:
    """The overviews of all tournaments: search, filter, sort, and pages."""
    service, query = request.service, request.query
    wanted = query["search"].casefold() if "search" in query else ""
    try:
        names = await service.tournament_names()
    except StorageError:
        names = sorted((*service.open_tournaments.tournaments, *service.open_tournaments.broken))
    names = [name for name in names if wanted in name.casefold()]
    opened = {t.name: t for t in await service.open_among(names)}
    broken = broken_among(service, names)
    key = tuple(sorted(query.items()))
    search = partial(_search, opened.values(), query)
    found = decode(await service.reads.answer(("search", *key), lambda: encode(search())), type=_Found)
    shown = [(opened[name], service.forecasts.of(opened[name])) for name in found.names]

    def page() -> bytes:
        return encode(
            Cards(
                tournaments=[*starmap(overview_of, shown)],
                broken=broken[: query["limit"]],
                n_broken=len(broken),
                matching=found.matching,
                by_status=found.by_status,
            )
        )

    return json_response(await service.reads.answer(("overviews", *found.names, *key), page))


def _search(tournaments: Iterable[LocalTournament], query: dict[str, Any]) -> _Found:
    """Filter, sort and cut the list of tournaments. Reads memory only."""
    rows = sorted(_Row(t.name, t.status, t.resolved, t.last_event_time) for t in tournaments)
    by_status = dict(Counter(row.status for row in rows))
    status = query["status"]
    rows = [row for row in rows if (row.status != _ARCHIVED if status == _CURRENT else row.status == status)]
    reverse = query["sort"].startswith("-")
    rows.sort(key=_SORTED_BY[query["sort"].removeprefix("-")], reverse=reverse)
    shown = rows[query["offset"] :][: query["limit"]]
    return _Found([row.name for row in shown], len(rows), by_status)


_PARAMETERS = (
    Parameter("search", "A part of the name, in upper or lower case.", maximum=MAX_NAME_CHARACTERS),
    Parameter(
        "status",
        "Only tournaments with this status. `current`: all except archived ones.",
        choices=(_CURRENT, *_STATUSES),
    ),
    Parameter(
        "sort",
        "The order. `activity` is the time of the last outcome or change. A minus sign reverses the order.",
        choices=tuple(f"{sign}{name}" for name in _SORTED_BY for sign in ("", "-")),
    ),
    Parameter("limit", "Maximum number of overviews.", default=25, minimum=1, maximum=100),
    Parameter("offset", "Number of overviews to skip.", default=0, maximum=1_000_000),
)
ROUTES = (Route("GET", "/v1/overviews", "read", cards, Cards, parameters=_PARAMETERS),)
