"""JSON logging: one object per line, without headers, bodies and query strings."""

import json
import logging
import sys
import traceback
from typing import Any

__all__ = ["JsonFormatter", "log_to_stderr"]

_STANDARD_FIELDS = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON.

    >>> record = logging.makeLogRecord({"msg": "listening", "levelname": "INFO", "created": 0.5, "port": 8080})
    >>> JsonFormatter().format(record)
    '{"time": 0.5, "level": "info", "message": "listening", "port": 8080}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        fields: dict[str, Any] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _STANDARD_FIELDS}
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json.dumps(fields, default=str)


def log_to_stderr() -> None:
    """Write the log of the service and errors of uvicorn to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    for name, level in (("rankduel", logging.INFO), ("uvicorn", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
