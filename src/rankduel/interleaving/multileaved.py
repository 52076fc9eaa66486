"""`Multileaved`: a list that several rankers share, and what is needed to credit its clicks, now or much later."""

import json
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Multileaved"]


@dataclass(frozen=True, slots=True)
class Multileaved:
    """A multileaved list. It knows enough of the rankings to be credited without them.

    >>> from rankduel.interleaving import SOSM
    >>> shown = SOSM().multileave([["a", "b"], ["b", "a"]], seed=1)
    >>> Multileaved.from_json(shown.to_json()) == shown
    True
    """

    method: str  # that made it, as its `repr`
    n_rankers: int
    documents: tuple[Any, ...]  # as shown, the top first
    evidence: tuple[tuple[float, ...], ...]  # what credit needs of each document; the method's page tells what it is

    def to_json(self) -> str:
        """As one line of JSON. The documents must be of a kind that JSON keeps: strings or whole numbers, say."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Multileaved":
        """What `to_json` wrote."""
        try:
            told = json.loads(text)
            return cls(
                str(told["method"]),
                int(told["n_rankers"]),
                tuple(told["documents"]),
                tuple(tuple(row) for row in told["evidence"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"not a multileaved list as JSON: {error!r}") from error
