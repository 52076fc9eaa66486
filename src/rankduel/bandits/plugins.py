"""Bandits outside this package, named `module:Class`: import them, check them, hash their code."""

import ast
import hashlib
import importlib
import os
import re
import sys
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, resolve_name
from pathlib import Path

from rankduel.bandits.base import Bandit
from rankduel.errors import StorageError

__all__ = ["code_of", "own_class", "plays_in_python", "split", "stored_class"]

ALLOWED = "RANKDUEL_BANDITS"  # environment variable: the classes that a storage may import, "module:Class,..."
_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def split(spec: str) -> tuple[str | None, str]:
    """Split a spec into its module and the rest. The module is None if the spec names none.

    >>> split("my_package.greedy:Greedy(epsilon=0.1)"), split("MergeDTS(alpha=0.5)")
    (('my_package.greedy', 'Greedy(epsilon=0.1)'), (None, 'MergeDTS(alpha=0.5)'))
    """
    module, colon, rest = spec.partition(":")
    if not colon or "(" in module:
        return None, spec
    if not _MODULE.fullmatch(module.strip()):
        raise ValueError(f"invalid bandit {spec!r}, expected module:Class or module:Class(option=value, ...)")
    return module.strip(), rest


def own_class(module: str, name: str) -> type[Bandit]:
    """Import the module and return its class of that name."""
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise ValueError(f"cannot import {module}:{name}: there is no module {error.name!r}") from error
        raise ValueError(f"cannot import {module!r}: {error}") from error
    except Exception as error:  # the code of the module may raise anything when it is imported
        raise ValueError(f"cannot import {module!r}: {type(error).__name__}: {error}") from error
    if found is None:
        raise ValueError(f"module {module!r} has no class {name!r}")
    if not isinstance(found, type) or not issubclass(found, Bandit):
        raise ValueError(f"{module}:{name} must be a subclass of rankduel.Bandit, got {found!r}")
    return found


def stored_class(module: str, name: str) -> type[Bandit]:
    """Return the class that a storage names, if it is already imported or listed in RANKDUEL_BANDITS.

    Otherwise a storage from somebody else could run any module on your machine.
    """
    loaded = sys.modules.get(module)
    found = vars(loaded).get(name) if loaded is not None else None
    if isinstance(found, type) and issubclass(found, Bandit):
        return found
    allowed = [address.strip() for address in os.environ.get(ALLOWED, "").split(",")]
    if f"{module}:{name}" not in allowed:
        raise StorageError(
            f"the storage names the bandit {module}:{name}, which is not allowed; "
            f"import {module} before you open the storage, or set {ALLOWED}={module}:{name}"
        )
    return own_class(module, name)


def plays_in_python(spec: str) -> bool:
    """Whether a bandit's rules are written in Python, and so hold the global interpreter lock."""
    address = _address(spec)
    if address is None:
        return False
    cls = own_class(*address)
    return cls.pick is not Bandit.pick or cls.update is not Bandit.update


def code_of(spec: str) -> str | None:
    """The SHA-256 of the source code of a bandit outside this package. None for a bandit of rankduel.

    It covers the files of the class and of its base classes, and the modules that these import from the same package or
    folder.
    """
    address = _address(spec)
    return None if address is None else _digest(*address)


def _address(spec: str) -> tuple[str, str] | None:
    """The module and the class name of a spec. None if it names no module."""
    module, rest = split(spec)
    return None if module is None else (module, rest.partition("(")[0].strip())


@cache
def _digest(module: str, name: str) -> str:
    todo = [base.__module__ for base in own_class(module, name).__mro__]
    files: dict[str, str] = {}
    while todo:
        module = todo.pop()
        if module not in files and _top(module) not in {"rankduel", "builtins"}:
            file = _file(module)
            content = file.read_bytes() if file is not None else b""
            files[module] = hashlib.sha256(content).hexdigest()
            todo += [used for used in _imports(module, content) if _neighbours(module, used) and _spec(used)]
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


def _imports(module: str, content: bytes) -> list[str]:
    """The modules that a source file imports anywhere. The last part of a name may be an object in a module."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):  # a compiled module
        return []
    names = []
    spec = _spec(module)
    package = spec.parent if spec is not None and spec.parent else module
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _neighbours(one: str, other: str) -> bool:
    """Whether two modules are in the same package, or in the same folder other than site-packages."""
    if _top(one) == _top(other):
        return True
    folder = _folder(one)
    return folder is not None and folder.name != "site-packages" and folder == _folder(other)


def _folder(module: str) -> Path | None:
    """The folder from which the module, or its outermost package, is imported."""
    outermost = _file(_top(module))
    return None if outermost is None else outermost.parents[1 if outermost.name.startswith("__init__.") else 0]


def _file(module: str) -> Path | None:
    spec = _spec(module)
    return Path(spec.origin).resolve() if spec is not None and spec.has_location and spec.origin else None


def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except (ImportError, ValueError, AttributeError):  # no such module, or the name belongs to something else
        return None


def _top(module: str) -> str:
    return module.partition(".")[0]
