"""Request deadlines. All requests get the same time, so one timer for the oldest of them is enough.

`asyncio.timeout` would start and cancel a timer for each request, which costs 3 microseconds more.
"""

import asyncio
from typing import Any

__all__ = ["Deadlines"]

_Task = asyncio.Task[Any]


class Deadlines:
    """Cancels the task of each request that takes longer than `seconds`.

    >>> async def request(deadlines: Deadlines, seconds: float) -> str:
    ...     task = deadlines.start()
    ...     try:
    ...         await asyncio.sleep(seconds)
    ...     except asyncio.CancelledError:
    ...         return "late" if deadlines.passed(task) else "cancelled"
    ...     finally:
    ...         deadlines.end(task)
    ...     return "in time"
    >>> async def requests() -> list[str]:
    ...     deadlines = Deadlines(0.05)
    ...     return await asyncio.gather(*(request(deadlines, seconds) for seconds in (0.3, 0.001, 0.3)))
    >>> asyncio.run(requests())
    ['late', 'in time', 'late']
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._due: dict[_Task, float] = {}  # when each open request is due, the oldest first
        self._passed: set[_Task] = set()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> _Task:
        """Start the time of the request that the current task answers. Return the task."""
        task = asyncio.current_task()
        assert task is not None
        loop = task.get_loop()
        self._due[task] = due = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(due, self._cancel_due)
        return task

    def passed(self, task: _Task) -> bool:
        """Whether a task was cancelled because its deadline passed. If so, it may go on, to send an error."""
        if task not in self._passed:
            return False
        task.uncancel()
        return True

    def end(self, task: _Task) -> None:
        """End the deadline of a task: its request is answered, or may take as long as it needs."""
        self._due.pop(task, None)
        self._passed.discard(task)

    def _cancel_due(self) -> None:
        """Cancel all tasks that are due, and set the timer for the next one."""
        self._timer = None
        loop = asyncio.get_running_loop()
        for task, due in list(self._due.items()):
            if due > loop.time():
                self._timer = loop.call_at(due, self._cancel_due)
                return
            del self._due[task]
            self._passed.add(task)
            task.cancel()
