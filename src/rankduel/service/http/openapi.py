"""The OpenAPI 3.1 document of the service, made of the same calls and bodies that are served."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from rankduel.live.rules.ubi import FIRST_TIME, LAST_TIME, MAX_EVENTS_PER_CALL, MAX_OBJECT_ID_CHARACTERS
from rankduel.live.rules.validation import MAX_NAME_CHARACTERS
from rankduel.service.http.problems import PROBLEMS
from rankduel.service.http.routing import Call, Parameter
from rankduel.service.http.schemas import NAME_PATTERN, PRINTABLE

__all__ = ["document"]

_PROBLEM = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 has it; `type` never changes its meaning.",
    "properties": {
        "type": {"type": "string", "enum": [kind.type for kind in PROBLEMS.values()]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "value": {"description": "The value that was wrong."},
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


def document(calls: Iterable[Call], version: str) -> dict[str, Any]:
    """All of it, ready for JSON."""
    calls = list(calls)
    types = list(dict.fromkeys(kind for call in calls for kind in (call.body, *call.answers) if kind not in _PLAIN))
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rankduel",
            "version": version,
            "description": "Live tournaments of rankers: ask, tell, and where they stand.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM},
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "An API key, rd_<id>_<secret>."}
            },
        },
    }


def _operation(call: Call, schema_of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": call.name,
        "summary": call.about,
        "security": [{"key": [call.scope]}, {}] if call.scope is not None else [],
        "parameters": [*map(_in_path, re.findall(r"{(\w+)}", call.path)), *map(_in_query, call.parameters)],
        "responses": _responses(call, schema_of),
    }
    if call.body is not None:
        schema = _EVENTS if call.body is bytes else schema_of[repr(call.body)]
        content = {media: {"schema": schema if media in _JSON else {"type": "string"}} for media in call.media}
        operation["requestBody"] = {"required": not call.optional, "content": content}
    return operation


_JSON = ("application/json",)
_NAME = {
    "type": "string",
    "minLength": 1,
    "maxLength": MAX_NAME_CHARACTERS,
    "description": PRINTABLE,
    "pattern": NAME_PATTERN,
}
_DOCUMENT = {
    "anyOf": [
        {**_NAME, "maxLength": MAX_OBJECT_ID_CHARACTERS},
        {"type": "integer", "minimum": -(2**63) + 1, "maximum": 2**63 - 1},
        {"type": "null"},
    ]
}
_EVENT = {
    "type": "object",
    "description": "An event of UBI 1.3; other fields are ignored, and never kept.",
    "required": ["query_id", "action_name", "timestamp"],
    "properties": {
        "query_id": _NAME,
        "action_name": _NAME,
        "timestamp": {
            "description": "ISO 8601 (UTC without a zone), or milliseconds since 1970; in the years 2000 to 2099.",
            "anyOf": [
                {"type": "string"},
                {"type": "number", "minimum": 1000 * FIRST_TIME, "exclusiveMaximum": 1000 * LAST_TIME},
            ],
        },
        "event_id": {"anyOf": [_NAME, {"type": "null"}]},
        "event_attributes": {
            "type": ["object", "null"],
            "properties": {
                "object": {"type": ["object", "null"], "properties": {"object_id": _DOCUMENT}},
                "position": {
                    "type": ["object", "null"],
                    "properties": {"ordinal": {"type": ["integer", "null"], "minimum": 0, "maximum": 2**63 - 1}},
                },
                "dwell": {"type": ["number", "null"], "minimum": 0, "exclusiveMaximum": 1e300},
                "shown": {"type": ["object", "null"], "description": "For impressions: as `Interleaved.to_dict`."},
            },
        },
    },
}
_EVENTS = {"oneOf": [_EVENT, {"type": "array", "items": _EVENT, "minItems": 1, "maxItems": MAX_EVENTS_PER_CALL}]}


def _in_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME_CHARACTERS}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "maxLength": parameter.most}
    if parameter.pattern is not None:
        schema["pattern"] = parameter.pattern
    if parameter.default is not None:
        bounds = {"minimum": parameter.least, "maximum": parameter.most, "default": parameter.default}
        schema = {"type": "integer", **bounds}
    return {"name": parameter.name, "in": "query", "description": parameter.about, "schema": schema}


def _responses(call: Call, schema_of: dict[str, Any]) -> dict[str, Any]:
    right: dict[str, Any] = {"description": call.about}
    if call.answers == (str,):
        right["content"] = {"text/plain": {"schema": {"type": "string"}}}
    else:
        schemas = [schema_of[repr(answer)] for answer in call.answers]
        right["content"] = {"application/json": {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}}}
    names = [*_ALWAYS, *call.problems]
    names += _WITH_KEY if call.scope is not None else ()
    names += ("busy",) if call.scope == "read" else ()
    names += _WITH_BODY if call.body is not None else ()
    names += ("broken-tournament",) if "{name}" in call.path else ()
    names += ("bad-value",) if call.parameters or "{" in call.path else ()
    by_status: dict[int, list[str]] = {}
    for name in dict.fromkeys(names):
        by_status.setdefault(PROBLEMS[name].status, []).append(PROBLEMS[name].type)
    wrong = {
        str(status): {
            "description": ", ".join(types),
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, types in sorted(by_status.items())
    }
    return {str(call.status): right, **wrong}
