"""Finds words that reach a page's Markdown without being known to hold nothing from outside."""

from __future__ import annotations

import ast
import re
import string
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

ESCAPERS = {"plain", "prose", "told"}
NOT_MARKDOWN = {"placeholder", "alt", "page_title"}
"""Arguments that Streamlit shows as they are: ``shown`` is enough there."""

TEXT_AT = {
    "progress": (1,), "table": (0,), "selectbox": (0,), "multiselect": (0,), "pills": (0, 1),
    "radio": (0, 1), "segmented_control": (0, 1), "select_slider": (0, 1), "tabs": (0,),
    **dict.fromkeys(
        ("badge", "button", "caption", "checkbox", "download_button", "error", "expander",
         "file_uploader", "form_submit_button", "header", "html", "info", "latex", "link_button",
         "markdown", "metric", "number_input", "page_link", "popover", "slider", "spinner",
         "status", "subheader", "success", "text_area", "text_input", "title", "toast", "toggle",
         "warning", "write"), (0,)
    ),
}  # fmt: skip
"""By call: the places of its arguments that are text."""

TEXT_KEYWORDS = {"label", "body", "text", "help", "title", "captions", *NOT_MARKDOWN}
NUMBER_FORMAT = re.compile(r"[+,]*(\.[^}]+)?[deEfgn%]?|,")
MADE_OF_THEIR_ARGUMENTS = {
    "join", "format", "strip", "lower", "replace", "list", "tuple", "dict", "sorted", "zip",
    "enumerate", "items", "values", "get", "str", "partition", "append", "next", "islice", "map",
    "iter", "set_formulas", "whole_equations", "with_minus", "cast", "partial", "reversed",
    "setdefault",
    # Of ultr_core.content: a text file of ours with the values that it is given.
    "fill", "read", "part", "parts", "text", "texts",
}  # fmt: skip
NO_ELEMENTS = {"lesson_state.progress", "link.write", "field.write"}
"""Calls that only have the name of one of Streamlit's elements."""

NUMBERS = {
    "columns",
    "divmod",
    "len",
    "int",
    "float",
    "range",
    "round",
    "max",
    "min",
    "sum",
    "counted",
    "part_of",
}


