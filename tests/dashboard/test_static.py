"""The dashboard's scripts, styles and HTML are formatted: no line is too long for a diff.

To format them: `npx --yes prettier@3.10.1 --print-width 110 --write src/rankduel/dashboard/static/*.{js,css,html}`.
Prettier leaves long strings alone: break those by hand, with `+`.
"""

from fences import ROOT

MAX_CHARACTERS_PER_LINE = 120


def test_no_line_is_too_long() -> None:
    folder = ROOT / "src" / "rankduel" / "dashboard" / "static"
    files = [path for path in folder.iterdir() if path.suffix in (".js", ".css", ".html")]
    assert {path.suffix for path in files} == {".js", ".css", ".html"}
    too_long = [
        f"{path.name}:{number}: {len(line)} characters"
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MAX_CHARACTERS_PER_LINE
    ]
    assert too_long == []
