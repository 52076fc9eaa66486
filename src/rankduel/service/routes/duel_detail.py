"""Details of a duel: both lists, the page, the signals of users, and why these two rankers met."""

import json
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.json import decode, encode

from rankduel.dashboard import DuelContext, duel_context, explain_duel, selection_rule
from rankduel.live import DuelRow, LocalTournament, view_at
from rankduel.live.rules.duels import REMOVED, numbers_of
from rankduel.service.http.response_schemas import StoredDuel
from rankduel.service.http.responses import Response, json_response
from rankduel.service.http.routing import Request
from rankduel.service.problems import Problem
from rankduel.service.routes.read import duel_fields

__all__ = ["DuelDetail", "show_duel"]


_Document = Annotated[Any, Meta(description="A document, as your application names it.")]


class DuelSignal(Struct):
    """A signal: an action of a user."""

    time: float
    action: str
    object: str | None
    position: int | None
    dwell: float | None


class DuelDetail(StoredDuel):
    """A duel with the page, the signals of users, and why these two rankers met."""

    page: dict[str, Any] | None  # `lists` has the top documents of both rankers, if they were sent
    removed: bool  # whether page, signals and client were removed by retention or an erasure
    failure: str | None  # why the duel could not be resolved
    clicks: list[_Document] | None  # if the tell contained clicks; other clicks are signals
    signals: list[DuelSignal]
    propensity: list[float] | None
    rule: str  # how the bandit chooses rankers
    why: str  # why it chose these two
    known: DuelContext | None  # state of both rankers when the duel was issued; None: too long ago


class Explanation(Struct):
    """Why the two rankers of a duel met. It never changes, so the cache never invalidates it."""

    why: str
    known: DuelContext | None


async def show_duel(request: Request) -> Response:
    """Details of a duel: both lists, the page, the signals of users, and why these two rankers met."""
    service, id = request.service, request.path["duel"]
    t = await service.tournament(request.path["name"])
    key = "duel", t.name, id
    # It never changes. The salt tells a tournament from a deleted one with the same name.
    explained = await service.replays.answer(key, partial(_explained, t, id), version=lambda: t.settings.salt)
    return json_response(await service.reads.answer(key, partial(_detail, t, id, explained)))


def _explained(t: LocalTournament, id: str) -> bytes:
    row = _row(t, id)
    then = view_at(t.storage, t.name, row.issued)
    return encode(Explanation(explain_duel(then, row), None if then is None else duel_context(then, row)))


def _detail(t: LocalTournament, id: str, explained: bytes) -> bytes:
    row = _row(t, id)
    explanation = decode(explained, type=Explanation)
    page: dict[str, Any] | None = json.loads(row.page) if row.page else None
    seen = t.storage.signals(t.name, row.session, row.number)
    propensity = None
    if row.first_propensity is not None and row.second_propensity is not None:
        propensity = [row.first_propensity, row.second_propensity]
    return encode(
        DuelDetail(
            **duel_fields(row, t.rankers),
            removed=row.page == REMOVED,
            failure=None if page is None else page.pop("failure", None),
            clicks=None if page is None else page.pop("clicks", None),
            page=page,
            signals=[DuelSignal(one.time, one.action, one.object, one.position, one.dwell) for one in seen],
            propensity=propensity,
            rule=selection_rule(t.view().bandit),
            why=explanation.why,
            known=explanation.known,
        )
    )


def _row(t: LocalTournament, id: str) -> DuelRow:
    numbers = numbers_of(id)
    row = None if numbers is None else t.storage.duel(t.name, *numbers)
    if row is None:
        detail = f"unknown duel {id[:200]!r} in tournament {t.name!r}; send an id that ask returned"
        raise Problem("unknown-duel", detail, value=id[:200])
    return row
