"""Habits of wording that a machine can find, in every text that a reader can meet."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ultr_core.proofs import BREAKS, PROOFS

ROOT = Path(__file__).parents[2]
MODULES = [path for room in ("ultr_core", "pages") for path in sorted((ROOT / room).rglob("*.py"))]
CONTENT = [
    path for room in ("ultr_core", "pages") for path in sorted((ROOT / room).rglob("*.toml"))
]
GUIDES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]

KEYS = "|".join(key for key in (*PROOFS, *BREAKS) if "-" in key and key != "one-slack")
PER = "click|core|document|impression|job|line|page|point|presentation|query|rank|row"
HABITS = {
    "is not a, for is no": r"(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!longer|more|less|better)",
    "reported, for told": r"\btold\b(?! apart)",
    "cannot be told apart from": r"\btold from\b",
    "per, for a": rf"\b(?:one|numbers?|clicks|logs|ranks|weight) a (?:{PER})\b(?! th)"
    r"|\b(?:candidates?|documents|judgements?|scores?|MB) a (?:query|line|file|user)\b",
    "also, for too after a comma": r", too(?=[,.;:)]|$)",
    "the ranker, for the one that": r"\bthe ones? (?:that|which|who)\b",
    "contains, for holds": r"\bh(?:eld|olds?) the (?:true|truth)\b",
    "above, for stands": r"\bstands? (?:above|at the|below|beside|on top|there)\b",
    "resumes, for goes on": r"\b(?:goes|go|went) on(?! top)\b",
    "again, for anew": r"\banew\b",
    "instead of, for in place of": r"\bin place of\b",
    "assumes, for believes": r"\b[Bb]elieves?\b",
    "probability, for chance of": r"\bchance (?:of|that)\b",
    "infinitely many, for endless": r"\bendless\b",
    "comma-separated, for with commas between": r"\bcommas between\b",
    "equally weighted clicks, for equal ones": r"\bequal ones\b",
    "from, for from ... on": r"\bfrom (?:the first \w+|rank \S+|\S+ clicks) on\b(?! the)",
    "correctly, for rightly": r"\brightly\b",
    "in the sidebar, for at the side": r"\bat the side\b",
    "lack, for want": r"\bfor want of\b",
    "uploaded, for brought along": r"\bbrought along\b",
    "your own, for one's own": r"\bone's own\b",
    "stays however": r"\bstays however\b",
    "minus, for a hyphen before a number": r"(?<=\w )-\d",
    "minus, for a hyphen between numbers": r"\d - \d",
    "spaces": r"(?<=[\w,.;:!?)%]) {2,}(?=[\w(])|\S {2,}\S.*\.$",
    "converges to, for settles at": r"\bsettles? at\b",
    "automatically, for by itself": r"\bby (?:itself|themselves)\b",
    "separate files, for files of their own": r"\bfiles of their own\b",
    "add, for bring": r"\b[Bb]ring (?:an?|your|it)\b",
    "deleted, for forgotten": r"\b(?:is|are) forgotten\b",
    "available, for at hand": r"\bat hand\b",
    "used beyond the end, for carried on": r"\bcarried on\b",
    "minus, for less": r"\bless (?:its|that of)\b",
    "previous, for former": r"\bformer\b",
    "current, for present": r"\bpresent (?:traffic|settings)\b",
    "the weighted ranker, for one": r"\bthe (?:weighted|clipped) one\b",
    "hindsight propensities, for in hindsight": r"\b(?:propensit(?:y|ies)|weights) in hindsight\b",
    "gzipped, for gzip": r"\bplain(?:,| or) gzip\b",
    "outside the range, for outside": r"\boutside \d",
    "the naive ranker, for naive": r"\b(?:overtakes?|ahead of|better than) naive\b(?! risk)",
    "titles, for internal keys": rf"\b(?:{KEYS})\b",
}
"""What to write, for what; the pattern finds the latter."""

EXCEPTIONS = {
    ("docs/dirty_logs.md", "reported, for told"),  # the name of a column
    ("ultr_core/lessons/answers.py", "minus, for a hyphen between numbers"),  # for the keyboard
}
"""Where a habit is meant."""


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def strings(nodes: list[ast.AST]) -> Iterator[str]:
    """The texts of a module, values as an ellipsis: no docstrings, and no texts of many lines."""
    inside = {id(part) for each in nodes if isinstance(each, ast.JoinedStr) for part in each.values}
    inside |= {id(each.value) for each in nodes if isinstance(each, ast.Expr)}
    for each in nodes:
        said = ""
        if isinstance(each, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in each.values)
            said = "".join(map(str, parts))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            said = "" if id(each) in inside else each.value
        # Examples of commands begin with blanks; formulas, SQL and styles are no sentences.
        if " " in said and "\n" not in said and not said.startswith(" ") and "\\" not in said:
            yield said


def of_content(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        if " " in entry:
            yield re.sub(r"(?<=\S)\n(?=\S)", " ", entry)
    elif isinstance(entry, dict | list):
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from of_content(inner)


def of_guide(text: str) -> Iterator[str]:
    """The paragraphs and cells of a guide, without code."""
    text = re.sub(r"^```.*?^```$|^    [^\n]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    for part in re.split(r"\n\s*\n|\n(?=\s*- )|\||\n(?=#)", text):
        yield re.sub(r"\s*\n\s*", " ", re.sub(r"`[^`]*`", "X", part)).strip()


def public_names(room: Path) -> set[str]:
    """What a room's ``__init__`` imports from its modules."""
    return {
        name.name
        for each in nodes_of(room / "__init__.py")
        if isinstance(each, ast.ImportFrom)
        for name in each.names
    }


