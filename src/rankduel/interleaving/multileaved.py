"""`Multileaved`: a multileaved list, with the data to credit its clicks later."""

import json
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Multileaved"]


@dataclass(frozen=True, slots=True)
class Multileaved:
    """A multileaved list. You can credit its clicks later, without the rankings.

    >>> from rankduel.interleaving import SOSM
    >>> shown = SOSM().multileave([["a", "b"], ["b", "a"]], seed=1)
    >>> Multileaved.from_json(shown.to_json()) == shown
    True
    """

    method: str  # `repr` of the method
    n_rankers: int
    documents: tuple[Any, ...]  # as shown, top first
    evidence: tuple[tuple[float, ...], ...]  # credit data of each document. The docstring of each method describes it

    def to_json(self) -> str:
        """Convert to one line of JSON. JSON must preserve the documents, as it does strings and whole numbers."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Multileaved":
        """Create a list from the JSON of `to_json`."""
        try:
            stored = json.loads(text)
            return cls(
                str(stored["method"]),
                int(stored["n_rankers"]),
                tuple(stored["documents"]),
                tuple(tuple(row) for row in stored["evidence"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"invalid JSON of a multileaved list: {error!r}") from error
