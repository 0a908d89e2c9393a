"""Public names that are imported when somebody asks for them, so that a start pays for no more."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable
from typing import Any


def on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) that load a package's public names on demand.

    The package lists its names once, as imports under ``if TYPE_CHECKING:``: type checkers and
    editors read them there, and so does this function.

        if TYPE_CHECKING:
            from ultr_core.risk.known_relevance import true_risk
        else:
            __getattr__, __dir__ = on_demand(__name__)
    """
    module = sys.modules[package]

    @functools.cache
    def origins() -> dict[str, str]:
        return _typed_imports(package)

    def getattr_(name: str) -> Any:
        if name not in origins():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(origins()[name]), name)
        setattr(module, name, value)
        return value

    def dir_() -> list[str]:
        return sorted({*vars(module), *origins()})

    return getattr_, dir_


def load(package: str) -> None:
    """Import every public name of a package now, so that nobody waits for one later."""
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)


def _typed_imports(package: str) -> dict[str, str]:
    """Public name to module, from the imports of a package under ``if TYPE_CHECKING:``."""
    source = pkgutil.get_data(package, "__init__.py") or b""
    return {
        alias.name: statement.module
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for statement in block.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
