"""Six rankers of an OpenSearch or Elasticsearch index in one tournament: `python examples/opensearch/search.py`.

README.md beside this file has each request. The script is a search box in the terminal: it stores a search template for
each ranker, and then reads a query and the numbers of the results to click, again and again.
"""

import argparse
import json
import os
import urllib.request
import uuid
from datetime import UTC, datetime
from typing import Any

import rankduel as rd

PAGE = 10  # results


def template(kind: str, boost: int) -> dict[str, Any]:
    """A search body with places for what changes: `{{query}}` is escaped by the search engine."""
    fields = [f"title^{boost}", "text"]
    match = {"query": "{{query}}", "type": kind, "fields": fields}
    return {"size": "{{size}}", "_source": ["title"], "query": {"multi_match": match}}


KINDS, BOOSTS = ("best_fields", "cross_fields"), (1, 3, 9)
RANKERS = {f"{kind}-title-{boost}": template(kind, boost) for kind in KINDS for boost in BOOSTS}


def call(method: str, url: str, body: str, kind: str = "application/json", authorization: str = "") -> Any:
    """One HTTP request with a body, and the JSON of its answer."""
    headers = {"Content-Type": kind} | ({"Authorization": authorization} if authorization else {})
    request = urllib.request.Request(url, body.encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


class Engine:
    """OpenSearch or Elasticsearch: both know these two requests."""

    def __init__(self, url: str, index: str) -> None:
        self.url, self.index = url.rstrip("/"), index
        self.authorization = os.environ.get("OPENSEARCH_AUTHORIZATION", "")  # "Basic ..." or "ApiKey ..."

    def store(self, name: str, source: dict[str, Any]) -> None:
        """Keep a ranker as a search template."""
        body = json.dumps({"script": {"lang": "mustache", "source": source}})
        call("PUT", f"{self.url}/_scripts/{name}", body, authorization=self.authorization)

    def hits(self, query: str, *rankers: str) -> list[list[dict[str, Any]]]:
        """What each ranker finds, best first, by one request."""
        lines: list[dict[str, Any]] = []
        for ranker in rankers:
            lines += [{"index": self.index}, {"id": ranker, "params": {"query": query, "size": PAGE}}]
        body = "".join(json.dumps(line) + "\n" for line in lines)
        answer = call("POST", f"{self.url}/_msearch/template", body, "application/x-ndjson", self.authorization)
        for ranker, response in zip(rankers, answer["responses"], strict=True):
            if "error" in response:  # of one search; the other may have gone well
                raise RuntimeError(f"{ranker}: {response['error']}")
        return [response["hits"]["hits"] for response in answer["responses"]]


def search(engine: Engine, duels: Any, query: str, query_id: str) -> list[tuple[str, str]]:
    """The page for a query: ids and titles. `duels` is a `Tournament` or, over HTTP, a `Client`."""
    duel = duels.ask(query_id=query_id)
    first, second = engine.hits(query, duel.first, duel.second)
    titles = {hit["_id"]: hit["_source"]["title"] for hit in first + second}
    if not titles:
        return []
    page = duel.interleave([hit["_id"] for hit in first], [hit["_id"] for hit in second], k=PAGE)
    if duel.id is not None:
        duels.show(duel)
    return [(document, titles[document]) for document in page.documents]


def click(query_id: str, document: str, place: int) -> dict[str, Any]:
    """A click on the page, as User Behavior Insights (UBI) 1.3 has it."""
    return {
        "action_name": "click",
        "query_id": query_id,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "event_attributes": {"object": {"object_id": document}, "position": {"ordinal": place}},
    }


def post(service: str, tournament: str, events: list[dict[str, Any]]) -> Any:
    """Hand events to the service, as a page in a browser would do it."""
    key = os.environ.get("RANKDUEL_KEY")
    authorization = f"Bearer {key}" if key else ""
    return call("POST", f"{service}/v1/events?tournament={tournament}", json.dumps(events), authorization=authorization)


def main() -> None:
    """A search box."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", default="http://127.0.0.1:9200", help="where OpenSearch or Elasticsearch is")
    parser.add_argument("--index", default="articles", help="an index with the fields title and text")
    parser.add_argument("--storage", default="sqlite:///duels.db", help="of the tournament")
    parser.add_argument("--service", help="use the service there instead, as http://127.0.0.1:8080")
    parser.add_argument("--window", type=float, default=1800, help="seconds for which clicks count")
    options = parser.parse_args()

    engine = Engine(options.engine, options.index)
    for name, source in RANKERS.items():
        engine.store(name, source)
    tournament = rd.Tournament.create(
        options.index,
        rankers=list(RANKERS),
        storage=options.service or options.storage,
        baseline="best_fields-title-3",  # what users have seen so far
        attribution=rd.live.Attribution(actions={"click": 1}, window=options.window),
        exist_ok=True,
    )
    duels: Any = tournament
    if options.service:
        duels = rd.Client(options.service, options.index, baseline="best_fields-title-3")
    try:
        while query := input("search: "):
            query_id = str(uuid.uuid4())
            page = search(engine, duels, query, query_id)
            for place, (_, title) in enumerate(page, 1):
                print(f"{place:3} {title}")
            places = [int(place) for place in input("click: ").split()]
            events = [click(query_id, page[place - 1][0], place) for place in places if 0 < place <= len(page)]
            if events and options.service:
                duels.flush()  # the page goes before its clicks
                print(post(options.service, options.index, events))
            elif events:
                print([str(status) for status in tournament.observe(rd.live.read_events(events))])
    except EOFError:
        print()
    print(tournament.decision())
    duels.close()
    tournament.close()


if __name__ == "__main__":
    main()
