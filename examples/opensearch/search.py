"""Six rankers of an OpenSearch or Elasticsearch index in one tournament: `python examples/opensearch/search.py`.

README.md in this folder shows each request. The script is a search box in the terminal: it stores a search template for
each ranker, then reads queries and the numbers of the results to click until you enter an empty query.
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
    """Make a search body with placeholders. The search engine fills in and escapes `{{query}}`."""
    fields = [f"title^{boost}", "text"]
    match = {"query": "{{query}}", "type": kind, "fields": fields}
    return {"size": "{{size}}", "_source": ["title"], "query": {"multi_match": match}}


KINDS, BOOSTS = ("best_fields", "cross_fields"), (1, 3, 9)
RANKERS = {f"{kind}-title-{boost}": template(kind, boost) for kind in KINDS for boost in BOOSTS}


def call(method: str, url: str, body: str, kind: str = "application/json", authorization: str = "") -> Any:
    """Send an HTTP request with a body and return the JSON of the response."""
    headers = {"Content-Type": kind} | ({"Authorization": authorization} if authorization else {})
    request = urllib.request.Request(url, body.encode(), headers, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


class Engine:
    """OpenSearch or Elasticsearch: both support these two requests."""

    def __init__(self, url: str, index: str) -> None:
        self.url, self.index = url.rstrip("/"), index
        self.authorization = os.environ.get("OPENSEARCH_AUTHORIZATION", "")  # "Basic ..." or "ApiKey ..."

    def store(self, name: str, source: dict[str, Any]) -> None:
        """Store a ranker as a search template."""
        body = json.dumps({"script": {"lang": "mustache", "source": source}})
        call("PUT", f"{self.url}/_scripts/{name}", body, authorization=self.authorization)

    def hits(self, query: str, *rankers: str) -> list[list[dict[str, Any]]]:
        """Search with each ranker in one request. Each list of hits is sorted, best first."""
        lines: list[dict[str, Any]] = []
        for ranker in rankers:
            lines += [{"index": self.index}, {"id": ranker, "params": {"query": query, "size": PAGE}}]
        body = "".join(json.dumps(line) + "\n" for line in lines)
        answer = call("POST", f"{self.url}/_msearch/template", body, "application/x-ndjson", self.authorization)
        for ranker, response in zip(rankers, answer["responses"], strict=True):
            if "error" in response:  # one search failed; the other may have succeeded
                raise RuntimeError(f"{ranker}: {response['error']}")
        return [response["hits"]["hits"] for response in answer["responses"]]


def search(engine: Engine, duels: Any, query: str, query_id: str) -> list[tuple[str, str]]:
    """Return the page for a query: ids and titles. `duels` is a `Tournament` or, over HTTP, a `Client`."""
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
    """Make a click event in the format of User Behavior Insights (UBI) 1.3."""
    return {
        "action_name": "click",
        "query_id": query_id,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "event_attributes": {"object": {"object_id": document}, "position": {"ordinal": place}},
    }


def post(service: str, tournament: str, events: list[dict[str, Any]]) -> Any:
    """Send events to the service, as a page in a browser would."""
    key = os.environ.get("RANKDUEL_KEY")
    authorization = f"Bearer {key}" if key else ""
    return call("POST", f"{service}/v1/events?tournament={tournament}", json.dumps(events), authorization=authorization)


def main() -> None:
    """Run a search box in the terminal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", default="http://127.0.0.1:9200", help="URL of OpenSearch or Elasticsearch")
    parser.add_argument("--index", default="articles", help="an index with the fields title and text")
    parser.add_argument("--storage", default="sqlite:///duels.db", help="storage of the tournament")
    parser.add_argument("--service", help="URL of a rankduel service to use instead, such as http://127.0.0.1:8080")
    parser.add_argument("--window", type=float, default=1800, help="seconds after the search in which clicks count")
    options = parser.parse_args()

    engine = Engine(options.engine, options.index)
    for name, source in RANKERS.items():
        engine.store(name, source)
    tournament = rd.Tournament.create(
        options.index,
        rankers=list(RANKERS),
        storage=options.service or options.storage,
        baseline="best_fields-title-3",  # the current ranker
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
                duels.flush()  # the service needs the page before its clicks
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
