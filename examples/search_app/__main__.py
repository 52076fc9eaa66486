"""A search application that finds the best of its fifty rankers from clicks: `python examples/search_app`.

Every search asks the tournament for two rankers, shows one page with the results of both, and reports the clicks. Text,
index and rankers are real. The users are simulated: each looks for one passage, types a few words of it, and clicks
according to a click model of rankduel.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from bm25 import RANKERS, STOP_WORDS, Index
from corpus import Passage, passages, words

import rankduel as rd

BY_NAME = {ranker.name: ranker for ranker in RANKERS}
USER = rd.clicks.navigational(grades=2)  # clicks mostly relevant results, then leaves


class Need(NamedTuple):
    """A query and the passage that its user looks for."""

    query: str
    passage: int


def needs(found: list[Passage], count: int) -> list[Need]:
    """Make queries from passages: one word of the title, two words of the text, and two stop words."""
    random = np.random.default_rng(1)
    made = []
    for number in random.choice(len(found), count, replace=False).tolist():
        title, text = words(found[number].title), words(found[number].text)
        rare = [word for word in text if word not in STOP_WORDS]
        typed = [*random.choice(title, 1), *random.choice(rare, 2), *random.choice(sorted(STOP_WORDS), 2)]
        made.append(Need(" ".join(random.permutation(typed)), number))
    return made


class Application:
    """The search application. `duels` is a `Tournament` or, over HTTP, a `Client`."""

    def __init__(self, index: Index, duels: Any) -> None:
        self.duels = duels
        self.search = cache(lambda query, name: index.search(query, BY_NAME[name]))

    def page(self, query: str) -> tuple[rd.live.LiveDuel, list[Any]]:
        """Return the duel of a query and the passages to show."""
        duel = self.duels.ask(query_id=str(uuid4()))
        page = duel.interleave(self.search(query, duel.first), self.search(query, duel.second), k=10)
        return duel, list(page.documents)

    def clicked(self, duel: rd.live.LiveDuel, documents: list[int]) -> None:
        """Report the clicks on the page of a duel."""
        self.duels.tell(duel, clicks=documents)


def use(application: Application, need: Need) -> None:
    """Simulate one search of one user."""
    duel, shown = application.page(need.query)
    places = USER.click([int(document == need.passage) for document in shown])
    application.clicked(duel, [shown[place] for place in places])


def mean_reciprocal_ranks(application: Application, everybody: list[Need]) -> dict[str, float]:
    """Compute the true mean reciprocal rank of the sought passage for each ranker, 0 if it is not in the list."""
    means = {}
    for name in BY_NAME:
        lists = [(application.search(need.query, name), need.passage) for need in everybody]
        places = [found.index(sought) + 1 if sought in found else np.inf for found, sought in lists]
        means[name] = float(np.mean(1 / np.array(places)))
    return means


def play(application: Application, tournament: rd.Tournament, everybody: list[Need], searches: int) -> None:
    """Simulate searches of sixteen users at a time until there is a decision."""
    random = np.random.default_rng(2)
    with ThreadPoolExecutor(16) as threads:
        for done in range(1000, searches + 1, 1000):
            users = [everybody[one] for one in random.integers(len(everybody), size=1000)]
            list(threads.map(use, [application] * 1000, users))
            if application.duels is not tournament:
                application.duels.flush()  # the client sends in the background
            decision = tournament.decision()
            print(f"{done:7,} searches: {len(decision.left):2} rankers left, {decision.champion} leads")
            if decision.winner or decision.tied:
                return


def main() -> None:
    """Search until the best ranker is found, and compare it with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--searches",
        type=int,
        default=50_000,
        help="maximum number of searches, in steps of 1,000 (default: %(default)s)",
    )
    parser.add_argument("--storage", help="storage, such as sqlite:///duels.db (default: a temporary file)")
    parser.add_argument("--service", help="URL of a rankduel service to use instead, such as http://127.0.0.1:8080")
    options = parser.parse_args()

    found = passages()
    everybody = needs(found, 400)
    print(f"{len(found):,} passages of Python's documentation, {len(everybody)} queries, {len(RANKERS)} rankers")
    with TemporaryDirectory() as folder:
        tournament = rd.Tournament.create(
            "python-docs",
            rankers=list(BY_NAME),
            storage=options.service or options.storage or f"sqlite:///{Path(folder) / 'duels.db'}",
            tolerance=0.05,  # two rankers are equal if each wins 45 to 55 % of their duels
            seed=1,
            exist_ok=True,
        )
        duels: Any = tournament
        if options.service:
            # Simulated users are patient. For real users keep the default deadline of 25 ms.
            duels = rd.Client(options.service, tournament.name, deadline=2.0, baseline=RANKERS[0].name)
        application = Application(Index(found), duels)
        play(application, tournament, everybody, options.searches)
        decision = tournament.decision()
        duels.close()
        tournament.close()

    print(decision)
    truth = mean_reciprocal_ranks(application, everybody)
    best = max(truth, key=truth.__getitem__)
    print(f"In truth, {decision.champion} has a mean reciprocal rank of {truth[decision.champion]:.3f}.")
    print(f"The best of all is {best} with {truth[best]:.3f}. The average is {np.mean(list(truth.values())):.3f}.")
    if decision.champion == best:
        print("The champion is the best ranker.")
    else:
        print(f"The best ranker {'is still left' if best in decision.left else 'was eliminated: a wrong decision'}.")


if __name__ == "__main__":
    main()
