"""A search application finds the best of its fifty rankers from clicks: `python examples/search_app`.

Every search asks the tournament which two rankers should meet, shows one page made of both lists, and tells which
results were clicked. The application is real (text, index, rankers); only its users are simulated: each looks for one
passage, types a few words of it, and clicks as rankduel's click models do.
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
USER = rd.clicks.navigational(grades=2)  # clicks mostly what is relevant, and then leaves


class Need(NamedTuple):
    """What somebody looks for, and what they type."""

    query: str
    passage: int


def needs(found: list[Passage], count: int) -> list[Need]:
    """Queries made from passages: a word of the title, some words of the text, and the little words between them."""
    random = np.random.default_rng(1)
    made = []
    for number in random.choice(len(found), count, replace=False).tolist():
        title, text = words(found[number].title), words(found[number].text)
        rare = [word for word in text if word not in STOP_WORDS]
        typed = [*random.choice(title, 1), *random.choice(rare, 2), *random.choice(sorted(STOP_WORDS), 2)]
        made.append(Need(" ".join(random.permutation(typed)), number))
    return made


class Application:
    """What stands between users and the search engine. `duels` is a `Tournament` or, over HTTP, a `Client`."""

    def __init__(self, index: Index, duels: Any) -> None:
        self.duels = duels
        self.search = cache(lambda query, name: index.search(query, BY_NAME[name]))

    def page(self, query: str) -> tuple[rd.live.LiveDuel, list[Any]]:
        """The passages to show, and the duel that they are from."""
        duel = self.duels.ask(query_id=str(uuid4()))
        page = duel.interleave(self.search(query, duel.first), self.search(query, duel.second), k=10)
        return duel, list(page.documents)

    def clicked(self, duel: rd.live.LiveDuel, documents: list[int]) -> None:
        """What a user has clicked on that page."""
        self.duels.tell(duel, clicks=documents)


def use(application: Application, need: Need) -> None:
    """One search of one user."""
    duel, shown = application.page(need.query)
    places = USER.click([int(document == need.passage) for document in shown])
    application.clicked(duel, [shown[place] for place in places])


def success(application: Application, everybody: list[Need]) -> dict[str, float]:
    """The truth, which only a simulation knows: the mean of 1 / place of what was looked for, 0 if it is not there."""
    rates = {}
    for name in BY_NAME:
        lists = [(application.search(need.query, name), need.passage) for need in everybody]
        places = [found.index(sought) + 1 if sought in found else np.inf for found, sought in lists]
        rates[name] = float(np.mean(1 / np.array(places)))
    return rates


def play(application: Application, tournament: rd.Tournament, everybody: list[Need], searches: int) -> None:
    """Users come, sixteen at a time, until there is a decision."""
    random = np.random.default_rng(2)
    with ThreadPoolExecutor(16) as threads:
        for done in range(1000, searches + 1, 1000):
            users = [everybody[one] for one in random.integers(len(everybody), size=1000)]
            list(threads.map(use, [application] * 1000, users))
            if application.duels is not tournament:
                application.duels.flush()  # a client sends in the background
            decision = tournament.decision()
            print(f"{done:7,} searches: {len(decision.left):2} left, ahead is {decision.champion}")
            if decision.winner or decision.tied:
                return


def main() -> None:
    """Search until the best ranker is found, and compare with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--searches", type=int, default=50_000, help="at most so many; they come by the thousand")
    parser.add_argument("--storage", help="of the tournament, as sqlite:///duels.db; by default a temporary file")
    parser.add_argument("--service", help="use the service there instead, as http://127.0.0.1:8080")
    options = parser.parse_args()

    found = passages()
    everybody = needs(found, 400)
    print(f"{len(found):,} passages of Python's documentation, {len(everybody)} queries, {len(RANKERS)} rankers")
    with TemporaryDirectory() as folder:
        tournament = rd.Tournament.create(
            "python-docs",
            rankers=list(BY_NAME),
            storage=options.service or options.storage or f"sqlite:///{Path(folder) / 'duels.db'}",
            tolerance=0.05,  # rankers that win 45 to 55 % of their duels are as good as each other
            seed=1,
            exist_ok=True,
        )
        duels: Any = tournament
        if options.service:
            # Simulated users are patient; for real ones leave the deadline at 25 ms.
            duels = rd.Client(options.service, tournament.name, deadline=2.0, baseline=RANKERS[0].name)
        application = Application(Index(found), duels)
        play(application, tournament, everybody, options.searches)
        decision = tournament.decision()
        duels.close()
        tournament.close()

    print(decision)
    rates = success(application, everybody)
    best = max(rates, key=rates.__getitem__)
    print(f"Truly, {decision.champion} has a success rate of {rates[decision.champion]:.3f}.")
    print(f"The best of all is {best} with {rates[best]:.3f}, the mean {np.mean(list(rates.values())):.3f}.")
    if decision.champion == best:
        print("The tournament was right.")
    else:
        print(f"The best one is {'still among those left' if best in decision.left else 'out: this was wrong'}.")


if __name__ == "__main__":
    main()
