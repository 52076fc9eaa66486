"""Find metrics and labels in PromQL: as much of its grammar as our rules and dashboards use."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Expression", "Selector", "mismatches"]

_TOKEN = re.compile(
    r"""\s*(?P<text>"(?:\\.|[^"\\])*")"""
    r"""|\s*(?P<duration>\[[0-9]+[smhd]\])"""
    r"""|\s*(?P<number>[0-9]+(?:\.[0-9]+)?[smhd]?)"""
    r"""|\s*(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)"""
    r"""|\s*(?P<sign>=~|!~|!=|==|>=|<=|[-+*/(){},=<>])"""
)
_AGGREGATIONS = {"sum", "max", "min", "count"}
_FUNCTIONS = {"rate", "increase", "histogram_quantile", "label_values"}


@dataclass(frozen=True)
class Selector:
    """A metric with its label matchers: label, operator and value."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...] = ()


@dataclass
class Expression:
    """The selectors of an expression, and the labels by which it groups. Raise ValueError for anything unknown."""

    text: str
    selectors: list[Selector] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        tokens: list[tuple[str, str]] = []
        at, end = 0, len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise ValueError(f"cannot read {self.text[at:]!r}")
            tokens.append((str(match.lastgroup), match[match.lastgroup or 0]))
            at = match.end()
        if [value for _, value in tokens].count("(") != [value for _, value in tokens].count(")"):
            raise ValueError(f"parentheses do not match in {self.text!r}")
        self._read(tokens)

    def _read(self, tokens: list[tuple[str, str]]) -> None:
        at = 0
        while at < len(tokens):
            kind, value = tokens[at]
            following = tokens[at + 1][1] if at + 1 < len(tokens) else ""
            if kind != "name":
                at += 1
            elif value == "by":
                end = tokens.index(("sign", ")"), at)
                self.groups += [name for kind, name in tokens[at:end] if kind == "name" and name != "by"]
                at = end + 1
            elif value in _AGGREGATIONS and following in ("by", "("):
                at += 1
            elif following == "(":
                if value not in _FUNCTIONS:
                    raise ValueError(f"unknown function {value!r} in {self.text!r}")
                at += 1
            elif following == "{":
                end = tokens.index(("sign", "}"), at)
                given = [value for _, value in tokens[at + 2 : end] if value != ","]
                triples = zip(given[::3], given[1::3], given[2::3], strict=True)
                matchers = tuple((label, sign, text.strip('"')) for label, sign, text in triples)
                self.selectors.append(Selector(value, matchers))
                at = end + 1
            else:
                self.selectors.append(Selector(value))
                at += 1


def mismatches(expression: Expression, known: Mapping[str, Mapping[str, set[str]]], added: set[str]) -> list[str]:
    """What does not exist: metrics, labels and values. `known` has the values of each label of each metric.

    `added` are labels that Prometheus adds to each metric.
    """
    found = []
    grouped = set(added)
    for selector in expression.selectors:
        if selector.metric not in known:
            found.append(f"unknown metric {selector.metric}")
            continue
        labels = known[selector.metric]
        grouped |= set(labels)
        for label, sign, value in selector.matchers:
            if label in added:
                continue
            if label not in labels:
                found.append(f"{selector.metric} has no label {label}")
            elif sign in ("=", "!=") and value not in labels[label]:
                found.append(f"{label} of {selector.metric} is never {value}")
            elif sign in ("=~", "!~"):
                parts = value.split("|") if "(" not in value else [value]
                found += [
                    f"{label} of {selector.metric} never matches {part}"
                    for part in parts
                    if not any(re.fullmatch(part, each) for each in labels[label])
                ]
    return found + [f"no metric has the label {label}" for label in expression.groups if label not in grouped]
