"""The lines of /metrics, without a server."""

from pathlib import Path

import rankduel as rd
from rankduel.live import LocalTournament
from rankduel.service.metrics import Metrics, server_metrics, tournament_metrics


def test_requests_are_counted_in_a_cumulative_histogram() -> None:
    metrics = Metrics()
    for seconds in (0.0005, 0.003, 0.003, 100.0):
        metrics.count_request("GET", "/livez", 200, seconds)
    lines = list(server_metrics(metrics))
    assert 'rankduel_requests_total{method="GET",path="/livez",status="200"} 4' in lines
    counts = [int(line.split()[-1]) for line in lines if line.startswith("rankduel_request_seconds_bucket")]
    assert counts[0] == 1
    assert counts[-2:] == [3, 4]
    assert counts == sorted(counts)
    assert 'rankduel_request_seconds_count{method="GET",path="/livez"} 4' in lines


def test_asks_tells_and_events_have_labels() -> None:
    metrics = Metrics()
    metrics.asks["duel"] += 2
    metrics.tells["accepted"] += 1
    metrics.events["late"] += 3
    lines = list(server_metrics(metrics))
    assert 'rankduel_asks_total{serve="duel"} 2' in lines
    assert 'rankduel_tells_total{status="accepted"} 1' in lines
    assert 'rankduel_events_total{status="late"} 3' in lines
    assert "rankduel_requests_in_flight 0" in lines


def test_tournaments_and_broken_ones(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/duels.db"
    with rd.Tournament.create('a "b"', rankers=["x", "y"], storage=url, seed=1) as t:
        assert isinstance(t, LocalTournament)
        t.tell(t.ask(), rd.Outcome.FIRST)
        lines = list(tournament_metrics({t.name: t}, ["broken"]))
    assert 'rankduel_duels_total{tournament="a \\"b\\"",status="issued"} 1' in lines
    assert 'rankduel_maintenance_failing{tournament="a \\"b\\""} 0' in lines
    assert 'rankduel_tournament_broken{tournament="broken"} 1' in lines
    assert 'rankduel_rankers_left{tournament="a \\"b\\""} 2' in lines


def test_every_metric_has_a_help_and_a_type() -> None:
    lines = [*server_metrics(Metrics()), *tournament_metrics({}, [])]
    helps = [line.split()[2] for line in lines if line.startswith("# HELP")]
    types = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert helps == types
    assert len(set(helps)) == len(helps)
