"""Notebooks: valid, stable, short, and made from any state of a page."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import nbformat
import pytest

from tests.meaning import mentions, refused, refused_command
from ultr_core.cli import main
from ultr_core.errors import InputError
from ultr_core.export.origin import settings_code
from ultr_core.fields import Choice, Field, Number, Switch
from ultr_core.figures import examination_figure
from ultr_core.jobs.job import PageState
from ultr_core.jobs.links import NOTEBOOK_PAGES, job_of, page_of
from ultr_core.jobs.notebooks import page_notebook
from ultr_core.jobs.your_data import OWN_WORK, OwnWork
from ultr_core.settings import ALL_FIELDS, PARAMETERS, PRESETS, Settings

ROOT = Path(__file__).parents[3]
QUERIES = {
    "lab": "eta=0.5&p=1,0.5,0.25",
    "learning_curves": "result=quick&loss=ndcg",
    "robustness": "study=map-noise",
    "proofs": "proof=affine-law&break_trust=true&relevant=-&eta=0.7",
    "propensities": "swap_users=trust&swap_at=powers&swap_bootstrap=true",
    "live": "live_scheme=team-draft&live_queries=218",
    "lessons": "lesson=3&seed=5",
    "your_data": "seed=4",
    "claims": "claim_section=5.3&claim_verdict=holds",
}


def farthest(field: Field) -> str:
    """A value other than the default, where a kind of field has one in any case."""
    if isinstance(field, Choice):
        return list(field.options)[-1]
    if isinstance(field, Number):
        return field.write(field.low if field.default == field.high else field.high)
    return field.write(not field.default if isinstance(field, Switch) else field.default)


def changed_query(page: str) -> str:
    """A state that tells more than others, or else every value at its farthest."""
    every = {field.key: farthest(field) for field in page_of(page).fields}
    return QUERIES.get(page) or urlencode({"eta": "0.5", **every})


@pytest.mark.parametrize("page", NOTEBOOK_PAGES)
def test_a_job_says_whether_the_app_has_its_page(page: str) -> None:
    """A notebook links to it only then; say in_app=False where there is none."""
    found, state = page_of(page), PageState.of_query(page, "")
    assert found.in_app is (ROOT / "pages" / f"{page}.py").is_file()
    link = f"http://host/{page}"
    linked = page_notebook(replace(state, link=link)).cells[0].text
    own_opening = found.begins(state) == "nothing"
    assert (f"({link})" in linked) is (found.in_app and not own_opening)


@pytest.mark.parametrize("page", NOTEBOOK_PAGES)
def test_every_page_says_which_settings_act_on_it(page: str) -> None:
    found, job = page_of(page), job_of(page)
    assert found.fixed or found.settings or job.settings
    names = {field.name for field in found.settings or job.settings}
    assert names <= {field.name for field in ALL_FIELDS}


COMPUTED = {
    "learning_curves": "result=quick",
    "robustness": "result=quick",
    "repairs": "result=quick",
}
"""Queries of pages that show shipped results without one."""


@pytest.mark.parametrize("page", COMPUTED)
def test_on_shipped_results_no_setting_acts_and_the_notebook_has_none(page: str) -> None:
    shipped = page_notebook(PageState.of_query(page, "eta=2&draws=3"))
    text = "".join(cell.text for cell in shipped.cells)
    assert "ettings" not in text.replace("Lab(point.settings)", "")  # those are the study's
    assert len(shipped.cells) >= 3


def test_the_notebook_of_repairs_has_no_setting_that_the_study_fixes() -> None:
    query = "result=quick&eta=2&clicks=3000&seed=4&draws=3"
    source = page_notebook(PageState.of_query("repairs", query)).source
    assert "settings = Settings(seed=4, draws=3)" in source


def test_the_notebook_of_repairs_asks_for_clicks_that_its_result_has() -> None:
    for query, corpus, clicks in (
        ("result=quick&repair_clicks=most", None, 45_000),
        ("repair_clicks=most", "corpus", 45_000),
        ("repair_clicks=most", None, 170_000),
    ):
        state = replace(PageState.of_query("repairs", f"breaks=leaving&{query}"), corpus=corpus)
        assert f"result.point({clicks})" in page_notebook(state).source


def test_a_link_to_clicks_that_were_not_run_is_corrected_with_a_note(
    capsys: pytest.CaptureFixture[str],
) -> None:
    link = "repairs?breaks=leaving&result=quick&repair_clicks=most&draws=2&seed=3"
    assert main(["notebook", "repairs", "--link", link]) == 0
    printed = capsys.readouterr()
    assert "point(45000)" in printed.out.replace(" ", "")
    assert mentions(printed.err, "170,000", "45,000")


def test_the_notebook_of_repairs_has_intervals_only_over_several_logs() -> None:
    for query, several in (("draws=1", True), ("result=quick", True), ("result=quick&draws=1", 0)):
        made = page_notebook(PageState.of_query("repairs", query))
        told = "".join(cell.text for cell in made.cells if cell.kind == "markdown")
        assert ("95%" in told) == bool(several)
    nodes = ast.walk(ast.parse(made.source))
    assert "n" in {node.attr for node in nodes if isinstance(node, ast.Attribute)}


@pytest.mark.parametrize(
    "page", [page for page in NOTEBOOK_PAGES if page not in ("claims", "lessons", "your_data")]
)
def test_the_opening_names_the_settings_that_act(page: str) -> None:
    acting = {field.name for field in page_of(page).settings or job_of(page).settings}
    opening = page_notebook(PageState.of_query(page, COMPUTED.get(page, ""))).cells[0].text
    (named,) = re.findall(r"^Settings: (.*)\.$", opening, re.MULTILINE)
    assert named
    for name, parameter in PARAMETERS.items():
        if name not in acting:
            assert f"{parameter.symbol} = " not in named


@pytest.mark.parametrize("page", NOTEBOOK_PAGES)
@pytest.mark.parametrize("changed", [False, True])
def test_notebook_is_valid_stable_and_parses(page: str, changed: bool) -> None:
    state = PageState.of_query(page, changed_query(page) if changed else "")
    made = page_notebook(state)
    nbformat.validate(json.loads(made.as_bytes()))
    assert made.as_bytes() == page_notebook(state).as_bytes()
    ast.parse(made.source)
    assert "streamlit" not in made.source
    assert "pages" not in made.source
    assert len(made.source.splitlines()) < 70
    assert sum(cell.kind == "markdown" for cell in made.cells) >= 2, (
        "an opening, and words on the code"
    )
    opening = made.cells[0].text
    for needed in (
        "lab's folder",
        "`pip install '.[figures]'`",
        "Jupyter (`pip install notebook`)",
    ):
        assert needed in opening


@pytest.mark.parametrize(
    "end",
    [")![p](http://e.com/p.png)", "\n\n<img src='http://e.com/p.png'>", " 'title')", "\udcff`"],
)
def test_a_link_from_outside_is_a_link_and_nothing_else(end: str) -> None:
    opening = (
        page_notebook(PageState("lab", Settings(), link=f"http://h/lab?z={end}")).cells[0].text
    )
    (target,) = re.findall(r"\[this page\]\((.*?)\), in Python", opening)
    assert target.startswith("http://h/lab?z=")
    assert not set(target) & set('()[]<>\\` \n"')
    assert opening.count("](") == 1 and "<img" not in opening


def test_what_is_no_address_is_no_link() -> None:
    for link in ("javascript:alert(1)//?seed=1", "data:text/html,<script>", "lab?seed=1"):
        assert link not in page_notebook(PageState("lab", Settings(), link=link)).cells[0].text
    link = "https://host:8501/a%20b/lab?curve=1,0.5&eta=0.5"
    assert f"({link})" in page_notebook(PageState("lab", Settings(), link=link)).cells[0].text


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_settings_are_written_as_the_code_that_makes_them(preset: Any) -> None:
    assert eval(settings_code(preset.settings), {"Settings": Settings}) == preset.settings


def test_curves_are_written_with_all_their_digits() -> None:
    world = Settings(curve=(1, 1 / 3, 1 / 7), assumed_curve=(0.3, 0.1))
    assert eval(settings_code(world), {"Settings": Settings}) == world


def test_own_corpus_is_read_from_a_directory_that_the_reader_sets() -> None:
    source = page_notebook(PageState("lab", corpus="mine")).source
    assert "DIRECTORY = 'mine'" in source
    assert "DIRECTORY)" in source


def test_page_without_a_notebook_is_refused_in_a_sentence() -> None:
    with refused("no_notebook", "'about'", "lab"):
        page_notebook(PageState("about"))


def test_parts_of_a_page_have_their_own_cells() -> None:
    plan = page_notebook(PageState.of_query("lessons", "part=lecturers&plan=90")).source
    assert "plan.minutes == 90" in plan
    for query in ("part=glossary", "lesson=9"):
        ast.parse(page_notebook(PageState.of_query("lessons", query)).source)
    readings = page_notebook(PageState.of_query("claims", "part=readings&reading_place=E5"))
    assert "compare('E5', small_corpus())" in readings.source


def test_claims_are_measured_with_the_papers_settings() -> None:
    assert "settings = Settings()" in page_notebook(PageState.of_query("claims", "eta=2")).source


def test_own_files_have_their_names_or_names_to_be_replaced() -> None:
    assert "load_corpus('corpus.txt')" in page_notebook(PageState("your_data")).source
    work = OwnWork("mine.txt", ("log.csv",), steps=("fit",))
    made = page_notebook(PageState("your_data", values={OWN_WORK: work}))
    assert "load_corpus('mine.txt')" in made.source
    assert (
        "load_corpus('corpus.txt')"
        in page_notebook(PageState("your_data", values={OWN_WORK: OwnWork()})).source
    )


def test_unusable_small_query_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError):
        page_notebook(PageState.of_query("proofs", "list=AAB"))


def test_command_writes_what_the_page_offers(tmp_path: Path) -> None:
    out = tmp_path / "lab.ipynb"
    assert main(["notebook", "lab", "--eta", "0.5", "--assumed-eta", "0.5", "--out", str(out)]) == 0
    expected = page_notebook(PageState("lab", Settings(eta=0.5, assumed_eta=0.5)))
    assert out.read_bytes() == expected.as_bytes()


def test_command_takes_a_shared_link(capsys: pytest.CaptureFixture[str]) -> None:
    link = "http://host/live?eta=0.7&live_queries=218&live_scheme=wrong"
    assert main(["notebook", "live", "--link", link]) == 0
    output = capsys.readouterr()
    assert "interleaved=218" in output.out
    assert mentions(output.err, "note", "interleaving", "'wrong'")


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["about"], ("no_notebook", "'about'")),
        (["lab", "--link", "http://h/lab", "--eta", "1"], ("one_of_two", "--link")),
        (["lab", "--link", "http://[/"], ("link_address", "--link")),
        (["lab", "--link", "trees.txt"], ("link_address", "--link", "'trees.txt'")),
        (["lab", "--link", "eta=1.5"], ("link_address", "--link", "'eta=1.5'")),
        (["lab", "--eta", "9"], ("eta", "'9'")),
        (["lab", "--link", "http://h/base/live?eta=0.7"], ("other_page", "live", "lab")),
        (["lab", "--corpus", "no-such-directory"], ("no_corpus_directory", "no-such-directory")),
    ],
)
def test_command_refuses_in_a_sentence(arguments: list[str], fault: tuple[str, ...]) -> None:
    refused_command(["notebook", *arguments], *fault)


def test_proof_notebook_prints_the_failing_line() -> None:
    output = io.StringIO()
    source = page_notebook(PageState.of_query("proofs", QUERIES["proofs"])).source
    with contextlib.redirect_stdout(output):
        exec(source, {})
    assert mentions(output.getvalue(), "fails")


def test_notebooks_of_lessons_name_the_settings_of_what_they_show(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for query in ("lesson=4&seed=3", "part=lecturers&seed=3"):
        assert main(["notebook", "lessons", "--link", f"http://host/lessons?{query}"]) == 0
        told = re.search(r"Settings: (.*?)\.\\n|Settings: (.*?)\.\"", capsys.readouterr().out)
        assert told is not None
        numbers = told.group(1) or told.group(2)
        if "part" in query:
            assert (
                mentions(numbers, "seed = 3", "corpus = 0", "grade 3") and numbers.count(",") == 2
            )
        else:
            assert "ε₋ = 0, " in numbers
            assert "n = 45,000" in numbers
            assert "draws = 3" in numbers


@pytest.mark.parametrize("page", ["lab", "learning_curves", "robustness", "propensities", "live"])
def test_a_notebook_shows_the_figure_of_its_page(page: str) -> None:
    cells = json.loads(page_notebook(PageState.of_query(page, "")).as_bytes())["cells"]
    last = [ast.parse("".join(c["source"])).body[-1] for c in cells if c["cell_type"] == "code"]
    shown = [ast.unparse(each) for each in last if isinstance(each, ast.Expr)]
    assert any("_figure(" in each for each in shown), shown


def test_a_figure_is_a_picture_where_a_notebook_shows_it() -> None:
    assert examination_figure(Settings(), "probability")._repr_svg_().startswith("<svg")
