"""Parse specs, the text form of bandits, problems and delays: "cycle2" or "MergeRUCB(alpha=0.8**6, batch_size=8)"."""

import ast

__all__ = ["parse"]

_MAX_CHARACTERS = 1000  # Python's parser is not hardened against hostile input, so it gets little of it


def parse(text: str) -> tuple[str, dict[str, object]]:
    """Split a spec into its name and its options. No code is evaluated.

    The value of an option is a literal, a power of two numbers, or another spec.

    >>> parse("cycle2")
    ('cycle2', {})
    >>> parse("MergeRUCB(alpha=0.5**2, batch_size=8, seed=None)")
    ('MergeRUCB', {'alpha': 0.25, 'batch_size': 8, 'seed': None})
    """
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"a spec must have at most {_MAX_CHARACTERS} characters, got {len(text)}")
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
        raise ValueError(f"{ast.unparse(tree.args[0])!r} needs the name of its option: option=value")
    options: dict[str, object] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            raise ValueError("** is not allowed")
        if keyword.arg in options:
            raise ValueError(f"option {keyword.arg!r} is given twice")
        options[keyword.arg] = _value(keyword.value)
    return options


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.keywords and not node.args:
        _options(node)
        return ast.unparse(node)  # a spec inside a spec stays text: the code that uses the option parses it
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
        raise ValueError(f"an exponent must be from -1000 to 1000, got {exponent}")
    try:
        value = base**exponent
    except ArithmeticError:
        raise ValueError(f"{base}**{exponent} is not a finite number") from None
    assert isinstance(value, int | float)
    return value
