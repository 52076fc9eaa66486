"""A bandit of somebody's own by its address, `module:Class`: found, checked, and known by the text of its code."""

import hashlib
import importlib
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from rankduel.bandits.base import Bandit

__all__ = ["code_of", "own_class", "plays_in_python", "split"]

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def split(spec: str) -> tuple[str | None, str]:
    """The module and the rest of a spec; None where no module is named.

    >>> split("my_package.greedy:Greedy(epsilon=0.1)"), split("MergeDTS(alpha=0.5)")
    (('my_package.greedy', 'Greedy(epsilon=0.1)'), (None, 'MergeDTS(alpha=0.5)'))
    """
    module, colon, rest = spec.partition(":")
    if not colon or "(" in module:
        return None, spec
    if not _MODULE.fullmatch(module.strip()):
        raise ValueError(f"cannot read {spec!r}, expected module:Class or module:Class(option=value, ...)")
    return module.strip(), rest


def own_class(module: str, name: str) -> type[Bandit]:
    """The class of that name in that module."""
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise ValueError(f"no module {error.name!r}, where {module}:{name} should be") from error
        raise ValueError(f"cannot import {module!r}: {error}") from error
    except Exception as error:  # whatever the module does when it is imported
        raise ValueError(f"cannot import {module!r}: {type(error).__name__}: {error}") from error
    if found is None:
        raise ValueError(f"the module {module!r} has no class {name!r}")
    if not isinstance(found, type) or not issubclass(found, Bandit):
        raise ValueError(f"{module}:{name} must be a subclass of rankduel.Bandit, got {found!r}")
    return found


def plays_in_python(spec: str) -> bool:
    """Whether a bandit's rules are in plain Python, where only one thread of a process can be at a time."""
    address = _address(spec)
    if address is None:
        return False
    cls = own_class(*address)
    return cls.pick is not Bandit.pick or cls.update is not Bandit.update


def code_of(spec: str) -> str | None:
    """The sha256 of the code of somebody's own bandit, as it was imported; None for one of rankduel's.

    The code is the file of its class and those of its bases, and the modules of the same package or folder that these
    make use of.
    """
    address = _address(spec)
    return None if address is None else _digest(*address)


def _address(spec: str) -> tuple[str, str] | None:
    """The module and the class."""
    module, rest = split(spec)
    return None if module is None else (module, rest.partition("(")[0].strip())


@cache
def _digest(module_name: str, name: str) -> str:
    bases = [base.__module__ for base in own_class(module_name, name).__mro__]
    todo = [sys.modules[module] for module in bases if _top(module) not in {"rankduel", "builtins"}]
    files: dict[str, bytes] = {}
    while todo:
        module = todo.pop()
        if module.__name__ not in files:
            files[module.__name__] = _content(module)
            todo += [used for used in _used(module) if _neighbours(module, used)]
    return hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()


def _content(module: ModuleType) -> bytes:
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).digest() if file else b""


def _used(module: ModuleType) -> list[ModuleType]:
    """The modules that it imports, or takes something from."""
    used = []
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name in sys.modules:
            used.append(sys.modules[name])
    return used


def _neighbours(one: ModuleType, other: ModuleType) -> bool:
    """Of one package, or beside each other in a folder that is not one of installed packages."""
    if _top(one.__name__) == _top(other.__name__):
        return True
    folder = _folder(one)
    return folder is not None and folder.name != "site-packages" and folder == _folder(other)


def _folder(module: ModuleType) -> Path | None:
    """Whence its outermost package, or itself, is imported."""
    outermost = sys.modules.get(_top(module.__name__), module)
    file = getattr(outermost, "__file__", None)
    if not file:
        return None
    return Path(file).resolve().parents[1 if hasattr(outermost, "__path__") else 0]


def _top(module: str) -> str:
    return module.partition(".")[0]
