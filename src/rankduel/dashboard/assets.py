"""Static files of the dashboard, read once on import, and their Content-Security-Policy."""

from importlib.resources import files
from typing import NamedTuple

__all__ = ["FILES", "CONTENT_SECURITY_POLICY", "File"]

# Pages load files of this server only, and run no inline scripts or styles.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class File(NamedTuple):
    """Content and media type of a file."""

    content: bytes
    media: str


def _read() -> dict[str, File]:
    found = {}
    for file in files(__package__).joinpath("static").iterdir():
        dot = file.name.rfind(".")
        if (media := _TYPES.get(file.name[dot:])) is not None:
            found[file.name] = File(file.read_bytes(), media)
    return found


FILES = _read()  # by name
