"""The numbers and texts of the decision page: intervals, rivals, clients, next steps, timeline, progress, ties."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from dashboard.tournaments import names, play
from rankduel.dashboard import leaderboard, markdown, progress, report
from rankduel.dashboard.comparisons import compare, rivals
from rankduel.dashboard.confidence_sequence import win_interval
from rankduel.dashboard.next_steps import next_steps
from rankduel.live import LocalTournament, View
from rankduel.live.admin.retention import prune
from rankduel.live.standings import decision

FIRST, SECOND = rd.Outcome.FIRST, rd.Outcome.SECOND

# Intervals


def wealth(wins: int, losses: int, p: float) -> float:
    """The wealth of the mixture of bets against p, duel by duel: the prediction of Krichevsky and Trofimov."""
    wealth, won = 1.0, 0
    for n, win in enumerate([True] * wins + [False] * losses):
        predicted = (won + 0.5) / (n + 1)
        wealth *= predicted / p if win else (1 - predicted) / (1 - p)
        won += win
    return wealth


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (0, 1), (9, 0), (7, 3), (40, 60), (300, 241), (1, 500)])
def test_an_interval_ends_where_the_wealth_is_20(wins: int, losses: int) -> None:
    low, high = win_interval(wins, losses)
    assert low < wins / (wins + losses) < high or 0 in (wins, losses)
    for edge, inwards in ((low, 1e-6), (high, -1e-6)):
        if 0 < edge < 1:
            assert wealth(wins, losses, edge) == pytest.approx(20)
            assert wealth(wins, losses, edge + inwards) < 20
    assert (low == 0) == (wealth(wins, losses, 1e-12) < 20)
    assert (high == 1) == (wealth(wins, losses, 1 - 1e-12) < 20)


def test_an_interval_of_many_duels_is_not_much_wider_than_a_fixed_one() -> None:
    low, high = win_interval(5_100_000, 4_900_000)
    assert 1.5 < (high - low) / (2 * 1.96 * math.sqrt(0.25 / 1e7)) < 2.5
    assert win_interval(0, 0) == (0, 1)
    assert win_interval(3, 4) == pytest.approx([1 - edge for edge in win_interval(4, 3)[::-1]])


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_intervals_of_wins_hold_the_truth_at_all_times(p: float) -> None:
    """Stopped at the worst of 3,000 duels, 5 % of 400 runs may miss the truth. More than 44 would happen once in 10^6.

    Wald's interval for a fixed number of duels (1.96 standard errors) misses in nearly half of the runs.
    """
    random = np.random.default_rng(1)
    wins = np.cumsum(random.random((400, 3000)) < p, axis=1)
    n = np.arange(1, 3001)
    worst = (np.abs(wins / n - p) / np.sqrt(p * (1 - p) / n)).argmax(axis=1)
    looks = sorted({int(1.1**k) for k in range(1, 84)})
    missed = wald = 0
    for won, at in zip(wins.tolist(), worst.tolist(), strict=True):
        bounds = [win_interval(won[k - 1], k - won[k - 1]) for k in [*looks, at + 1]]
        missed += not all(low <= p <= high for low, high in bounds)
        rates = [(won[k - 1] / k, k) for k in [*looks, at + 1] if k >= 100]
        wald += any(abs(rate - p) > 1.96 * math.sqrt(rate * (1 - rate) / k) for rate, k in rates)
    assert missed <= 44
    assert wald > 100


# Comparisons


@pytest.fixture
def view(tmp_path: Path) -> View:
    """The view of five rankers, of which c-4 is the baseline. The champion is the first one."""
    rankers = [f"c-{k}" for k in range(5)]
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=rankers, storage=url, baseline="c-4", delta=0.05, seed=1) as t:
        return replace(t.view(), champion=0)


def with_duels(view: View) -> View:
    wins = {(0, 1): 400, (1, 0): 352, (0, 2): 90, (2, 0): 60, (0, 3): 1, (3, 4): 20, (4, 3): 4}
    ties = {(0, 1): 1_179, (0, 2): 50, (0, 4): 3}
    return replace(view, wins=wins, ties=ties, resolved=sum(wins.values()) + sum(ties.values()))


def test_the_winner_is_compared_with_the_baseline_and_its_rivals(view: View) -> None:
    view = with_duels(view)
    found = rivals(view)
    assert next(iter(found)) == (0, 4)
    assert {pair: [role for role in roles if role != "next by rating"] for pair, roles in found.items()} == {
        (0, 4): ["baseline", "met most often"],
        (0, 1): ["met most often"],
        (0, 2): ["met most often"],
        **({(0, 3): []} if (0, 3) in found else {}),
    }
    by_rating = sorted(range(1, 5), key=lambda arm: -view.ratings.means[arm])[:2]
    assert [pair for pair, roles in found.items() if "next by rating" in roles] == sorted(
        ((0, arm) for arm in by_rating), key=list(found).index
    )
    clients = dict.fromkeys(found, 412) | {(0, 2): None}
    of = {one.rival: one for one in compare(view, clients)}
    low, high = win_interval(400, 352)
    assert (of["c-1"].low, of["c-1"].high, of["c-1"].win_share) == (low, high, 400 / 752)
    assert of["c-1"].sentence == (
        f"c-0 wins 53.2 % of decisive duels against c-1 (95 % interval {math.floor(1000 * low) / 10:.1f} % to "
        f"{math.ceil(1000 * high) / 10:.1f} %), 1,931 duels, 412 clients. 61.1 % of these duels were ties, so in "
        "100 duels c-0 wins 2.5 more than it loses."
    )
    assert "200 duels, an unknown number of clients." in of["c-2"].sentence
    assert of["c-4"].win_share is None
    assert of["c-4"].sentence.startswith(
        "c-0 and c-4 met only in ties (3 duels). By the ratings of all rankers, c-0 wins"
    )


def test_a_pair_that_has_not_met_is_estimated_and_a_tied_set_is_compared(view: View) -> None:
    assert compare(view, dict.fromkeys(rivals(view), 0))[0].sentence == (
        "c-0 and c-4 met in no duel. By the ratings of all rankers, c-0 wins an estimated 50.0 %, with a tie as half a "
        "win. This estimate has no guarantee."
    )
    tied = replace(with_duels(view), decision=replace(view.decision, tied=(0, 2)))
    assert rivals(tied)[0, 2][0] == "tied"


def test_clients_are_counted_until_they_are_removed(tmp_path: Path) -> None:
    url, random = f"sqlite:///{tmp_path}/duels.db", np.random.default_rng(1)
    with LocalTournament.create("t", rankers=["a", "b", "c"], storage=url, seed=1, bandit="Uniform") as t:
        for _ in range(3):
            duels = t.ask_many([(None, f"u{client}") for client in random.integers(0, 200, 150)])
            t.tell_many([(duel, rd.Outcome.TIE) for duel in duels[:100]])
        rows = [row for row in t.duels(450) if row.state == "resolved"]
        pairs = [(0, 1), (2, 1)]
        expected = {pair: len({row.client for row in rows if {row.first, row.second} == set(pair)}) for pair in pairs}
        counts = t.count_clients(pairs)
        assert (counts.total, counts.of_pairs) == (len({row.client for row in rows}), expected)
        assert min(expected.values()) > 50
        made = report(t)
        assert made.clients == counts.total
        assert f"| Clients | {counts.total} |" in markdown(made)
        t.tell(t.ask(None, "somebody"), rd.Outcome.TIE)
        assert t.count_clients().total == (counts.total or 0) + 1
        t.erase_client("somebody")
        assert t.count_clients().total is None
    list(prune(url, 1e-6))
    with LocalTournament.open("t", storage=url) as t:
        made = report(t)
    assert made.clients is None
    assert {one.clients for one in made.comparisons} == {None}
    assert "an unknown number of clients" in made.comparisons[0].sentence or made.comparisons[0].win_share is None
    assert "| Clients | unknown |" in markdown(made)


# Next steps


def steps(view: View, **changes: object) -> list[str]:
    view = replace(view, **changes)  # type: ignore[arg-type]
    found = decision(view)
    reached = found.winner is not None or bool(found.tied)
    comparisons = compare(view, dict.fromkeys(rivals(view), 9))
    return [one.action for one in next_steps(view, found, comparisons, reached=reached)]


def test_what_to_do_next(view: View) -> None:
    won = replace(view.decision, winner=0)
    assert steps(view) == ["Send traffic to the tournament"]
    assert steps(with_duels(view)) == ["Run longer"]
    assert steps(with_duels(view), status="paused")[0].startswith("Find out why the tournament is paused")
    assert steps(view, status="draft") == ["Start the tournament"]
    assert steps(with_duels(view), status="stopped")[:2] == [
        "Do not roll out on these results",
        "Start a new tournament with the rankers that are left",
    ]
    assert steps(with_duels(view), evidence=None) == ["Use a certified bandit to get a decision"]
    assert steps(with_duels(view), decision=won) == [
        "Roll out c-0 to a small share of the traffic",
        "A/B test c-0 against c-4 to learn how much better it is",
    ]
    beaten = replace(with_duels(view), wins={(0, 4): 300, (4, 0): 100}, decision=won)
    assert steps(beaten) == ["Roll out c-0", "A/B test it if clicks are not your goal"]
    assert steps(beaten, status="rolled_out")[0] == "Watch the guardrails, then raise the share"
    own = replace(beaten, settings=replace(view.settings, baseline="c-0"))
    assert steps(own) == ["Keep c-0"]
    outside = replace(beaten, settings=replace(view.settings, baseline="elsewhere"))
    assert steps(outside) == ["A/B test c-0 against elsewhere"]
    confidence = replace(view.decision.confidence, tolerance=0.02)
    tied = replace(view.decision, tied=(0, 4), confidence=confidence)
    assert steps(with_duels(view), decision=tied) == ["Keep c-4"]
    assert steps(with_duels(view), decision=replace(tied, tied=(0, 1))) == [
        "Choose the cheapest or fastest of c-0 and c-1, and roll it out"
    ]


# The whole report


@pytest.fixture(scope="module")
def t(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTournament]:
    """A decided tournament with operator actions and a retired ranker."""
    url = f"sqlite:///{tmp_path_factory.mktemp('decision')}/duels.db"
    with LocalTournament.create("t", rankers=names(20), storage=url, baseline="ranker-3", delta=0.05, seed=1) as t:
        play(t, 500, np.linspace(1.5, 0, 20))
        t.pause("a release", by="ann")
        t.start(by="ben")
        t.retire("ranker-9", "too slow", by="ann")
        play(t, 60_000, np.linspace(1.5, 0, 20))
        assert t.winner == "ranker-0"
        yield t


def test_losers_are_listed_by_rating_everywhere(t: LocalTournament) -> None:
    """A ranker that was eliminated late is not better than one that was eliminated early."""
    order = [line.ranker for line in t.leaderboard()]
    assert [line.ranker for line in leaderboard(t.view())] == [line.ranker for line in report(t).rankers] == order
    ratings = dict(zip(t.view().names, t.view().ratings.means.tolist(), strict=True))
    assert (order[0], order[-1]) == ("ranker-0", "ranker-9")
    assert order[1:-1] == sorted(order[1:-1], key=lambda name: -ratings[name])
    assert order[1:-1] != list(reversed(t.decision().eliminated))
    truth = np.corrcoef([int(name.split("-")[1]) for name in order[1:-1]], range(18))[0, 1]
    assert truth > 0.9


def test_the_timeline_has_the_times_of_the_journal(t: LocalTournament) -> None:
    found = report(t).timeline
    events = list(t.journal())
    resolved = [event.time for event in events if event.kind == "resolved"]
    assert [one.text for one in found[:4]] == [
        "Created with 20 rankers",
        "Paused by ann: a release",
        "Started again by ben",
        "ranker-9 retired by ann: too slow",
    ]
    assert [one.resolved for one in found[:4]] == [0, 500, 500, 500]
    for one in found[4:]:
        assert one.resolved is not None
        assert one.time == resolved[one.resolved - 1]
        assert "eliminated" in one.text
    assert sum("ranker-3, the baseline, eliminated" in one.text for one in found) == 1
    assert found[-1].text.endswith("ranker-0 is the winner")
    assert found == sorted(found, key=lambda one: one.resolved or 0)
    assert len(found) < 12


def test_markdown_has_all_texts_of_the_report(t: LocalTournament) -> None:
    made = report(t)
    text = markdown(made).replace("\\", "")
    sentences = [one.sentence for one in made.comparisons] + [one.text for one in made.timeline]
    for sentence in (made.headline, made.users_see, made.effect_text, *sentences, *made.assumptions):
        assert sentence in text
    for step in made.next_steps:
        assert f"**{step.action}.** {step.reason}" in text
    for row in made.rankers:
        shares = f"{100 * row.rating:.1f} % | {row.wins + row.losses + row.ties:,} | {100 * row.win_share:.1f} %"
        assert f"| `{row.ranker}` | {row.state} | {shares} |" in text


def test_ties_are_counted_apart_and_explained(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    outcomes = (rd.Outcome.TIE, rd.Outcome.FIRST, rd.Outcome.TIE, rd.Outcome.SECOND, rd.Outcome.TIE)
    with LocalTournament.create("t", rankers=["a", "b"], storage=url, tolerance=0.1, delta=0.05, seed=1) as t:
        duels = t.ask_many([(None, None)] * 500)
        t.tell_many(list(zip(duels, outcomes * 100, strict=True)))
        made = report(t)
        assert (made.duels, made.ties) == (500, 300)
        for row, line in zip(made.rankers, t.leaderboard(), strict=True):
            assert row.tie_share == line.tie_share == 0.6
            assert row.win_share == line.win_share == row.wins / 200
        (about,) = [text for text in made.assumptions if text.startswith("Ties: 60 % of the duels.")]
        assert "tied rankers win 40 % to 60 % of them" in about
        assert "differ by at most 8.0." in about  # 200 * 0.1 * 0.4
        assert "| Ties | 300 (60.0 % of the resolved duels) |" in markdown(made)


# Progress


@pytest.mark.parametrize(
    "bandit", ["CertifiedSparring(delta=0.1)", "CertifiedSparring(delta=0.1, tolerance=0.2)", "MergeDTS", "MergeRUCB"]
)
def test_progress_never_shrinks(bandit: str, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(9), storage=url, bandit=bandit, seed=1) as t:
        random, found = np.random.default_rng(1), [progress(t.view())]
        while t.winner is None and not t.decision().tied:
            duels = [duel for duel in t.ask_many([(None, None)] * 10) if duel.id is not None]
            first = [(duel.first < duel.second) == (random.random() < 0.7) for duel in duels]
            t.tell_many([(duel, FIRST if won else SECOND) for duel, won in zip(duels, first, strict=True)])
            found.append(progress(t.view()))
        assert None not in found
        assert found == sorted(found, key=lambda share: share or 0)
        assert found[0] == 0
        assert found[-1] == 1
        assert all(share is not None and share < 1 for share in found[:-1])
        assert len(set(found)) > len(t.timeline())  # it moves between eliminations, too


def test_progress_shrinks_only_when_rankers_are_added(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(8), storage=url, seed=1) as t:
        play(t, 500, np.linspace(1, 0, 8))
        before = progress(t.view())
        t.retire("ranker-5")
        retired = progress(t.view())
        t.add_rankers(["new-1", "new-2"])
        added = progress(t.view())
        assert None not in (before, retired, added)
        assert max(before or 0, added or 0) < (retired or 0)
    with LocalTournament.create("u", rankers=names(3), storage=url, bandit="SelfSparring", seed=1) as t:
        assert progress(t.view()) is None
