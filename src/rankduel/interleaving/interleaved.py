"""A list that was shown, with all that is needed to credit its clicks later."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

__all__ = ["Interleaved"]


@dataclass(frozen=True, slots=True)
class Interleaved:
    """A list made of two rankers' lists: show `documents`, and hand it to `credit` with the clicks, now or later.

    Besides the documents it carries, position by position, what its method needs to credit a click; the rankings are
    needed no more, though it may carry their best documents in `lists`. `to_dict` and `from_dict` are for a store: if
    the documents are strings or numbers, JSON will do.

    >>> import json
    >>> from rankduel.interleaving import TeamDraftInterleaving
    >>> method = TeamDraftInterleaving()
    >>> shown = method.interleave(["a", "b", "c"], ["a", "c", "d"], k=3, seed=1)
    >>> shown
    Interleaved(method='team_draft', documents=('a', 'c', 'b'), teams=(None, 'second', 'first'))
    >>> stored = json.dumps(shown.to_dict())
    >>> method.credit(Interleaved.from_dict(json.loads(stored)), clicks=["b"])
    1.0
    """

    method: str  # as in INTERLEAVINGS
    documents: tuple[Hashable, ...]
    probabilities: tuple[float, ...] | None = None  # probabilistic: that the first ranker placed this document
    teams: tuple[str | None, ...] | None = None  # team_draft: "first", "second", or neither for the common prefix
    places: tuple[tuple[int | None, int | None], ...] | None = None  # balanced: in both lists, from 0; None: not there
    credits: tuple[float, ...] | None = None  # optimized: of a click; positive speaks for the first
    lists: tuple[tuple[Hashable, ...], tuple[Hashable, ...]] | None = None  # the best of both, for people who look

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self._given()]
        return f"Interleaved({', '.join(given)})"

    def _given(self) -> list[tuple[str, Any]]:
        return [(field.name, value) for field in fields(self) if (value := getattr(self, field.name)) is not None]

    def to_dict(self) -> dict[str, Any]:
        """What is in it, by name."""
        return dict(self._given())

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """The list again, from `to_dict` or from what JSON made of it.

        >>> Interleaved.from_dict({"method": "team_draft"})
        Traceback (most recent call last):
        ValueError: an interleaved list has a method and documents, got method
        """
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in stored if name not in known]:
            raise ValueError(f"an interleaved list has no {unknown[0]!r}, expected some of {', '.join(known)}")
        if not {"method", "documents"} <= set(stored):
            raise ValueError(f"an interleaved list has a method and documents, got {', '.join(stored) or 'nothing'}")
        values: dict[str, Any] = {"method": stored["method"]}
        for name in stored:
            if name != "method" and stored[name] is not None:
                values[name] = tuple(stored[name])
                if name not in ("documents", "lists") and len(values[name]) != len(stored["documents"]):
                    raise ValueError(f"{len(stored['documents'])} documents, but {len(values[name])} {name}")
        if "places" in values:
            values["places"] = tuple((first, second) for first, second in values["places"])
        if "lists" in values:
            if len(values["lists"]) != 2:
                raise ValueError(f"lists are those of two rankers, got {len(values['lists'])}")
            values["lists"] = tuple(map(tuple, values["lists"]))
        return cls(**values)
