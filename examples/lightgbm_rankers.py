"""LightGBM rankers as arms: which of a dozen trained models do users like best? `python examples/lightgbm_rankers.py`.

The script trains the models on one half of a synthetic collection. Simulated users compare them on the other half. It
needs LightGBM: `pip install 'rankduel[models]'`. For models in files and LETOR data you need less code:
`rd.datasets.load_letor(path, models=[...])`.
"""

import argparse

import lightgbm
import numpy as np

import rankduel as rd

# (trees, leaves per tree, training queries): from hardly trained to well trained
MODELS = [(trees, leaves, queries) for trees in (1, 4, 16, 64) for leaves, queries in [(4, 20), (4, 200), (31, 200)]]


def features_of(collection: rd.datasets.Collection, query: int) -> np.ndarray:
    """Make a feature row for each document of a query: its position in the list of each ranker, ties included.

    In LETOR collections each feature serves as a ranker. Here each ranker serves as a feature.
    """
    return np.column_stack([collection.starts(query, ranker) for ranker in range(collection.n_rankers)])


def train(collection: rd.datasets.Collection, trees: int, leaves: int) -> lightgbm.Booster:
    """Train LambdaMART on all queries of a collection."""
    rows = np.concatenate([features_of(collection, query) for query in range(collection.n_queries)])
    parameters = {
        "objective": "lambdarank",
        "num_leaves": leaves,
        "learning_rate": 0.2,
        "num_threads": 1,
        "verbose": -1,
    }
    data = lightgbm.Dataset(rows, collection.grades, group=collection.sizes)
    return lightgbm.train(parameters, data, num_boost_round=trees)


def ndcg(collection: rd.datasets.Collection, ranker: int, k: int = 10) -> float:
    """Compute the mean NDCG@k of a ranker: the truth, which the bandit does not see."""
    ideal = collection.ideal_dcg(k)
    gains = []
    for query in range(collection.n_queries):
        grades = collection.grades_of(query)[collection.ranking(query, ranker)[:k]]
        dcg = np.sum((2.0**grades - 1) / np.log2(np.arange(2, len(grades) + 2)))
        gains.append(dcg / ideal[query] if ideal[query] else 0)
    return float(np.mean(gains))


def main() -> None:
    """Train the models, run the bandit, and compare the result with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--searches", type=int, default=2_000_000, help="maximum number of searches (default: %(default)s)"
    )
    options = parser.parse_args()

    weak = rd.datasets.synthetic(
        n_queries=400, n_rankers=20, n_documents=40, quality=np.linspace(0, 0.35, 20), tieness=[0.2] * 20, seed=1
    )
    ours, theirs = weak.select(queries=range(200)), weak.select(queries=range(200, 400))
    models = [train(ours.select(queries=range(queries)), trees, leaves) for trees, leaves, queries in MODELS]
    names = [f"{trees} x {leaves} leaves from {queries} queries" for trees, leaves, queries in MODELS]

    rows = np.concatenate([features_of(theirs, query) for query in range(theirs.n_queries)])
    scores = np.column_stack([model.predict(rows) for model in models])
    arms = rd.datasets.Collection.from_scores(theirs.grades, theirs.offsets, scores, rankers=names)

    world = rd.SearchWorld(arms, clicks="navigational", interleaving="team_draft", k=10)
    bandit = rd.CertifiedSparring(world.n_arms, delta=0.01, tolerance=0.02, seed=1)
    run = rd.simulate(bandit, world, horizon=options.searches, seed=2)

    truth = [ndcg(arms, ranker) for ranker in range(arms.n_rankers)]
    for ranker in np.argsort(truth)[::-1].tolist():
        print(f"NDCG@10 {truth[ranker]:.3f}  {'left' if ranker in bandit.alive else 'out':4}  {names[ranker]}")
    print(bandit.decision())
    best = int(np.argmax(truth))
    played = options.searches if run.converged_at is None else run.converged_at
    print(f"{played:,} searches eliminated {arms.n_rankers - bandit.n_alive} of {arms.n_rankers} models.")
    print(f"The best by NDCG, {names[best]}, is {'among those left' if best in bandit.alive else 'out'}.")


if __name__ == "__main__":
    main()
