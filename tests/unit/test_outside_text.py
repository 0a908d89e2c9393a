"""What reaches a page's Markdown went through the escaper, or is known to be the lab's own."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.outside_text import Module, Reader, numbers_in

ROOT = Path(__file__).parents[2]
OURS = """
ANSWERS[proof.name](walk,world) Cell PowerLaw _COMPUTING[cell.kind](cell,lab.settings) about.assumes
about.source asked.options asked.question asked.spoken(done.guess) assumed_curve blas_threads
c.name c.text capitalize change.sentence check.as_dict() check.proof.formula checks
comparison.draws
comparison.sentence contest.label contest.null_sentence context.settings cut_words design.landmark
design.training_days design.validation_days door.button door.look draw(theme='light') entry.link
entry.section entry.where exercise.question exercise.solution exercise.unit field.help field.label
field.options field.shown field.stops figure.data file_format.label finding.status first.error
formulas found.curve.curve found.curve.made_by(point.rank) found.estimate.reference
found.interval_text() found.numbers found.outcome found.rows found.sentence found_by result.headline
contest.sentence study_headline agreement_sentence page.acts_while curves
PINS.checked(st.session_state[PINS.key])
asked.spoken(place) order.lab.comparison(order.plan[:done])
getattr(INKS[theme],name) headline(lines) headline(outcomes) here.name
here.watch info.question known.tries lab.comparison(order.plan)
last.rank law.probability(index) lesson.given(lab) lesson.idea lesson.meaning
lesson.prediction.read(guess,found.numbers) lesson.shows.look lesson.title lesson.traffic(settings)
line.aside line.assumes line.error line.formula line.outcome line.words
load_shipped(study.shipped_in).command one.holes one.logger.label assumption.label assumption.repair
base.draws case.wrong_pairs abs(case.largest_error) repair_headline method.assumes method.label
method.source noisy_hinge_curve(world,GAPS).alt order.lab.settings.draws order.plan
pa.array(values,from_pandas=True) picture.naive picture.weighted picture.weighted.no_interval
pin.comparison pin.number
plan.cells plan.purpose plan.steps plan_html plan_markdown plus_minus point.interval_text
point.rank point.value_text failures_foretold proof.fails_when proof.statement proof.title
package_versions r.kind r.place ratio_text read_study report.label result.design.last_rank
result.loss.definition risk_picture row.answer row.ask row.begins row.do
row.exercise row.finding row.lesson_link row.minutes row.number row.page_link row.reply row.then
row.title rule.section rule.said rule.test segmented_control selectbox self._fit self._fits
settings.draws settings_changes settings_words taken_words st.empty() step.button step.lesson
section_words step.question summarise summary.label svg_data_uri term.meaning term.name term.section
click_weights mistaken_curve watched.clicks
term.symbol test.sentence total traffic_words true.mean_rank true.ndcg.value true.risk
true.graded_risk_of_log true.risk_of_log true_curve value.closed value.enumerated verdict.words walk
walk.failing
walk.notes world.inverse world.query.new world.query.presented world.query.shown world.query.size
"""
"""Expressions without spaces, and functions, that give words of the lab's own or numbers.

Looked at one by one: none holds a name of a file, a column or a corpus, a cell, a link's value, or
a message that may quote one. A new one belongs here only after the same look.
"""


@cache
def pages() -> dict[str, str]:
    paths = (path.relative_to(ROOT) for path in (ROOT / "pages").rglob("*.py"))
    return {
        ".".join(path.with_suffix("").parts): (ROOT / path).read_text(encoding="utf-8")
        for path in paths
    }


@cache
def numbers_of_texts() -> frozenset[str]:
    return numbers_in((ROOT / "pages").rglob("content/*.toml"))


def found_in(texts: dict[str, str], ours: str = OURS) -> list[str]:
    modules = {name: Module(name, ast.parse(text)) for name, text in texts.items()}
    return list(Reader(modules, frozenset(ours.split()), numbers_of_texts()).findings())


def test_pages_show_text_from_outside_only_through_the_escaper() -> None:
    assert sorted(set(found_in(pages()))) == []


PLANTED = (
    'st.markdown(f"**{file.name}**")',
    'st.button("Forget", help="Forget " + file.name)',
    'st.toggle(label=f"Use {error}")',
    "st.error(str(error))",
    'st.expander(f"{file.name:>9}")',
    "st.table([{file.name: 1}])",
    "st.table([{plain(name): cell for name, cell in file.rows}])",
    'st.progress(0.5, f"{file.name}")',
    'st.radio("x", [1, 2], format_func=lambda number: file.names[number])',
    'place.markdown(", ".join(sorted(file.names)))',
    "st.markdown(shown(file.name))",
    'words = "a"\n    words += file.name\n    st.warning(words)',
    "for name in file.names:\n        st.subheader(name)",
    "st.markdown(_about(file))",
    'st.markdown(WORDS.text("none", reason=file.reason))',
    'st.markdown(WORDS.text("price", seen=file.seen))',
    "st.markdown(fill(file.template, {}))",
    "_show(file.name)",
)
AROUND = """
import streamlit as st

def page(file, error, place):
    _show("as it is")
    {planted}

def _about(file):
    if file:
        return "nothing"
    return f"{{file.name}}, 3 ranks"

def _show(words):
    st.markdown(f"- {{words}}")
"""


@pytest.mark.parametrize("planted", PLANTED)
def test_text_from_outside_is_found(planted: str) -> None:
    assert found_in({"planted": AROUND.format(planted=planted)})


@pytest.mark.parametrize(
    "right",
    (
        'st.markdown(f"**{plain(file.name)}** has {file.rows:,} rows")',
        'st.table([{plain(n): plain(c) for n, c in file.rows}], alt=shown(file.name))',
        'st.selectbox("File", file.all, format_func=file.word, placeholder=shown(file.name))',
        'st.markdown(f"- {SYMBOLS[file.verdict]} {told(error)}", key=file.name)',
        '_show("all is well")',
        'st.markdown(WORDS.text("none", reason=told(file.reason)))',
        'st.markdown(WORDS.text("price", exact=file.cost))',
    ),
)  # fmt: skip
def test_what_is_escaped_is_not(right: str) -> None:
    assert found_in({"planted": AROUND.format(planted=right)}) == []


def test_pictures_make_no_link_and_ask_for_nothing() -> None:
    """No mark of a figure has an address: none could come from a file."""
    for path in (ROOT / "ultr_core" / "figures").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                assert node.attr not in ("mark_image", "Href", "Url"), path.name
            if isinstance(node, ast.keyword):
                assert node.arg not in ("href", "url"), path.name
