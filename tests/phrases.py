"""Assertions on wording: where a test compares with two or more words that stand side by side."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ultr_core.findings import OUTCOMES

_PHRASE = re.compile(r"[^\W\d_][^\W\d_'’]+[,;:.]? +\(?[^\W\d_]+")
_KEYS = {*OUTCOMES, "holds, though not guaranteed", "does not hold, as predicted"}
_COMMAND = re.compile(r"(python|pip|streamlit|apt-get) ")
_COMPARING = (
    "startswith", "endswith", "count", "index", "find", "search", "match", "fullmatch", "findall",
    "mentions",
)  # fmt: skip


def phrase_assertions(tree: ast.Module) -> list[tuple[int, str]]:
    """The line and the words of each, those of parametrised tests where the words are given."""
    found = set(_on_phrases(tree))
    for test in ast.walk(tree):
        if isinstance(test, ast.FunctionDef):
            compared = {
                node.id
                for part in _compared(test)
                for node in _outside_calls(part)
                if isinstance(node, ast.Name)
            }
            for values in _parametrised(test, compared):
                found |= set(_phrases(values))
    return sorted(found)


def _on_phrases(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for part in _compared(tree):
        yield from list(_phrases(part))[:1]


def _compared(tree: ast.AST) -> Iterator[ast.expr]:
    """What assertions compare with, and what errors are matched with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            for part in ast.walk(node.test):
                if isinstance(part, ast.Compare):
                    yield from (part.left, *part.comparators)
                elif isinstance(part, ast.Call) and _name(part) in _COMPARING:
                    yield from part.args
        elif isinstance(node, ast.Call) and _name(node) in ("raises", "warns"):
            yield from (word.value for word in node.keywords if word.arg == "match")
        elif isinstance(node, ast.Call) and _name(node).startswith("refused"):
            yield from node.args


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _outside_calls(part: ast.AST) -> Iterator[ast.AST]:
    """An expression and its parts, but for what a call in it is given and for keys."""
    yield part
    if not isinstance(part, ast.Call | ast.Subscript | ast.Lambda):
        for inner in ast.iter_child_nodes(part):
            yield from _outside_calls(inner)


def _phrases(part: ast.AST) -> Iterator[tuple[int, str]]:
    for node in _outside_calls(part):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            phrase = _PHRASE.search(node.value)
            if phrase and node.value not in _KEYS and not _COMMAND.match(node.value):
                yield node.lineno, phrase[0]


def _parametrised(test: ast.FunctionDef, compared: set[str]) -> Iterator[ast.expr]:
    """The values of those parameters of a test that it compares with."""
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and _name(mark) == "parametrize" and len(mark.args) > 1:
            named, values = mark.args[:2]
            names = [n.value for n in ast.walk(named) if isinstance(n, ast.Constant)]
            if len(names) == 1:
                names = [name.strip() for name in str(names[0]).split(",")]
            for row in getattr(values, "elts", []):
                cells = getattr(row, "elts", getattr(row, "args", [row]))
                for name, cell in zip(names, cells if len(names) > 1 else [row], strict=False):
                    if name in compared:
                        yield cell