def of_docstrings(path: Path) -> Iterator[str]:
    """The paragraphs of the docstrings of a module's public names, without code and examples."""
    public = public_names(path.parent) | public_names(ROOT / "ultr_core")
    for each in nodes_of(path):
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name in public:
            inside = each.body if isinstance(each, ast.ClassDef) else []
            for one in (each, *inside):
                if isinstance(one, ast.ClassDef | ast.FunctionDef) and one.name[0] != "_":
                    yield from of_docstring(ast.get_docstring(one) or "")


def of_docstring(text: str) -> Iterator[str]:
    for part in text.split("\n\n"):
        if ">>>" not in part:
            yield re.sub(r"\s+", " ", re.sub(r"``[^`]*``|`[^`]*`", "X", part)).strip()


@cache
def docstrings() -> tuple[tuple[str, str], ...]:
    """The docstrings of the public face, with the file that they are in."""
    return tuple(
        (str(path.relative_to(ROOT)), text)
        for path in MODULES
        if path.parts[-3] == "ultr_core"
        for text in of_docstrings(path)
    )


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every text, with the file that it is in."""
    found: list[tuple[str, str]] = []
    for path in (*MODULES, *CONTENT, *GUIDES):
        if path.suffix == ".py":
            inside = strings(nodes_of(path))
        elif path.suffix == ".toml":
            inside = of_content(tomllib.loads(path.read_text(encoding="utf-8")))
        else:
            inside = of_guide(path.read_text(encoding="utf-8"))
        found += ((str(path.relative_to(ROOT)), text) for text in inside)
    return tuple(found)


def test_there_are_texts() -> None:
    assert len(texts()) > 4_000
    assert len(docstrings()) > 500


@pytest.mark.parametrize("habit", HABITS)
def test_no_text_has_a_habit(habit: str) -> None:
    both = texts() if habit.startswith("minus, for a hyphen") else texts() + docstrings()
    found = [
        f"{name}: {text}"
        for name, text in both
        if habits_of(text, {habit}) and (name, habit) not in EXCEPTIONS
    ]
    assert not found, "\n".join(found)


def habits_of(text: str, among: Iterable[str] = HABITS) -> list[str]:
    return [habit for habit in among if re.search(HABITS[habit], text)]


def test_habits_are_found_and_good_english_is_not() -> None:
    for text, habit in (
        ("'x' is no number.", "is not a, for is no"),
        ("One weight a document.", "per, for a"),
        ("E was clicked, too.", "also, for too after a comma"),
        ("It gives -1.", "minus, for a hyphen before a number"),
        ("The check ips-unbiased fails.", "titles, for internal keys"),
    ):
        assert habit in habits_of(text)
    for text in (
        "There is no click.", "It is no longer used.", "They cannot be told apart from chance.",
        "Too few clicks, too late.", "2026-11-29, svm_rank -c, x-1", "It goes on top.",
    ):  # fmt: skip
        assert habits_of(text) == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('x = f"{n:,.0f} clicks  ({share:.0%})."', 1),
        ('x = f"{n}  clicks."', 1),
        ('x = "A curve. " " Its help"', 1),
        ('x = f"{n:10.3f}  {risk}"', 0),
        ('x = "  convert a b      pack it"', 0),
        ('def f():\n    """A  docstring."""', 0),
    ],
)
def test_two_spaces_are_found(code: str, found: int) -> None:
    assert (
        sum("spaces" in habits_of(text) for text in strings(list(ast.walk(ast.parse(code)))))
        == found
    )


def test_no_half_of_a_text_is_a_statement_of_its_own() -> None:
    """A text that was broken over two lines without brackets loses its second half."""
    for path in MODULES:
        for each in nodes_of(path):
            if isinstance(each, ast.FunctionDef | ast.If | ast.For | ast.With | ast.Try):
                after = each.body[1:] if isinstance(each, ast.FunctionDef) else each.body
                halves = [line.lineno for line in after if isinstance(line, ast.Expr)
                          and isinstance(line.value, ast.Constant | ast.JoinedStr)
                          and ast.unparse(line) != "..."]  # fmt: skip
                assert halves == [], path
