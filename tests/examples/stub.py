"""A stub of OpenSearch's HTTP API: stored search templates and multi-search with them, in the documented shapes."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

ARTICLES = {
    "a1": ("Running shoes", "Shoes for the road and for the track."),
    "a2": ("A history of running", "Long before shoes people were running, and running shoes came late."),
    "a3": ("Shoes for a wedding", 'Not for running. "Elegant" they are.'),
    "a4": ("Tea", "How to boil water."),
}


class Request(NamedTuple):
    """What was asked for."""

    method: str
    path: str
    kind: str
    authorization: str | None
    body: str


class Handler(BaseHTTPRequestHandler):
    """Answers, and remembers what it was asked."""

    server: "Stub"

    def do_PUT(self) -> None:
        request = self.read()
        name = re.fullmatch(r"/_scripts/([\w-]+)", request.path)
        script = json.loads(request.body)["script"]
        if name is None or request.kind != "application/json" or script["lang"] != "mustache":
            self.answer(400, {"error": {"type": "illegal_argument_exception"}, "status": 400})
            return
        self.server.templates[name[1]] = json.dumps(script["source"])
        self.answer(200, {"acknowledged": True})

    def do_POST(self) -> None:
        request = self.read()
        right = request.path == "/_msearch/template" and request.kind == "application/x-ndjson"
        if not right or not request.body.endswith("\n"):
            reason = "The msearch request must be terminated by a newline [\n]"
            self.answer(400, {"error": {"type": "illegal_argument_exception", "reason": reason}, "status": 400})
            return
        lines = [json.loads(line) for line in request.body.splitlines()]
        pairs = zip(lines[::2], lines[1::2], strict=True)
        self.answer(200, {"took": 3, "responses": [self.search(header["index"], search) for header, search in pairs]})

    def search(self, index: str, search: dict[str, Any]) -> dict[str, Any]:
        if index != "articles":
            return error("index_not_found_exception", f"no such index [{index}]")
        if (text := self.server.templates.get(search["id"])) is None:
            return error("resource_not_found_exception", f"unable to find script [{search['id']}] in cluster state")
        for name, value in search["params"].items():
            text = text.replace(f"{{{{{name}}}}}", json.dumps(str(value))[1:-1])  # escaped as in JSON
        rendered = json.loads(text)
        hits = [hit for hit in (scored(article, rendered["query"]["multi_match"]) for article in ARTICLES) if hit]
        hits = sorted(hits, key=lambda hit: -float(hit["_score"]))[: int(rendered["size"])]
        return {
            "took": 1,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {
                "total": {"value": len(hits), "relation": "eq"},
                "max_score": hits[0]["_score"] if hits else None,
                "hits": hits,
            },
            "status": 200,
        }

    def read(self) -> Request:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = Request(
            self.command, self.path, self.headers["Content-Type"], self.headers.get("Authorization"), body
        )
        self.server.requests.append(request)
        return request

    def answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written to the terminal."""


class Stub(ThreadingHTTPServer):
    """The stub on a free port of this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[Request] = []
        self.templates: dict[str, str] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def opensearch() -> Iterator[Stub]:
    """The stub, for a while."""
    with Stub() as stub:
        thread = Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join()


def scored(article: str, match: dict[str, Any]) -> dict[str, Any] | None:
    """A hit with the best field's score, or that of all fields; None if no word is there."""
    fields = dict(zip(("title", "text"), ARTICLES[article], strict=True))
    scores = []
    for field in match["fields"]:
        name, _, boost = field.partition("^")
        words = re.findall(r"\w+", fields[name].lower())
        scores.append(float(boost or 1) * sum(words.count(word) for word in re.findall(r"\w+", match["query"].lower())))
    score = max(scores) if match["type"] == "best_fields" else sum(scores)
    if score == 0:
        return None
    return {"_index": "articles", "_id": article, "_score": score, "_source": {"title": fields["title"]}}


def error(kind: str, reason: str) -> dict[str, Any]:
    """In place of a search that has failed."""
    cause = {"type": kind, "reason": reason}
    return {"error": {"root_cause": [cause], **cause}, "status": 404}
