"""The result of a request: a response, or the reason why there is none."""

from dataclasses import dataclass
from typing import Any

__all__ = ["Answer", "Failure"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: status, decoded JSON body, and the seconds of its Retry-After header."""

    status: int
    value: Any
    retry_after: float | None = None


class Failure(Exception):  # noqa: N818 - internal: it never leaves this package
    """No response, or an invalid one.

    `kind` is the kind of problem: `no-response` (the deadline passed), `unreachable`, `unknown-host`, `tls` or
    `invalid-response`.
    """

    def __init__(self, reason: str, kind: str) -> None:
        super().__init__(reason)
        self.kind = kind
