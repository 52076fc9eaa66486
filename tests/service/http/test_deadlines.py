"""Request deadlines: one timer for all requests, and only requests that take too long are cancelled."""

import asyncio
from unittest.mock import patch

import pytest

from rankduel.service.http.deadlines import Deadlines


async def answer(deadlines: Deadlines, seconds: float, *, stream: bool = False) -> str:
    task = deadlines.start()
    try:
        if stream:
            deadlines.end(task)
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if not deadlines.passed(task):
            raise
        await asyncio.sleep(0.001)  # the error response is sent
        return "late"
    finally:
        deadlines.end(task)
    return "in time"


def test_only_late_requests_are_cancelled() -> None:
    async def requests() -> list[str]:
        deadlines = Deadlines(0.1)
        early = [asyncio.create_task(answer(deadlines, seconds)) for seconds in (5, 0.001, 5)]
        await asyncio.sleep(0.06)
        later = [asyncio.create_task(answer(deadlines, seconds)) for seconds in (0.06, 5)]  # due after the first ones
        stream = asyncio.create_task(answer(deadlines, 0.2, stream=True))
        return await asyncio.gather(*early, *later, stream)

    assert asyncio.run(requests()) == ["late", "in time", "late", "in time", "late", "in time"]


def test_a_cancelled_request_is_not_late() -> None:
    """When the server stops, it cancels requests: they must not answer that their deadline passed."""

    async def requests() -> None:
        deadlines = Deadlines(5)
        task = asyncio.create_task(answer(deadlines, 5))
        await asyncio.sleep(0.001)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(requests())


def test_a_thousand_requests_need_one_timer() -> None:
    async def requests() -> int:
        deadlines = Deadlines(5)
        loop = asyncio.get_running_loop()
        with patch.object(loop, "call_at", wraps=loop.call_at) as call_at:
            for _ in range(1000):
                deadlines.end(deadlines.start())
        return call_at.call_count

    assert asyncio.run(requests()) == 1
