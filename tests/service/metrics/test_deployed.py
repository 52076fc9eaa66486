"""Documentation, alerts and dashboard name metrics, labels and values that a real service has, and all of them."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fences import ROOT
from rankduel.live.rules.duels import Status
from rankduel.service.app import ROUTES
from rankduel.service.metrics import labels
from rankduel.service.metrics.catalog import METRICS
from rankduel.service.problems import PROBLEMS
from service.metrics.promql import Expression, mismatches
from service.metrics.scrapes import Scrape, scrape
from service.servers import at, serving

ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "rankduel.json").read_text())
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
PAGE = (ROOT / "docs" / "metrics.md").read_text()
ADDED = {"job", "instance"}  # by Prometheus
RULES: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
]
STATUSES = {"draft", "running", "paused", "decided", "rolled_out", "stopped", "archived"}  # of tournaments

Known = Mapping[str, Mapping[str, set[str]]]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Scrape:
    """The scrape of a service that has answered a request of each kind."""
    url = f"sqlite:///{tmp_path_factory.mktemp('metrics')}/duels.db"
    webhook = {"name": "chat", "url": "http://127.0.0.1:9/", "format": "slack"}
    with serving(url, webhooks=[webhook]) as server, server.client as client:
        assert client.post("/v1/tournaments", {"name": "t", "rankers": ["a", "b"], "baseline": "a"}).status == 201
        duel = client.post(at("t", "/ask"), {"query_id": "q"}).body
        for ticket in (duel["ticket"], "unknown"):
            client.post(at("t", "/tell"), {"ticket": ticket, "outcome": "first"})
        event = {"query_id": "q", "action_name": "click", "timestamp": 1_800_000_000_000}
        assert client.post("/v1/events", [event]).status == 200
        client.post(at("t", ":pause"), {})
        assert client.post(at("t", "/ask"), {}).body["why"] == "paused"
        return scrape(client)


@pytest.fixture(scope="module")
def known(found: Scrape) -> Known:
    """The values that each label of each metric has in the scrape, or may have."""
    values: dict[str, dict[str, set[str]]] = {sample.name: {} for sample in found.samples}
    for sample in found.samples:
        for label, value in sample.labels.items():
            values[sample.name].setdefault(label, set()).add(value)
    paths = {route.path for route in ROUTES}
    possible: dict[str, dict[str, set[str]]] = {
        "rankduel_requests_total": {
            "status": {str(kind.status) for kind in PROBLEMS.values()} | {"200"}, "path": paths
        },
        "rankduel_request_seconds_bucket": {"path": paths},
        "rankduel_asks_total": {"why": {"none", *labels.REASONS}, "serve": {"duel", "baseline", "winner"}},
        "rankduel_tells_total": {"status": {status.value for status in Status}},
        "rankduel_tournament_status": {"status": STATUSES},
    }  # fmt: skip
    for metric, of_labels in possible.items():
        for label, more in of_labels.items():
            values[metric][label] |= more
    values["rankduel_tournament_broken"] = {"tournament": {"t"}}  # no sample without a broken tournament
    values["up"] = {}  # of Prometheus
    for rule in RULES:
        if "record" in rule:
            values[rule["record"]] = {label: set() for label in Expression(rule["expr"]).groups}
    return values


def test_the_scrape_has_the_metrics_of_the_catalogue_and_of_the_process(found: Scrape) -> None:
    declared = {metric.name.removesuffix("_total") for metric in METRICS}
    others = {"process_" + name for name in ("cpu_seconds", "resident_memory_bytes", "virtual_memory_bytes")}
    others |= {"process_start_time_seconds", "process_open_fds", "process_max_fds"}
    assert set(found.families) == declared | others
    for metric in METRICS:
        for sample in found.families[metric.name.removesuffix("_total")].samples:
            assert set(sample.labels) - {"le"} == set(metric.labels), sample


def test_the_page_lists_every_metric_as_it_is_declared() -> None:
    rows = re.findall(r"^\| `(rankduel_\w+)` \| (\w+) \| (.*?) ?\| (.*?) \| (\w+) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (each.name, each.kind, ", ".join(f"`{label}`" for label in each.labels), each.text, each.combined)
        for part in ("Of this process", "The same in every process")
        for each in METRICS
        if each.advice.startswith(part)
    ]


def test_the_page_lists_every_other_metric_and_label(found: Scrape) -> None:
    for family in found.families.values():
        assert f"`{family.name}" in PAGE
    for name in (name for metric in METRICS for name in metric.labels):
        assert f"`{name}`" in PAGE
    assert f"at most {labels.MAX_TOURNAMENT_LABELS} tournaments" in PAGE


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.get("alert", rule.get("record")))
def test_a_rule_is_well_formed_and_names_what_exists(rule: dict[str, Any], known: Known) -> None:
    expression = Expression(rule["expr"])
    assert expression.selectors
    assert mismatches(expression, known, ADDED) == []
    if "record" in rule:
        assert set(rule) == {"record", "expr"}
        assert re.fullmatch(r"rankduel:\w+:\w+", rule["record"])
        return
    assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}
    assert re.fullmatch(r"Rankduel[A-Z]\w+", rule["alert"])
    assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m"))
    assert rule["labels"].keys() == {"severity"}
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert set(rule["annotations"]) == {"summary"}
    given = {label for each in expression.selectors for label in known[each.metric]} if ":" in rule["expr"] else set()
    given |= set(expression.groups) or ADDED
    assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= given


def test_each_documented_alarm_has_a_rule() -> None:
    section = OPERATIONS.partition("\n### Alerts\n")[2].partition("\n### ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert documented == [rule["alert"] for rule in RULES if "alert" in rule]


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions_of(panel: dict[str, Any]) -> list[str]:
    """The expressions of a panel, with all tournaments chosen."""
    given = {"$__rate_interval": "5m", "$tournament": ".*"}
    return [
        re.sub(r"\$(__rate_interval|tournament)", lambda name: given[name[0]], each["expr"])
        for each in panel["targets"]
    ]


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: panel["title"])
def test_a_panel_names_what_exists(panel: dict[str, Any], known: Known) -> None:
    assert panel["description"]
    for target, text in zip(panel["targets"], expressions_of(panel), strict=True):
        expression = Expression(text)
        assert mismatches(expression, known, ADDED) == []
        shown = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        assert shown <= set(expression.groups) | (ADDED if not expression.groups else set())


def test_the_dashboard_shows_every_metric_of_the_catalogue() -> None:
    shown = {each.metric for panel in panels() for text in expressions_of(panel) for each in Expression(text).selectors}
    shown = {name.removesuffix("_bucket") for name in shown}
    assert {metric.name for metric in METRICS} - shown == set()


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        box = panel["gridPos"]
        cells = {(box["x"] + x, box["y"] + y) for x in range(box["w"]) for y in range(box["h"])}
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_variables_of_the_dashboard_exist(known: Known) -> None:
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD))) - {"__rate_interval", "__all"}
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == used
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", variable["definition"]).groups()  # type: ignore[union-attr]
            assert label in ADDED or label in known[metric]


COMBINED = [rule["expr"] for rule in RULES] + [text for panel in panels() for text in expressions_of(panel)]


@pytest.mark.parametrize("text", COMBINED)
def test_a_metric_of_the_storage_is_never_added_up_over_processes(text: str) -> None:
    for metric in METRICS:
        if metric.advice.startswith("The same"):
            combined = re.findall(rf"max by \([\w, ]*\btournament\b[\w, ]*\) \((?:rate\()?{metric.name}\b", text)
            assert len(re.findall(rf"\b{metric.name}\b", text)) == len(combined)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("rate(rankduel_ask_total[5m])", "unknown metric rankduel_ask_total"),
        ("sum by (reason) (rankduel_asks_total)", "no metric has the label reason"),
        ('rankduel_asks_total{status="duel"}', "rankduel_asks_total has no label status"),
        ('rankduel_asks_total{why="stored"}', "why of rankduel_asks_total is never stored"),
        ('rankduel_asks_total{why=~"storage|fails"}', "why of rankduel_asks_total never matches fails"),
    ],
)
def test_a_wrong_expression_is_found(wrong: str, message: str, known: Known) -> None:
    assert mismatches(Expression(wrong), known, ADDED) == [message]


@pytest.mark.parametrize("wrong", ["rates(up[5m])", "sum(up", "up[5 minutes]", "up ? 1"])
def test_an_unreadable_expression_is_an_error(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"unknown function|parentheses|cannot read"):
        Expression(wrong)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed: apt-get install prometheus")
def test_prometheus_accepts_the_rules_and_they_fire() -> None:
    for command in (["check", "rules", str(ALERTS)], ["test", "rules", str(Path(__file__).with_name("alerts.yml"))]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
