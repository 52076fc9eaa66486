import re

import pytest

from rankduel.spec import parse


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("cycle2", "cycle2", {}),
        ("cycle2()", "cycle2", {}),
        ("  RMED1 ( ) ", "RMED1", {}),
        ("MergeRUCB(alpha=0.26, batch_size=8)", "MergeRUCB", {"alpha": 0.26, "batch_size": 8}),
        ("A(x=0.8**6)", "A", {"x": 0.8**6}),
        ("A(x=4_000_000, y=1e8, z=10**8)", "A", {"x": 4_000_000, "y": 1e8, "z": 100_000_000}),
        ("A(x=-1, y=+2.5, z=-2**-2)", "A", {"x": -1, "y": 2.5, "z": -0.25}),
        ("A(x=2**3**2)", "A", {"x": 512}),
        ("A(x=None, y=True, z='text')", "A", {"x": None, "y": True, "z": "text"}),
        ("A(x=B(y=2**3), z=1)", "A", {"x": "B(y=2 ** 3)", "z": 1}),
        ("A(x=(1, -2), y=[3, [4**2]], z=())", "A", {"x": (1, -2), "y": [3, [16]], "z": ()}),
    ],
)
def test_names_and_options(text: str, name: str, options: dict[str, object]) -> None:
    parsed = parse(text)
    assert parsed == (name, options)
    assert [type(value) for value in parsed[1].values()] == [type(value) for value in options.values()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected Name or Name(option=value, ...)"),
        ("A(", "'(' was never closed"),
        ("A(x=1) B", "invalid syntax"),
        ("'cycle'", "\"'cycle'\" is not a name"),
        ("3", "'3' is not a name"),
        ("rd.MergeDTS(x=1)", "'rd.MergeDTS' is not a name"),
        ("A(x=1)(y=2)", "'A(x=1)' is not a name"),
        ("A(8)", "'8' needs the name of its option: option=value"),
        ("A(*x)", "'*x' needs the name of its option: option=value"),
        ("A(**x)", "** is not allowed"),
        ("A(x=1, x=2)", "option 'x' is given twice"),
        ("A(x=y)", "'y' is not a literal value"),
        ("A(x=1+1)", "'1 + 1' is not a literal value"),
        ("A(x=open('file'))", "\"open('file')\" is not a literal value"),
        ("A(x=__import__('os').system('true'))", "is not a literal value"),
        ("A(x=[y for y in 'abc'])", "is not a literal value"),
        ("A(x=-'a')", "\"'a'\" is not a literal value"),
        ("A(x=-True)", "'True' is not a literal value"),
        ("A(x='a'**2)", "\"'a'\" is not a literal value"),
        ("A(x=(2**9)**9)", "'2 ** 9' is not a literal value"),
        ("A(x=(-8)**0.5)", "'-8' is not a literal value"),
        ("A(x=1j)", "'1j' is not a literal value"),
        ("A(x=b'a')", "\"b'a'\" is not a literal value"),
        ("A(x=...)", "'...' is not a literal value"),
        ("A(x={1})", "'{1}' is not a literal value"),
        ("A(x=9**9**9)", "an exponent must be from -1000 to 1000, got 387420489"),
        ("A(x=1e300**2)", "1e+300**2 is not a finite number"),
        ("A(x=0**-1)", "0**-1 is not a finite number"),
        ("A(x=" + "(" * 900 + ")", "expected Name or Name(option=value, ...)"),
        ("A\0", "null bytes"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)) as caught:
        parse(text)
    assert str(caught.value).startswith(f"cannot read {text!r}, expected Name or Name(option=value, ...): ")


def test_a_long_text_is_not_parsed_at_all() -> None:
    with pytest.raises(ValueError, match="at most 1000 characters, got 2000"):
        parse("A" * 2000)
