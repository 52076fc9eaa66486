"""`Interleaved`: an interleaved list, with the data to credit its clicks later."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Interleaved"]


@dataclass(frozen=True, slots=True, repr=False)
class Interleaved:
    """An interleaved list: show `documents`, and pass it to `credit` with the clicks, now or later.

    `credit_data` has all data that the method needs to credit a click, position by position, so that you need not keep
    the rankings. `lists` may hold their best documents, for display. Use `to_dict` and `from_dict` to store the list,
    for example as JSON if the documents are strings or numbers. There, `credit_data` is named by `credit_field`.

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
    credit_field: str | None = None  # kind of credit data: teams, probabilities, places or credits
    credit_data: tuple[Any, ...] | None = None
    lists: tuple[tuple[Hashable, ...], tuple[Hashable, ...]] | None = None  # the best documents of both rankers

    def __repr__(self) -> str:
        return f"Interleaved({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dict of the method, the documents, the credit data by its name, and the lists, if any."""
        stored: dict[str, Any] = {"method": self.method, "documents": self.documents}
        if self.credit_field is not None:
            stored[self.credit_field] = self.credit_data
        return stored if self.lists is None else stored | {"lists": self.lists}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Create a list from the dict of `to_dict`, also after a round trip through JSON.

        >>> Interleaved.from_dict({"method": "team_draft"})
        Traceback (most recent call last):
        ValueError: an interleaved list needs method and documents, got method
        """
        if not {"method", "documents"} <= set(stored):
            raise ValueError(f"an interleaved list needs method and documents, got {', '.join(stored) or 'nothing'}")
        documents, lists = tuple(stored["documents"]), stored.get("lists")
        data = {name: value for name, value in stored.items() if name not in ("method", "documents", "lists")}
        data = {name: value for name, value in data.items() if value is not None}
        if len(data) > 1:
            raise ValueError(f"an interleaved list has one kind of credit data, got {' and '.join(data)}")
        credit_field, values = next(iter(data.items()), (None, None))
        if values is not None and (not isinstance(values, list | tuple) or len(values) != len(documents)):
            got = str(len(values)) if isinstance(values, list | tuple) else repr(values)
            raise ValueError(f"{credit_field} must be a list of {len(documents)}, one per document, got {got}")
        if lists is not None and len(lists) != 2:
            raise ValueError(f"lists must be two, one per ranker, got {len(lists)}")
        return cls(
            stored["method"],
            documents,
            credit_field,
            None if values is None else tuple(tuple(item) if isinstance(item, list) else item for item in values),
            None if lists is None else (tuple(lists[0]), tuple(lists[1])),
        )
