"""How a ranker orders documents, straight from the definition."""

from collections.abc import Sequence

__all__ = ["ranked"]


def ranked(scores: Sequence[float]) -> tuple[list[int], list[int]]:
    """The documents by score, highest first, tied ones in file order; and the first place of each one's tie group."""
    order = sorted(range(len(scores)), key=lambda document: (-scores[document], document))
    start = [sum(other > score for other in scores) for score in scores]
    return order, start
