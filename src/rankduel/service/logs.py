"""Log lines that machines read: one JSON object each, and never a header, a body or the query of an address."""

import json
import logging
import sys
import traceback
from typing import Any

__all__ = ["JsonLines", "log_to_stderr"]

_ORDINARY = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """A record as one line of JSON.

    >>> record = logging.makeLogRecord({"msg": "listening", "levelname": "INFO", "created": 0.5, "port": 8080})
    >>> JsonLines().format(record)
    '{"time": 0.5, "level": "info", "message": "listening", "port": 8080}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": round(record.created, 3),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in vars(record).items() if name not in _ORDINARY}
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        return json.dumps(line, default=str)


def log_to_stderr() -> None:
    """Send the lines of the service, and the errors of uvicorn, to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, level in (("rankduel", logging.INFO), ("uvicorn", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level)
        logger.propagate = False
