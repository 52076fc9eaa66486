"""BM25 over two fields, in memory, and fifty rankers that differ in its parameters."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from corpus import Passage, words

STOP_WORDS = {
    *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "if", "in", "is"),
    *("it", "not", "of", "on", "or", "that", "the", "this", "to", "with"),
}


class Ranker(NamedTuple):
    """Parameters of a ranker: k1 and b of BM25, the weight of the title, and whether stop words count."""

    k1: float
    b: float
    title: float
    stop_words: bool

    @property
    def name(self) -> str:
        """The name of the ranker in the tournament."""
        return f"k1={self.k1} b={self.b} title={self.title} stop={'yes' if self.stop_words else 'no'}"


RANKERS = [
    Ranker(k1, b, title, stop_words)
    for k1, b in [(0.3, 0.0), (1.2, 0.0), (1.2, 0.75), (4.0, 0.75), (8.0, 0.0)]
    for title in (0.0, 0.7, 2.0, 5.0, 20.0)
    for stop_words in (False, True)
]


class Field:
    """An inverted index: for each word, the passages that contain it and the counts."""

    def __init__(self, texts: Iterable[str]) -> None:
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        sizes = []
        for number, text in enumerate(texts):
            counts = Counter(words(text))
            sizes.append(counts.total())
            for word, count in counts.items():
                postings[word].append((number, count))
        self.sizes = np.array(sizes) / np.mean(sizes)
        self.postings = {word: np.array(pairs).T for word, pairs in postings.items()}

    def scores(self, query: list[str], k1: float, b: float) -> np.ndarray:
        """Compute the BM25 score of every passage."""
        total = np.zeros(len(self.sizes))
        for word in query:
            if word in self.postings:
                numbers, counts = self.postings[word]
                idf = np.log(1 + (len(total) - len(numbers) + 0.5) / (len(numbers) + 0.5))
                total[numbers] += idf * counts * (k1 + 1) / (counts + k1 * (1 - b + b * self.sizes[numbers]))
        return total


class Index:
    """A search engine: returns a list of passages for a query."""

    def __init__(self, passages: list[Passage]) -> None:
        self.titles = Field(passage.title for passage in passages)
        self.texts = Field(passage.text for passage in passages)

    def search(self, query: str, ranker: Ranker, k: int = 10) -> list[int]:
        """Return the numbers of the best k passages."""
        terms = [word for word in words(query) if ranker.stop_words or word not in STOP_WORDS]
        scores = self.texts.scores(terms, ranker.k1, ranker.b)
        scores += ranker.title * self.titles.scores(terms, ranker.k1, ranker.b)
        best = np.argsort(-scores, kind="stable")[:k]
        return [int(number) for number in best if scores[number] > 0]
