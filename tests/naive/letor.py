"""LETOR text, read word by word."""

from dataclasses import dataclass, field

__all__ = ["Query", "read"]


@dataclass
class Query:
    """A query's name, and its documents: a grade and the features that the line has."""

    name: str
    grades: list[int] = field(default_factory=list)
    features: list[dict[int, float]] = field(default_factory=list)

    def scores(self, feature: int) -> list[float]:
        """What a feature says of each document: 0 where a line does not have it."""
        return [known.get(feature, 0.0) for known in self.features]


def read(text: str) -> list[Query]:
    """All queries of a file, in order."""
    queries: list[Query] = []
    for line in text.split("\n"):
        words = line.partition("#")[0].split()
        if words:
            name = words[1].removeprefix("qid:")
            if not queries or queries[-1].name != name:
                queries.append(Query(name))
            queries[-1].grades.append(int(words[0]))
            pairs = [word.split(":") for word in words[2:]]
            queries[-1].features.append({int(feature): float(value) for feature, value in pairs})
    return queries
