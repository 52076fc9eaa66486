"""OpenAPI 3.1 document of the service, generated from its routes and schemas."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from rankduel.live.defaults import DEFAULTS
from rankduel.live.rules.ubi import FIRST_TIME, LAST_TIME, MAX_EVENTS_PER_CALL, MAX_OBJECT_ID_CHARACTERS
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.service.http.parameters import Parameter
from rankduel.service.http.routing import Route
from rankduel.service.http.schema_types import NAME_PATTERN, PRINTABLE
from rankduel.service.problems import PROBLEMS

__all__ = ["document"]

_PROBLEM = {
    "type": "object",
    "description": "An error as defined by RFC 9457. The meaning of a `type` never changes.",
    "properties": {
        "type": {"type": "string", "enum": [kind.type for kind in PROBLEMS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "value": {"description": "The invalid value."},
    },
    "required": ["type", "title", "status", "detail"],
}
_PLAIN = (None, str, bytes)
_ALWAYS = ("bad-request", "bad-host", "not-found", "failed", "deadline")
_WITH_KEY = (
    *("no-key", "wrong-key", "session-over", "wrong-scope", "cross-site"),
    *("too-many-requests", "too-many-wrong-keys", "storage"),
)
_WITH_BODY = ("too-deep", "too-large", "wrong-media-type", "bad-value")


def document(routes: Iterable[Route], version: str) -> dict[str, Any]:
    """Return the whole document, ready for JSON."""
    routes = list(routes)
    types = list(
        dict.fromkeys(kind for route in routes for kind in (route.body, *route.responses) if kind not in _PLAIN)
    )
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    if "CreateTournament" in components:
        _state_defaults(components["CreateTournament"]["properties"])
    schema_of = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankduel",
            "version": version,
            "description": "Live tournaments of rankers: ask for duels, tell outcomes and read results.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "An API key of the form rd_<id>_<secret>."}
            },
        },
    }


def _state_defaults(properties: dict[str, Any]) -> None:
    """Add the defaults of a new tournament to fields that may be omitted."""
    for name in properties.keys() & DEFAULTS:
        if DEFAULTS[name] is not None:
            properties[name].setdefault("default", DEFAULTS[name])


def _operation(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "security": [{"key": [route.scope]}, {}] if route.scope is not None else [],
        "parameters": [*map(_in_path, re.findall(r"{(\w+)}", route.path)), *map(_in_query, route.parameters)],
        "responses": _responses(route, schema_of),
    }
    if route.body is not None:
        schema = _EVENTS if route.body is bytes else schema_of[repr(route.body)]
        body = {"required": not route.body_optional, "content": {"application/json": {"schema": schema}}}
        if lines := route.media_types[1:]:  # generators of clients know JSON only
            body["description"] = f"You can also send one JSON value per line, as `{'` or `'.join(lines)}`."
        operation["requestBody"] = body
    return operation


_NAME = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME_CHARACTERS,
    "description": PRINTABLE,
    "pattern": NAME_PATTERN,
}
_DOCUMENT_ID = {
    "anyOf": [
        {**_NAME, "maxLength": MAX_OBJECT_ID_CHARACTERS},
        {"type": "integer", "minimum": -(2**63) + 1, "maximum": 2**63 - 1},
        {"type": "null"},
    ]
}
_EVENT = {
    "type": "object",
    "description": "An event of UBI 1.3. Other fields are ignored and never stored.",
    "required": ["query_id", "action_name", "timestamp"],
    "properties": {
        "query_id": _NAME,
        "action_name": _NAME,
        "timestamp": {
            "description": "ISO 8601 (UTC without a time zone), or milliseconds since 1970. Years 2000 to 2099.",
            "anyOf": [
                {"type": "string"},
                {"type": "number", "minimum": 1000 * FIRST_TIME, "exclusiveMaximum": 1000 * LAST_TIME},
            ],
        },
        "event_id": {"anyOf": [_NAME, {"type": "null"}]},
        "event_attributes": {
            "type": ["object", "null"],
            "properties": {
                "object": {"type": ["object", "null"], "properties": {"object_id": _DOCUMENT_ID}},
                "position": {
                    "type": ["object", "null"],
                    "properties": {"ordinal": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1}},
                },
                "dwell": {"type": ["number", "null"], "minimum": 0, "exclusiveMaximum": 1e300},
                "shown": {
                    "type": ["object", "null"],
                    "description": "The page of an impression, as returned by `Interleaved.to_dict`.",
                },
            },
        },
    },
}
_EVENTS = {"oneOf": [_EVENT, {"type": "array", "items": _EVENT, "minItems": 1, "maxItems": MAX_EVENTS_PER_CALL}]}


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "maxLength": parameter.maximum}
    if parameter.pattern is not None:
        schema["pattern"] = parameter.pattern
    if parameter.choices:
        schema = {"type": "string", "enum": list(parameter.choices), "default": parameter.choices[0]}
    if parameter.default is not None:
        bounds = {"minimum": parameter.minimum, "maximum": parameter.maximum, "default": parameter.default}
        schema = {"type": "integer", **bounds}
    return {"name": parameter.name, "in": "query", "description": parameter.description, "schema": schema}


def _responses(route: Route, schema_of: dict[str, Any]) -> dict[str, Any]:
    success: dict[str, Any] = {"description": route.summary}
    if route.responses == (str,):
        success["content"] = {"text/plain": {"schema": {"type": "string"}}}
    else:
        schemas = [schema_of[repr(response)] for response in route.responses]
        success["content"] = {"application/json": {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}}}
    names = [*_ALWAYS, *route.problems]
    names += _WITH_KEY if route.scope is not None else ()
    names += ("busy",) if route.scope == "read" else ()
    names += _WITH_BODY if route.body is not None else ()
    names += ("broken-tournament",) if "{name}" in route.path else ()
    names += ("bad-value",) if route.parameters or "{" in route.path else ()
    by_status: dict[int, list[str]] = {}
    for name in dict.fromkeys(names):
        by_status.setdefault(PROBLEMS[name].status, []).append(PROBLEMS[name].type)
    failures = {
        str(status): {
            "description": ", ".join(types),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, types in sorted(by_status.items())
    }
    return {str(route.status): success, **failures}
