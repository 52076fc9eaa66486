"""Read scrapes as Prometheus does."""

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from service.servers import Client

__all__ = ["Scrape", "scrape"]


class Scrape:
    """The samples of one scrape."""

    def __init__(self, text: str) -> None:
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.samples: list[Sample] = [sample for family in self.families.values() for sample in family.samples]

    def all(self, name: str, **labels: str) -> dict[tuple[tuple[str, str], ...], float]:
        """The values of a metric with these labels among its own, by all labels."""
        return {
            tuple(sorted(each.labels.items())): each.value
            for each in self.samples
            if each.name == name and labels.items() <= each.labels.items()
        }

    def one(self, name: str, **labels: str) -> float:
        """The value of the only sample of a metric with these labels among its own."""
        (value,) = self.all(name, **labels).values()
        return value

    def total(self, name: str, **labels: str) -> float:
        return sum(self.all(name, **labels).values())

    def labels_of(self, name: str) -> list[Mapping[str, str]]:
        return [sample.labels for sample in self.samples if sample.name == name]


def scrape(client: Client) -> Scrape:
    answer = client.get("/metrics")
    assert answer.status == 200, answer
    return Scrape(answer.raw.decode())