@dataclass
class Module:
    """The functions and constants of a file, and what it takes from other pages."""

    name: str
    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    taken: dict[str, tuple[str, str]] = field(default_factory=dict)
    calls: list[tuple[ast.Call, ast.AST]] = field(default_factory=list)
    calls_of: dict[str, list[tuple[ast.Call, ast.AST]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.calls = list(_calls(self.tree))
        for call, scope in self.calls:
            self.calls_of.setdefault(_called(call), []).append((call, scope))
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    self.taken[alias.asname or alias.name] = (node.module, alias.name)


@dataclass
class Reader:
    """Judges expressions; ``ours`` are names, attributes and expressions that hold no such text.

    ``numbers`` are values of text files, as "name of the text: name of the value", that have a
    number's form there.
    """

    modules: Mapping[str, Module]
    ours: frozenset[str]
    numbers: frozenset[str] = frozenset()
    calling: tuple[str, ...] = ()

    def findings(self) -> Iterator[str]:
        """Each text of a call that may hold something from outside, with its place."""
        for module in self.modules.values():
            for call, scope in module.calls:
                if ast.unparse(call.func) in NO_ELEMENTS:
                    continue
                for keyword, text in _texts(call):
                    for fault in self._faults(text, module, scope, shown=keyword in NOT_MARKDOWN):
                        yield f"{module.name}:{text.lineno}: {fault}"

    def _faults(
        self, node: ast.expr, module: Module, scope: ast.AST, *, shown: bool
    ) -> Iterator[str]:
        def inner(*parts: ast.expr | None) -> Iterator[str]:
            for part in parts:
                if part is not None:
                    yield from self._faults(part, module, scope, shown=shown)

        said = ast.unparse(node)
        if "".join(said.split()) in self.ours:
            return
        match node:
            case ast.Constant() | ast.Compare() | ast.UnaryOp():
                return
            case ast.JoinedStr():
                yield from inner(*(v for v in node.values if isinstance(v, ast.FormattedValue)))
            case ast.FormattedValue():
                if not NUMBER_FORMAT.fullmatch(_form(node.format_spec)):
                    yield from inner(node.value)
            case ast.Name():
                if node.id.lstrip("_").isupper() or node.id in module.functions:
                    return
                given = list(_given(node.id, scope))
                if given and (key := f"{module.name}:{node.lineno}:{said}") not in self.calling:
                    reader = replace(self, calling=(*self.calling, key))
                    for part in given:
                        yield from reader._faults(part, module, scope, shown=shown)
                elif not given and not _is_number(node.id, scope):
                    yield from self._as_called(node.id, module, scope, shown=shown)
            case ast.Attribute():
                if not (_root(node).lstrip("_").isupper() or node.attr.isupper()):
                    yield said
            case ast.Subscript():
                yield from inner(node.value)
            case ast.Call():
                yield from self._of_call(node, module, scope, shown=shown)
            case ast.BinOp():
                yield from inner(node.left, node.right)
            case ast.BoolOp():
                yield from inner(*node.values)
            case ast.IfExp():
                yield from inner(node.body, node.orelse)
            case ast.List() | ast.Tuple() | ast.Set():
                yield from inner(*node.elts)
            case ast.Dict():
                yield from inner(*node.keys, *node.values)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                yield from self._faults(node.elt, module, _Within(node, scope), shown=shown)
            case ast.DictComp():
                for part in (node.key, node.value):
                    yield from self._faults(part, module, _Within(node, scope), shown=shown)
            case ast.Starred():
                yield from inner(node.value)
            case ast.Lambda():
                yield from inner(node.body)
            case _:
                yield said

    def _as_called(
        self, name: str, module: Module, scope: ast.AST, *, shown: bool
    ) -> Iterator[str]:
        """What a function's argument holds, by all calls of the function."""
        function = _function_of(scope)
        key = f"{module.name}:{function and function.name}({name})"
        if key in self.calling:
            return
        reader = replace(self, calling=(*self.calling, key))
        known = False
        for home in self.modules.values() if function is not None else ():
            for call, where in home.calls_of.get(function.name, ()):
                # Functions of one name in several modules are told apart where that can be seen.
                if self._function(call.func, home)[1] in (None, function):
                    for part in _argument(call, function, name):
                        known = True
                        yield from reader._faults(part, home, where, shown=shown)
        if not known:
            yield f"{name} in {function.name}" if function is not None else name

    def _of_call(
        self, node: ast.Call, module: Module, scope: ast.AST, *, shown: bool
    ) -> Iterator[str]:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name in ESCAPERS | NUMBERS | self.ours or (shown and name in ("shown", "named")):
            return
        told = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else ""
        arguments = [
            *node.args,
            *(word.value for word in node.keywords if f"{told}: {word.arg}" not in self.numbers),
        ]
        if name in MADE_OF_THEIR_ARGUMENTS:
            if name == "map":
                arguments = [ast.Call(arguments[0], arguments[1:], [])]
            if isinstance(node.func, ast.Attribute):
                arguments.append(node.func.value)
            for part in arguments:
                ast.copy_location(part, node)
                yield from self._faults(part, module, scope, shown=shown)
            return
        home, function = self._function(node.func, module)
        if function is None or home is None:
            yield ast.unparse(node)
        elif (key := f"{home.name}.{function.name}") not in self.calling:
            reader = replace(self, calling=(*self.calling, key))
            for part in _returned(function):
                yield from reader._faults(part, home, function, shown=shown)

    def _function(
        self, func: ast.expr, module: Module
    ) -> tuple[Module | None, ast.FunctionDef | None]:
        """The function of the pages that is called, and its module."""
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            package, name = module.taken.get(func.value.id, ("", ""))
            home = self.modules.get(f"{package}.{name}")
            return home, None if home is None else home.functions.get(func.attr)
        name = ast.unparse(func)
        if name in module.functions:
            return module, module.functions[name]
        package, name = module.taken.get(name, ("", ""))
        home = self.modules.get(package)
        return home, None if home is None else home.functions.get(name)


def numbers_in(files: Iterable[Path]) -> frozenset[str]:
    """The values of text files that have a number's form wherever a text of that name has them."""
    forms: dict[str, set[bool]] = {}
    for file in files:
        for name, text in texts_in(tomllib.loads(file.read_text(encoding="utf-8"))):
            for _, value, form, _ in string.Formatter().parse(text):
                if value is not None:
                    number = bool(form and NUMBER_FORMAT.fullmatch(form))
                    forms.setdefault(f"{name.rpartition('.')[2]}: {value}", set()).add(number)
    return frozenset(name for name, found in forms.items() if found == {True})


def texts_in(entries: object, name: str = "") -> Iterator[tuple[str, str]]:
    """The texts of a text file with their dotted names."""
    if isinstance(entries, str):
        yield name, entries
    elif isinstance(entries, Mapping | list):
        for key, inner in entries.items() if isinstance(entries, Mapping) else enumerate(entries):
            yield from texts_in(inner, f"{name}.{key}" if name else str(key))


class _Within(ast.AST):
    """The scope of a comprehension: its own names, then those around it."""

    def __init__(self, made: ast.expr, outer: ast.AST) -> None:
        self.made, self.outer = made, outer


def _calls(tree: ast.AST, scope: ast.AST | None = None) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Each call with the function or comprehension in which it stands."""
    scope = tree if scope is None else scope
    for child in ast.iter_child_nodes(tree):
        inside = child if isinstance(child, ast.FunctionDef) else scope
        if isinstance(child, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            inside = _Within(child, scope)
        if isinstance(child, ast.Call):
            yield child, scope
        yield from _calls(child, inside)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)


def _argument(call: ast.Call, function: ast.FunctionDef, name: str) -> Iterator[ast.expr]:
    """What a call gives a function for one of its arguments, or the function's own default."""
    given = [argument.arg for argument in function.args.args if argument.arg not in ("self", "cls")]
    defaults = dict(zip(reversed(given), reversed(function.args.defaults), strict=False))
    only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    defaults |= {argument.arg: value for argument, value in only if value is not None}
    by_name = {word.arg: word.value for word in call.keywords}
    place = given.index(name) if name in given else len(call.args)
    if name in by_name:
        yield by_name[name]
    elif place < len(call.args):
        yield call.args[place]
    elif name in defaults:
        yield defaults[name]


def _texts(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in TEXT_AT:
        return
    for place in TEXT_AT[name]:
        if place < len(call.args):
            yield "", call.args[place]
    for word in call.keywords:
        if word.arg in TEXT_KEYWORDS:
            yield word.arg or "", word.value
        elif word.arg == "format_func" and name not in ("selectbox", "multiselect"):
            yield "", word.value


def _form(spec: ast.expr | None) -> str:
    """A format as it is written, "?" where it is made or there is none."""
    parts = spec.values if isinstance(spec, ast.JoinedStr) else []
    return "".join(str(p.value) if isinstance(p, ast.Constant) else "?" for p in parts) or "?"


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _given(name: str, scope: ast.AST) -> Iterator[ast.expr]:
    """What a name is set to in a function or a comprehension; what a loop's name is taken from."""
    while isinstance(scope, _Within):
        found = [g.iter for g in scope.made.generators if name in _names(g.target)]  # type: ignore[attr-defined]
        if found:
            yield from found
            return
        scope = scope.outer
    for node in ast.walk(scope):
        match node:
            case ast.Assign() if any(name in _names(target) for target in node.targets):
                yield node.value
            case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value) if (
                name in _names(node.target)
            ):
                yield value
            case ast.NamedExpr() if name in _names(node.target):
                yield node.value
            case ast.For() | ast.comprehension() if name in _names(node.target):
                yield node.iter


def _function_of(scope: ast.AST) -> ast.FunctionDef | None:
    while isinstance(scope, _Within):
        scope = scope.outer
    return scope if isinstance(scope, ast.FunctionDef) else None


def _names(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}


def _is_number(name: str, scope: ast.AST) -> bool:
    """Whether a name is an argument that the function's signature has as a number."""
    function = _function_of(scope)
    given = [] if function is None else [*function.args.args, *function.args.kwonlyargs]
    kinds = [ast.unparse(a.annotation) for a in given if a.arg == name and a.annotation]
    return bool(kinds) and kinds[0] in ("int", "float", "bool")


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    return [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
