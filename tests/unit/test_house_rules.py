"""The house itself: imports point one way, the core knows no screen, facts stand once."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from pages.app.registry import MAIN_CONTROLS, PAGES
from tests.phrases import phrase_assertions

ROOT = Path(__file__).parents[2]
CORE = ROOT / "ultr_core"
ROOMS = (
    "lazy", "errors", "limits", "deadline", "words", "content", "workers", "fields",
    "curve_values", "settings", "findings", "corpus", "users", "propensity", "risk", "learners",
    "files", "inspection", "proofs", "lab", "own_data", "studies", "claims", "figures", "export",
    "lessons", "jobs", "cli", "__main__",
)  # fmt: skip
MODULES = sorted(CORE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def taken_at_once(path: Path) -> set[str]:
    """The modules that the imports at the top of a file name, and what they take from each."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(CORE)))
def test_imports_point_up_the_list_and_never_to_a_screen(path: Path) -> None:
    own = path.relative_to(CORE).with_suffix("").parts[0]
    for name in imported(path):
        assert name.split(".")[0] not in {"streamlit", "pages", "app", "tests"}
        if name.startswith("ultr_core.") and own != "__init__":
            assert ROOMS.index(room(name)) <= ROOMS.index(own), f"{own} imports {name}"


def test_the_method_rooms_know_no_settings() -> None:
    methods = ROOMS[ROOMS.index("findings") : ROOMS.index("proofs") + 1]
    for path in MODULES:
        if path.relative_to(CORE).parts[0] in methods:
            assert not imported(path) & {"ultr_core.settings", "ultr_core.curve_values"}, path


def test_the_core_names_all_its_rooms_in_their_order() -> None:
    """In the docstring of the package, the guide's table and picture, and this file alike."""
    folders = {path.parent.name for path in CORE.glob("*/__init__.py")}
    rooms = [name for name in ROOMS if name in folders]
    assert set(rooms) == folders
    told = ast.get_docstring(ast.parse((CORE / "__init__.py").read_text(encoding="utf-8"))) or ""
    guide = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    table = guide.split("## The rooms")[1].split("    screen ")[1]
    for where, places in (
        ("docstring", [told.find(name, told.find("findings, ")) for name in rooms]),
        ("table", [table.find(f"`ultr_core/{name}/`") for name in rooms]),
    ):
        assert min(places) >= 0, where
        assert places == sorted(places), where
    picture = guide.split("    method ")[1].split("    screen ")[0]
    assert [word for word in picture.split() if word in folders] == rooms


def test_the_core_follows_links_in_the_way_that_never_fails() -> None:
    """`Path.resolve` raises RuntimeError on a link that leads back to itself."""
    for path in MODULES:
        assert ".resolve(" not in path.read_text(encoding="utf-8"), path.name


def test_pages_leave_mathematics_to_the_core() -> None:
    for path in (ROOT / "pages").rglob("*.py"):
        assert not {name.split(".")[0] for name in imported(path)} & {"scipy", "sklearn"}


def test_no_module_imports_itself_by_way_of_others() -> None:
    """At the top of a file: an import inside a function runs when all is loaded."""
    names = {".".join(("ultr_core", *path.relative_to(CORE).with_suffix("").parts)): path
             for path in MODULES}  # fmt: skip
    needs = {name: sorted(taken_at_once(path) & set(names)) for name, path in names.items()}
    done: set[str] = set()

    def follow(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " imports ".join((*way, name))
        if name not in done:
            for other in needs[name]:
                follow(other, (*way, name))
            done.add(name)

    for name in names:
        follow(name, ())


def test_readme_prints_exactly_two_set_up_commands_and_ci_runs_the_second() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^python3 -m venv .*$", readme, flags=re.MULTILINE)
    assert len(commands) == 2
    assert commands[0].endswith("streamlit run app.py")
    assert commands[1].endswith("python -m pytest")
    assert ".venv-test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "screenshot.png").is_file()


def test_uploads_take_any_file_for_the_browser_refuses_one_without_saying_what_is_right() -> None:
    for path in (ROOT / "pages").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.file_uploader":
                assert "type" not in {word.arg for word in node.keywords}, path.name


def test_the_lab_shows_all_main_controls_in_a_lecture() -> None:
    assert {page.in_lectures for page in PAGES} == {(), MAIN_CONTROLS}


OF_OUR_OWN = {
    "cli.py",  # what argparse says
    "plans.py", "reading.py", "checks.py", "log.py", "curves.py",
    "evidence.py", "of_together.py",
}  # fmt: skip
"""Files that begin a sentence with a word of ours; a name from outside is never altered."""


def test_only_words_of_our_own_get_a_capital() -> None:
    for folder in ("ultr_core", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name not in OF_OUR_OWN:
                text = path.read_text(encoding="utf-8")
                assert not re.search(r"\]\.upper\(\)|\.capitalize\(\)|\.title\(\)", text), path


WORDING = "test_words_users_meet.py"
"""One file per face holds, on purpose and to the letter, what users meet most."""

PHRASES_LEFT = {
    "app": 11, "browser": 0, "server": 1, "unit": 15,
    "unit/cli": 6, "unit/export": 0, "unit/files": 9, "unit/inspection": 2,
}  # fmt: skip
"""By folder: assertions on wording elsewhere. A number may fall, and then it falls here."""


def test_no_text_prints_the_name_of_a_value_where_its_letter_f_was_forgotten() -> None:
    notebooks = CORE / "jobs"  # they print f-strings
    modules = [path for path in MODULES if notebooks not in path.parents]
    for path in [*modules, *(ROOT / "pages").rglob("*.py")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
                 for part in ast.walk(node)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named = re.search(r"(?<!\{)\{[A-Za-z_]\w*\.[a-z_]\w*\}", node.value)
                assert not named or id(node) in inner, f"{path.name}: {node.value}"


def folder_of(path: Path) -> str:
    """The folder of ``PHRASES_LEFT`` that a file of tests counts in."""
    parts = path.relative_to(ROOT / "tests").parts
    return next(name for name in ("/".join(parts[:2]), parts[0]) if name in PHRASES_LEFT)


@pytest.mark.parametrize("folder", PHRASES_LEFT)
def test_a_sentence_can_be_edited_without_breaking_tests(folder: str) -> None:
    """Tests know an error by `about` and its values, a text by its name, a page by keys."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))
        if path.name != WORDING and folder_of(path) == folder
        for line, words in phrase_assertions(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert len(found) <= PHRASES_LEFT[folder], "\n".join(found)


@pytest.mark.parametrize(
    ("test", "phrases"),
    [
        ('assert "two words" in text', 1),
        ('assert text == "Two words."', 1),
        ('assert text.count("two words") == 1', 1),
        ('with pytest.raises(InputError, match="two words"): pass', 1),
        ('with refused("about", "two words"): pass', 1),
        ('assert mentions(text, "two words")', 1),
        ('@pytest.mark.parametrize("a", ["two words", "one"])\ndef test(a): assert a in told', 1),
        ('@pytest.mark.parametrize(("a", "b"), [("two words", 1)])\ndef test(a, b): f(a)', 0),
        ('assert read("two words") == 1', 0),
        ('assert found.outcome == "does not hold"', 0),
        ('assert mentions(text, "rank 2", 3, "q.csv")', 0),
    ],
)
def test_what_counts_as_wording(test: str, phrases: int) -> None:
    assert len(phrase_assertions(ast.parse(test))) == phrases
