"""Numbers and texts of pages: views, leaderboards, grids, ratings, forecasts, sentences and reports."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankduel as rd
from dashboard.tournaments import names, play
from rankduel.bandits import REGISTRY
from rankduel.dashboard import (
    Forecast,
    duel_context,
    enough_at_elimination,
    explain_duel,
    fair_sides,
    forecast,
    health_status,
    leaderboard,
    markdown,
    preference_grid,
    report,
    selection_rule,
    summary_sentence,
    user_effect,
)
from rankduel.dashboard.leaderboard import interval
from rankduel.live import DuelRow, Event, LocalTournament, view_at
from rankduel.live.ratings import Ratings

TRUE = np.linspace(1, 0, 12)


@pytest.fixture(scope="module")
def t(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalTournament]:
    """Twelve rankers, with ties and duels of a ranker with itself."""
    url = f"sqlite:///{tmp_path_factory.mktemp('reports')}/duels.db"
    with LocalTournament.create(
        "t", rankers=names(12), storage=url, baseline="ranker-6", bandit="Uniform", seed=1
    ) as t:
        play(t, 6_000, TRUE.tolist())
        t.tell_many([(duel, rd.Outcome.TIE) for duel in t.ask_many([(None, None)] * 100)])
        t.pause("a | b", by="ann")
        t.start(by="ben")
        yield t


def test_a_view_has_the_numbers_of_the_tournament(t: LocalTournament) -> None:
    view = t.view()
    assert t.view() is view  # nothing has happened
    met = [
        (names(12).index(one.first), names(12).index(one.second), one.wins, one.losses, one.ties)
        for one in t.preferences()
    ]
    assert [tuple(row) for row in view.meetings.tolist()] == met
    stands = {one.ranker: [one.wins, one.losses, one.ties] for one in t.leaderboard()}
    assert dict(zip(view.names, view.records.tolist(), strict=True)) == stands
    assert {line.ranker: [line.wins, line.losses, line.ties] for line in leaderboard(view)} == stands
    play(t, 500, TRUE.tolist(), seed=9)
    assert t.view().resolved == view.resolved + 500


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_a_ranker_goes_when_the_evidence_is_enough(tmp_path: Path, tolerance: float | None) -> None:
    """With a tolerance, more evidence is needed while many rankers are left: 2 / delta would be too little."""
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(12), storage=url, delta=0.05, tolerance=tolerance, seed=1) as t:
        view = t.view()
        assert view.enough == pytest.approx(math.log(20 if tolerance is None else 2 * 12 * 20))
        while len(view.alive) == 12:
            before = view
            assert before.evidence is not None
            assert before.evidence.max() < before.enough
            play(t, 1, TRUE.tolist(), seed=before.resolved)
            view = t.view()
        (gone,) = set(before.alive) - set(view.alive)
        assert view.evidence is not None
        assert view.evidence[gone] >= before.enough
        (departure,) = t.timeline()
        assert enough_at_elimination(view, departure) == pytest.approx(before.enough)
        rows = {row.ranker: row for row in leaderboard(view)}
        shares = {name: row.evidence for name, row in rows.items()}
        assert shares.pop(departure.ranker) == 1
        assert view.enough is not None
        for name, share in shares.items():
            assert share == min(1, max(0, view.evidence[view.names.index(name)] / view.enough))
        if tolerance is not None:  # then the number of rankers left at that time is unknown
            assert enough_at_elimination(replace(view, retired={11: 1}), departure) is None
            assert enough_at_elimination(view, replace(departure, left=100)) is None


def test_the_audit_is_the_journal_without_outcomes(t: LocalTournament) -> None:
    others = [event for event in t.journal() if event.kind != "resolved"]
    assert t.audit() == others[::-1]
    assert t.audit(limit=1, before=others[-1].number) == [others[-2]]
    times = [event.time for event in t.journal() if event.kind == "resolved"]
    for moment in (0.0, times[0], times[3000], times[-1], times[-1] + 1):
        assert t.resolved_since(moment) == sum(time >= moment for time in times)


def test_ratings_find_the_truth_and_the_effect_is_measured_against_the_baseline(t: LocalTournament) -> None:
    view = t.view()
    rated = view.ratings
    assert np.abs((rated.means - rated.means.mean()) - (TRUE - TRUE.mean())).max() < 0.25
    found = user_effect(view)
    assert found is not None
    chance = 1 / (1 + np.exp(TRUE[6] - TRUE)) - 0.5  # of each to beat the baseline; all meet equally often
    assert found.against == "ranker-6"
    assert found.per_page == pytest.approx(chance.mean(), abs=0.02)
    assert found.pages == pytest.approx(found.per_page * view.resolved)
    unknown = replace(view, settings=replace(view.settings, baseline="none of them"))
    assert user_effect(unknown) is None


def test_the_effect_is_positive_if_users_see_better_rankers(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    for baseline, better in (("ranker-0", False), ("ranker-2", True)):
        with LocalTournament.create(baseline, rankers=names(3), storage=url, baseline=baseline, seed=1) as t:
            play(t, 500, [2.0, 1.0, 0.0])
            found = user_effect(t.view())
            assert found is not None
            assert (found.per_page > 0) == better
            word = "better" if better else "worse"
            assert f"% {word} than `{baseline}` |\n" in markdown(report(t))


def test_a_grid_holds_every_duel_between_its_groups(t: LocalTournament) -> None:
    view = t.view()
    order = [view.names.index(line.ranker) for line in leaderboard(view)]
    wins = np.zeros((12, 12), int)
    for (won, lost), count in view.wins.items():
        wins[won, lost] += count
    wins = wins[np.ix_(order, order)]
    whole = preference_grid(view, 100)
    assert (whole.group, whole.rankers) == (1, [view.names[arm] for arm in order])
    assert {(row, column): (won, lost) for row, column, won, lost, _ in whole.cells} == {
        (i, j): (wins[i, j], wins[j, i]) for i in range(12) for j in range(i + 1, 12)
    }
    grouped = preference_grid(view, 5)
    assert grouped.group == 3
    for row, column, won, lost, _ in grouped.cells:
        assert won == wins[3 * row : 3 * row + 3, 3 * column : 3 * column + 3].sum()
        assert lost == wins[3 * column : 3 * column + 3, 3 * row : 3 * row + 3].sum()
    part = preference_grid(view, 100, 4, 9)
    assert (part.rankers, part.first, part.total) == (whole.rankers[4:9], 4, 12)
    assert {tuple(cell) for cell in part.cells} == {
        (row - 4, column - 4, *more) for row, column, *more in whole.cells if row >= 4 and column < 9
    }


def test_intervals_hold_the_truth_at_all_times() -> None:
    """Checked after each of 3,000 duels, 5 % of 400 runs may miss. More than 44 would happen once in 10^6.

    Intervals that are valid at one time only (1.96 standard errors) miss in most runs.
    """
    random = np.random.default_rng(1)
    wins = np.cumsum(random.random((400, 3000)) < 0.5, axis=1)
    n = np.arange(1, 3001)
    radius = np.array([interval(0.5, int(k))[1] - 0.5 for k in n])
    apart = np.abs(wins / n - 0.5)
    assert (apart > np.where(radius < 0.5, radius, 1.0)).any(1).sum() <= 44
    assert (apart > 1.96 * 0.5 / np.sqrt(n)).any(1).sum() > 100


def test_a_forecast_is_near_what_happens(tmp_path: Path) -> None:
    """On average within a factor of three of the actual number of duels, if the truth is as the model assumes."""
    ratio = []
    for seed in range(10):
        truth = rd.Utilities(np.random.default_rng(seed).normal(0, 0.4, 16))
        bandit = rd.CertifiedSparring(16, delta=0.05, seed=seed)
        rd.simulate(bandit, truth, horizon=300, seed=seed)
        if bandit.n_alive == 1:
            continue
        kept, told = bandit.snapshot(), bandit.told
        wins = {
            pair: count
            for i, j, won, lost in bandit.meetings.tolist()
            for pair, count in (((i, j), won), ((j, i), lost))
            if count
        }
        real = rd.simulate(bandit, truth, horizon=10**7, seed=100 + seed).converged_at
        with LocalTournament.create("t", rankers=names(16), storage=f"sqlite:///{tmp_path}/{seed}.db") as t:
            rated = replace(t.view(), wins=wins).ratings
        found = forecast(rd.CertifiedSparring, kept, rated, resolved=told)
        assert real
        assert found.duels is not None
        ratio.append(math.log(max(1, found.duels) / real))
    assert len(ratio) > 5
    assert abs(np.mean(ratio)) < math.log(3), ratio


def test_a_forecast_takes_limited_time() -> None:
    bandit = rd.CertifiedSparring(50, seed=1)
    same = Ratings(np.zeros(50), np.zeros(50))
    assert forecast(rd.CertifiedSparring, bandit.snapshot(), same, resolved=0, seconds=0.3) == Forecast(
        None, None, None, 0
    )


def test_sentences(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(3), storage=url, delta=0.05, seed=1) as t:
        assert summary_sentence(t.view(), None, 0) == "No decision yet: 3 of 3 rankers are left (0 duels)."
        t.tell(t.ask(), rd.Outcome.FIRST)
        view, lead = t.view(), t.champion
        headline = f"No decision yet: 3 of 3 rankers are left, and {lead} leads (1 duel)."
        assert t.decision().headline == summary_sentence(view, None, 0) == headline
        assert (
            summary_sentence(view, Forecast(212_345, 1, 2, 5), per_day=105_000)
            == f"{headline} A decision needs about 210,000 more duels, 2 days at today's traffic."
        )
        assert summary_sentence(view, Forecast(1, 1, 2, 5), 0) == f"{headline} A decision needs about 1 more duel."
        assert summary_sentence(view, Forecast(0, 0, 2, 5), 1) == f"{headline} A decision is expected soon."
        assert summary_sentence(view, Forecast(None, None, None, 0), 1) == (
            f"{headline} A forecast of the decision is not possible yet."
        )
        assert (
            summary_sentence(view, None, 0, failing=True)
            == f"The tournament has failed, and users see the baseline. {headline}"
        )
        old = replace(view, settings=replace(view.settings, baseline=None))
        assert "users see the champion" in summary_sentence(old, None, 0, failing=True)
        stopped = summary_sentence(replace(view, status="stopped"), None, 0)
        assert stopped == f"Stopped before a decision: 3 of 3 rankers are left, and {lead} leads (1 duel)."

        t.pause()
        assert summary_sentence(t.view(), None, 0) == f"Paused. {headline}"
        t.start()
        play(t, 20_000, [2.0, 0.0, 0.0])
        decided = summary_sentence(t.view(), None, 0)
        assert decided.startswith("ranker-0 is the best of 3 rankers, with at least 95 % confidence (")
        assert decided == t.decision().headline
        t.stop()
        assert summary_sentence(t.view(), None, 0) == decided


def test_a_confidence_is_named_only_when_it_is_reached(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with LocalTournament.create("t", rankers=names(3), storage=url, delta=0.05, seed=1) as t:
        t.tell(t.ask(), rd.Outcome.FIRST)
        assert t.winner is None
        assert not report(t).confidence_reached
        running = markdown(report(t))
        assert "| Confidence | not reached, at least 95 % required |" in running
        assert "| Winner | no decision yet |" in running
        play(t, 20_000, [2.0, 0.0, 0.0])
        made = report(t)
        assert made.confidence_reached
        text = markdown(made).splitlines()
        assert text[2] == made.headline.replace("_", "\\_")
        assert any(line.startswith("- The confidence holds whenever you look, provided that") for line in text)
        assert "| Confidence | at least 95 % |" in text
        assert "| Winner | `ranker-0` |" in text
        doubtful = markdown(replace(made, confidence_reached=False))
        assert "| Winner | unclear: `ranker-0` left, but no ranker beats all others |" in doubtful
    with LocalTournament.create("u", rankers=names(3), storage=url, bandit="Uniform", seed=1) as t:
        play(t, 500, [2.0, 0.0, 0.0])
        text = markdown(report(t)).splitlines()
        assert not report(t).confidence_reached
    assert "| Confidence | none, this bandit gives no guarantee |" in text
    assert sum(line.startswith("| `ranker-") and line.endswith("| – |") for line in text) == 3


@pytest.mark.parametrize("bandit", REGISTRY)
def test_why_two_rankers_met(bandit: str, tmp_path: Path) -> None:
    """The explanation describes the time of the ask, whatever happened later."""
    assert "chosen by" not in selection_rule(bandit)
    with LocalTournament.create(
        "t", rankers=names(6), storage=f"sqlite:///{tmp_path}/duels.db", bandit=bandit, seed=1
    ) as t:
        play(t, 500, np.linspace(1, 0, 6))
        before = t.view()
        duel = min(t.ask_many([(None, None)] * 200), key=lambda duel: duel.first == duel.second)
        assert t.counts.issued == 700  # so they are in the storage
        (row,) = [row for row in t.duels(200) if row.id == duel.id]
        play(t, 500, np.linspace(1, 0, 6))
        then = view_at(t.storage, "t", row.issued)
    assert then is not None
    assert then.wins == before.wins
    pair = row.first, row.second
    won, lost = before.wins.get(pair, 0), before.wins.get(pair[::-1], 0)
    why, known = explain_duel(then, row), duel_context(then, row)
    assert why.startswith(f"After 500 outcomes, {len(before.alive)} of 6 rankers were left.")
    if duel.first == duel.second:  # SparringUCB1 repeats its duel until an outcome arrives
        assert f"{duel.first} was chosen for both sides." in why
    elif won + lost:
        assert f"{duel.first} won {won}, {duel.second} won {lost}." in why
    else:
        assert "They had not met before." in why
    assert (f"{before.names[before.champion]} was the champion." in why) == (before.champion in pair)
    assert ("in batch" in why) == (before.batches is not None)
    assert ("was drawn with probability" in why) == (row.first_propensity is not None)
    board = [line.ranker for line in leaderboard(before)]
    assert (known.resolved, known.wins, known.losses, known.ties) == (500, won, lost, 0)
    assert (known.first.ranker, known.second.ranker) == (duel.first, duel.second)
    assert (board[known.first_place - 1], board[known.second_place - 1]) == (duel.first, duel.second)


def test_a_nemesis_is_named_where_it_is_one(tmp_path: Path) -> None:
    with LocalTournament.create("t", rankers=names(3), storage=f"sqlite:///{tmp_path}/duels.db", seed=1) as t:
        view = replace(t.view(), resolved=100, wins={(0, 1): 9, (1, 0): 3, (2, 1): 30, (1, 2): 28, (2, 0): 1})
    clearly, hardly = (DuelRow(1, 1, None, None, first, 1, None, None, 0.0, 1.0) for first in (0, 2))
    assert "ranker-0 was the remaining ranker that had beaten ranker-1 most clearly." in explain_duel(view, clearly)
    assert "most clearly" not in explain_duel(view, hardly)
    assert "too old" in explain_duel(None, hardly)
    alone = explain_duel(view, clearly._replace(second=0))
    assert "ranker-0 was chosen for both sides." in alone


def test_sides_that_are_not_even_are_found(t: LocalTournament) -> None:
    """Checked after each of 5,000 duels, the p-value falls below 0.02 in at most 2 % of 300 runs.

    More than 22 would happen once in 10^6. A p-value that is good at one time only is below it in far more of them.
    """
    random = np.random.default_rng(1)
    first = np.cumsum(random.random((300, 5_000)) < 0.5, axis=1)
    n = np.arange(1, 5_001)
    well = t.health()

    def p(first: int, n: int) -> float:
        found = fair_sides(replace(well, outcomes={"first": int(first), "second": int(n - first)}))
        assert found is not None
        return found

    extreme = np.abs(first - n / 2) / np.sqrt(n / 4)
    worst = extreme.argmax(axis=1)  # p is nearly smallest where this is largest
    looked = [
        min(p(row[k], k + 1) for k in {*range(0, 5_000, 50), int(at)}) for row, at in zip(first, worst, strict=True)
    ]
    assert sum(found < 0.02 for found in looked) <= 22
    assert (extreme > 2.326).any(axis=1).sum() > 100
    assert p(2_750, 5_000) < 1e-6


def test_lights(t: LocalTournament) -> None:
    view, well = t.view(), t.health()
    assert health_status(view, well).state == "good"
    assert health_status(view, replace(well, failure="OSError: disk full")).state == "bad"
    lost = replace(well, counts=replace(well.counts, resolved=300, expired=700))
    assert health_status(view, lost).reasons == ["70 % of the duels expired without an outcome."]
    assert fair_sides(replace(well, outcomes={"first": 500, "second": 510})) == 1
    assert health_status(view, replace(well, outcomes={"first": 700, "second": 300})).state == "warning"
    paused = replace(view, status="paused")
    rail = Event(7, 0.0, "paused", {"by": "guardrail", "reason": "error on 40 of 400 pages"})
    told = health_status(paused, well, rail).reasons
    assert told == ["Paused by a guardrail: error on 40 of 400 pages. Users see the baseline."]
    assert (
        health_status(paused, well, rail._replace(body={"by": "ann", "reason": ""}))
        .reasons[0]
        .startswith("Paused by ann.")
    )


def test_a_report_is_markdown_whatever_the_names_are(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    odd = ["a|b", "`code`", "<script>"]
    with LocalTournament.create("*t* | [x](y)", rankers=odd, storage=url, seed=1) as t:
        play(t, 500, [0.0, 0.0, 0.0])
        made = report(t)
        text = markdown(made)
    assert text.startswith("# \\*t\\* \\| \\[x\\](y)\n")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) == 3
    assert all(row.replace("\\|", "").count("|") == 9 for row in rows)
    assert made.duels == 500
