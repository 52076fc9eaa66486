"""The calls of a search application: ask, show, tell, and what users did."""

import asyncio
from collections import Counter
from typing import Any

from rankduel.interleaving import Interleaved
from rankduel.live import LiveDuel, Receipt, Status, Tournament
from rankduel.service.bodies import (
    MOST,
    Ask,
    Asked,
    DuelOut,
    Ingested,
    Query,
    ReceiptOut,
    Receipts,
    Show,
    Tell,
)
from rankduel.service.calls import Call, Parameter, Request
from rankduel.service.problems import Problem
from rankduel.types import Outcome

__all__ = ["CALLS"]

_STRETCH = 100  # duels that are chosen before others have their turn
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


async def ask(request: Request) -> DuelOut | Asked:
    """The two rankers that should meet for a query, or for each of many."""
    body: Ask = request.body
    t = await request.service.tournament(request.path["name"])
    if body.n is None and body.queries is None:
        duel = t.ask(body.query_id, body.client_id)
        request.service.metrics.asked[duel.serve] += 1
        return _out(duel, body.query_id)
    asked = _queries(body)
    duels: list[DuelOut] = []
    for start in range(0, len(asked), _STRETCH):
        if start:
            await asyncio.sleep(0)
        stretch = asked[start : start + _STRETCH]
        for (query_id, _), duel in zip(stretch, t.ask_many(stretch), strict=True):
            duels.append(_out(duel, query_id))
    request.service.metrics.asked.update(duel.serve for duel in duels)
    return Asked(duels=duels)


def _queries(body: Ask) -> list[tuple[str | None, str | None]]:
    """Query and client of each duel of a batch. The same batch asks for the same duels again."""
    if body.n is not None and body.queries is not None:
        raise Problem("bad-value", "send n or queries, not both", value=body.n)
    if body.queries is not None:
        if body.query_id is not None:
            raise Problem("bad-value", "send query_id or queries, not both", value=body.query_id)
        return [(query.query_id, query.client_id or body.client_id) for query in body.queries]
    assert body.n is not None
    if body.query_id is None:
        return [(None, body.client_id)] * body.n
    return [(f"{body.query_id}.{number}", body.client_id) for number in range(body.n)]


def _out(duel: LiveDuel, query_id: str | None) -> DuelOut:
    return DuelOut(
        duel=duel.id,
        first=duel.first,
        second=duel.second,
        seed=duel.seed,
        expires=duel.expires,
        ticket=duel.ticket,
        serve=duel.serve,
        why=duel.why,
        interleaving=duel.method.name,
        query_id=query_id,
    )


async def tell(request: Request) -> ReceiptOut | Receipts:
    """Who won a duel, or many; the answer comes when all of it is durable."""
    body: Tell | list[Tell] = request.body
    t = await request.service.tournament(request.path["name"])
    one = isinstance(body, Tell)
    told = [_told(t, item, number) for number, item in enumerate([body] if one else body)]
    receipts = await request.service.tell(t, told)
    request.service.metrics.told.update(receipt.status.value for receipt in receipts)
    if one:
        return _single(receipts[0], body)
    return Receipts(receipts=[_receipt(receipt) for receipt in receipts])
