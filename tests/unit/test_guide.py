"""The guide, README and the changelog name files, modules and names that exist."""

from __future__ import annotations

import ast
import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = ("docs/contributing.md", "docs/adding.md")
PAGES = (
    "README.md",
    "CHANGELOG.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
)
LINK = re.compile(r"\]\(([^)#:\s]+)[^):]*\)")
OURS = {path.name for path in ROOT.iterdir()}
IN_CODE = re.compile(r"`([^`\n]+)`")
# "`a/file.py` `name`" and "`name` of `a/file.py`"
NAMED = re.compile(r"`([\w/.]+\.py)` `(\w+)`|`(\w+)`(?: and `\w+`)? (?:in|of) `([\w/.]+\.py)`")


def text_of(name: str) -> str:
    """A guide without its worked code."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def made_by_examples() -> set[str]:
    text = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
    return set(re.findall(r"`([\w/]+\.py)`[^`]*\n```python", text))


def paths(text: str) -> set[str]:
    """What is written in code and begins with a name of this folder, or ends as a file of ours."""
    found = {span for span in IN_CODE.findall(text) if re.fullmatch(r"[\w./-]+", span)}
    return {
        span for span in found
        if ("/" in span and span.split("/")[0] in OURS) or re.search(r"\.(py|md)$", span)
    }  # fmt: skip


def defined(path: str) -> set[str]:
    """Functions, classes, methods and names of a file, and its texts: keys of registries."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or what a module has."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_file(name: str) -> None:
    folder = (ROOT / name).parent
    text = IN_CODE.sub("", text_of(name))
    broken = [link for link in LINK.findall(text) if not (folder / link).exists()]
    assert broken == []


@pytest.mark.parametrize("name", GUIDES)
def test_every_path_exists(name: str) -> None:
    named = paths(text_of(name))
    assert len(named) > 10
    missing = {path for path in named - made_by_examples() if not (ROOT / path).exists()}
    assert not missing


@pytest.mark.parametrize("name", GUIDES)
def test_every_name_is_in_the_file_beside_it(name: str) -> None:
    found = NAMED.findall(text_of(name))
    pairs = {(path or later, word or earlier) for path, word, earlier, later in found}
    assert name != "docs/contributing.md" or len(pairs) > 30
    assert not {(path, word) for path, word in pairs if word not in defined(path)}


@pytest.mark.parametrize("name", GUIDES)
def test_every_dotted_name_can_be_imported(name: str) -> None:
    spans = IN_CODE.findall(text_of(name))
    dotted = {span for span in spans if re.fullmatch(r"(ultr_core|pages)(\.\w+)+", span)}
    assert not {span for span in dotted if not resolves(span)}


@pytest.mark.parametrize("name", PAGES)
def test_every_name_can_be_imported_from_where_a_page_says(name: str) -> None:
    said = re.findall(r"`(\w+)`\s+from\s+`(ultr_core(?:\.\w+)*)`", text_of(name))
    assert name != "docs/own_data.md" or len(said) > 2
    assert not [(word, module) for word, module in said if not resolves(f"{module}.{word}")]


@pytest.mark.parametrize("name", GUIDES)
def test_every_link_leads_to_a_file_and_a_heading(name: str) -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    for link in (link for link in links if "://" not in link):
        file, _, heading = link.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {title.lower().replace(" ", "-") for title in titles}, link


def moved() -> list[tuple[str, str, str]]:
    """Each former import of the changelog's table: module, name, and where it is now."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    rows = re.findall(r"^  \| `([\w.]+)` \| (.+) \| `([\w.]+)` \|$", text, re.MULTILINE)
    return [(old, word, new) for old, words, new in rows for word in IN_CODE.findall(words)]


def test_names_that_moved_are_where_the_changelog_says() -> None:
    assert len(moved()) > 60
    for old, name, new in moved():
        assert resolves(f"{new}.{name}"), f"{new} has no {name}"
        assert not resolves(f"{old}.{name}"), f"{old} still has {name}"
