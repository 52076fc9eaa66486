"""A name and its options as people type them: "cycle2" or "MergeRUCB(alpha=0.8**6, batch_size=8)"."""

import ast

__all__ = ["parse"]

_LONGEST = 1000  # characters: a spec is a line, and the parser of Python is not made for hostile input


def parse(text: str) -> tuple[str, dict[str, object]]:
    """The name and the options, whose values are literals, a power of two numbers, or specs. Nothing is evaluated.

    >>> parse("cycle2")
    ('cycle2', {})
    >>> parse("MergeRUCB(alpha=0.5**2, batch_size=8, seed=None)")
    ('MergeRUCB', {'alpha': 0.25, 'batch_size': 8, 'seed': None})
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a name with options has at most {_LONGEST} characters, got {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        return _name(tree), _options(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f"cannot read {text!r}, expected Name or Name(option=value, ...): {reason}") from error


def _name(tree: ast.expr) -> str:
    node = tree.func if isinstance(tree, ast.Call) else tree
    if not isinstance(node, ast.Name):
        raise ValueError(f"{ast.unparse(node)!r} is not a name")
    return node.id


def _options(tree: ast.expr) -> dict[str, object]:
    if not isinstance(tree, ast.Call):
        return {}
    if tree.args:
        raise ValueError(f"{ast.unparse(tree.args[0])!r} is the value of which option?")
    options: dict[str, object] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise ValueError("** is not allowed")
        if keyword.arg in options:
            raise ValueError(f"{keyword.arg} is given twice")
        options[keyword.arg] = _value(keyword.value)
    return options


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.keywords and not node.args:
        _options(node)
        return ast.unparse(node)  # a spec in a spec: whoever takes it will read it
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | None):
        return node.value
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item) for item in node.elts)
    return _number(node)


def _number(node: ast.expr) -> int | float:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _number(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _power(_constant(node.left), _number(node.right))
    return _constant(node)


def _constant(node: ast.expr) -> int | float:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        assert isinstance(node.value, int | float)
        return node.value
    raise ValueError(f"{ast.unparse(node)!r} is not a literal value")


def _power(base: float, exponent: float) -> int | float:
    if abs(exponent) > 1000:
        raise ValueError("the exponent of a power is at most 1000")
    try:
        value = base**exponent
    except ArithmeticError:
        raise ValueError(f"{base}**{exponent} is not a number to work with") from None
    assert isinstance(value, int | float)
    return value
