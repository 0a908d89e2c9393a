"""Every page's notebook is run and gives the page's headline numbers, to the last digit shown."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.app import take_away
from pages.app.markdown import mark
from pages.views.proofs.words import number
from pages.views.repairs.words import fraction_text
from tests.app.pages import WITH_NOTEBOOK, opened
from tests.meaning import mentions
from ultr_core.jobs.job import PageState
from ultr_core.jobs.notebooks import page_notebook
from ultr_core.jobs.your_data import OWN_WORK
from ultr_core.own_data.samples import sample_files
from ultr_core.proofs import DERIVATIONS

ROOT = Path(__file__).resolve().parents[2]
FAST = {"draws": "2", "clicks": "500"}
CURVES = {"p": "1,0.62,0.45", "assumed_p": "1,0.5", **FAST}
CHANGED = {
    "lab": {**FAST, "eta": "0.5"},
    "learning_curves": {"loss": "ndcg"},
    "robustness": {"study": "map-noise", "loss": "dcg"},
    "proofs": {"proof": "affine-law", "break_trust": "true", "users": "50", "seed": "3"},
    "propensities": {**FAST, "swap_landmark": "2"},
    "live": {"clicks": "2000", "live_queries": "218"},
    "lessons": {"lesson": "3", "seed": "5"},
    "claims": {"claim_section": "5.3", "claim_verdict": "holds", "eta": "0.5"},
    "repairs": {"breaks": "leaving", "repair_clicks": "many"},
}
TAKEN = tuple(page for page in WITH_NOTEBOOK if page != "your_data")
"""Pages that are compared below; that of a reader's own files is, after they were given."""

STATES: dict[str, dict[str, dict[str, str]]] = {
    "default": {page: {} for page in TAKEN},
    "changed": {page: CHANGED.get(page, {**FAST, "eta": "0.5"}) for page in TAKEN},
    "curves": {page: CURVES for page in TAKEN if page not in ("lessons", "claims")},
}
SHIPPED = ("learning_curves", "robustness", "repairs")
"""Pages that show what was computed before, on the built-in corpus."""


def words(app: AppTest) -> str:
    """What the page says; where it keeps a number and its sign on one line does not matter."""
    said = "\n".join(element.value for element in app.markdown)
    return said.replace("\N{NO-BREAK SPACE}", " ")


def open_page(
    monkeypatch: pytest.MonkeyPatch, corpus: Path | None, page: str, **link: str
) -> AppTest:
    """A session whose first page is ``page``, with the values of a link."""
    monkeypatch.setattr(sys, "argv", ["app.py", *(["--corpus", str(corpus)] if corpus else [])])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.switch_page(str(ROOT / "pages" / f"{page}.py"))
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def state_of(app: AppTest, page: str, corpus: Path | None = None) -> PageState:
    """The state that the page's own link describes."""
    app.button(key="share").click().run()
    assert not app.exception
    query = app.code[0].value.partition("?")[2]
    state = PageState.of_query(page, query)
    return state if corpus is None else state.at(corpus)


def printed(state: PageState) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(page_notebook(state).source, "notebook", "exec"), {})
    return output.getvalue()


def lab(app: AppTest, out: str) -> None:
    shown = words(app)
    lines = out.splitlines()
    assert any(f"**{line}**" in shown for line in lines)
    for row in opened(app, "numbers").table[0].value.to_dict("records"):
        assert f"{row['Ranker']:28} {row['Risk']}" in out
    for method in ("naive   ", "weighted"):
        (kendall,) = re.findall(rf"{method} τ = (-?\d\.\d\d)", out)
        assert f"τ = **{kendall}**" in shown
    (place,) = (number for number, line in enumerate(lines) if "proof checks hold" in line)
    assert lines[place] in shown
    good, total = map(int, re.findall(r"\d+", lines[place]))
    assert len(lines) - place - 1 == total - good > 0  # those that do not hold, each with why
    predicted = {f"does not hold{more}" for more in ("", ", as predicted")}
    assert {line.partition(": ")[0] for line in lines[place + 1 :]} <= predicted


def study(app: AppTest, out: str) -> None:
    assert out.splitlines()[0] in words(app)
    labels = "\n".join(expander.label for expander in app.expander)
    claims = re.findall(r"^(holds|does not hold|open|not checkable): (.*)$", out, re.MULTILINE)
    assert claims or "map" in str(app.query_params)
    for verdict, statement in claims:
        assert f"**{verdict}**: {statement}" in labels


def proofs(app: AppTest, out: str) -> None:
    name = DERIVATIONS[app.selectbox(key="proof").value]
    values = re.findall(r"^   value (\S+), (holds|fails)", out, flags=re.MULTILINE)
    assert name.statement in out
    shown = [text for text in words(app).splitlines() if "**Line " in text and "formula" in text]
    assert len(shown) == len(values) > 0
    for line, (value, verdict) in zip(shown, values, strict=True):
        assert (mark("does not hold") in line) == (verdict == "fails")
        assert number(Fraction(value)).replace("\N{NO-BREAK SPACE}", " ") in line


def propensities(app: AppTest, out: str) -> None:
    shown = words(app)
    rank, value, truth = re.findall(r"rank (\d+) at (\S+); the truth is ([\d.]+)\.\*", shown)[0]
    low, high, covered = re.findall(
        rf"rank {rank}, .* interval (?:of )?(\S+) to (\S+)\. In all, (\d+ of \d+) intervals \w+",
        shown,
    )[0]
    assert f"rank {int(rank):2}: {value} ({low} to {high}), truth {truth}" in out
    assert mentions(out, f"{covered} intervals")


def live(app: AppTest, out: str) -> None:
    contests = re.findall(r"^\*\*(The weighted ranker [^*]*)\*\*", words(app), re.MULTILINE)
    assert out.splitlines()[0] == " ".join(contests)
    for row in app.table[0].value.to_dict("records"):
        assert any(f" {value}\n" in out for value in row.values())


def lessons(app: AppTest, out: str) -> None:
    title, question, sentence = out.splitlines()[:3]
    assert f": {title}" in words(app)
    assert question in words(app)
    if app.radio:
        app.radio[0].set_value(1).run()
    else:
        app.select_slider(key="lesson-guess-1").set_value(10).run()
    app.button(key="lesson-commit").click().run()
    assert sentence in words(app)


def without_formulas(shown: str) -> str:
    """Words of a page as a notebook prints them."""
    plain = shown.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")
    for formula, symbol in (("{\\eta}", "η"), ("{eta}", "η"), ("{eta'}", "η′")):
        plain = plain.replace(f"$(1/r)^{formula}$", f"(1/r)^{symbol}")
    return plain.replace("$", "")


def claims(app: AppTest, out: str) -> None:
    assert f"**{out.splitlines()[0]}**" in words(app)
    plain = out.replace("_", "").replace("*", "").replace("−", "-")
    rows = [row for table in app.table for row in table.value.to_dict("records") if "Found" in row]
    assert rows
    for row in rows:
        found = re.sub(r"\\(.)", r"\1", row["Found"]).replace("_", "").replace("*", "")
        found = without_formulas(found).replace("−", "-")
        assert f"   {found}\n" in plain


def repairs(app: AppTest, out: str) -> None:
    said = words(app)
    (headline,) = (line for line in out.splitlines() if line and f"**{line}**" in said)
    picture = next(
        chart.proto.alt
        for chart in app.get("vega_lite_chart")
        if chart.proto.alt.startswith(headline)
    )
    for risk in re.findall(r"^\S+ +(\d+\.\d{4})  \(", out, re.MULTILINE):
        assert any(mentions(picture, f"{float(risk):.{digits}f}") for digits in (2, 3))
    rows = app.table[0].value.to_dict("records")
    exact = re.findall(r"^\S+ +(-?[\d/]+)  (\d+) of (\d+) pairs$", out, re.MULTILINE)
    assert len(exact) == len(rows)
    for row, (error, wrong, pairs) in zip(rows, exact, strict=True):
        assert row["Pairs in the wrong order"] == f"{wrong} of {pairs}"
        size = abs(Fraction(error))
        assert row["Largest error"] == fraction_text(size)


def any_page(app: AppTest, out: str) -> None:
    """What holds of any page: its metrics are printed, and without them a line stands on it."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", out)]
    for metric in app.metric:
        digits = len(metric.value.partition(".")[2])
        assert metric.value in {f"{number:,.{digits}f}" for number in numbers}
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    assert app.metric or any(line in words(app) for line in lines)


COMPARE: dict[str, Callable[[AppTest, str], None]] = {
    "lab": lab, "learning_curves": study, "robustness": study, "proofs": proofs,
    "propensities": propensities, "live": live, "lessons": lessons, "claims": claims,
    "repairs": repairs,
}  # fmt: skip


@pytest.mark.parametrize(
    ("page", "kind"), [(page, kind) for kind, pages in STATES.items() for page in pages]
)
def test_notebook_gives_the_numbers_of_the_page(
    page: str, kind: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = None if page in SHIPPED else small_corpus
    app = open_page(monkeypatch, corpus, page, **STATES[kind][page])
    COMPARE.get(page, any_page)(app, printed(state_of(app, page, corpus)))


def test_study_notebook_runs_the_cells_that_the_page_runs(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = {"study": "noise", "draws": "1", "seed": "6", "result": "quick"}
    app = open_page(monkeypatch, small_corpus, "robustness", **link)
    app.button(key="run-noise").click().run(timeout=120)
    assert not app.exception
    assert app.get("vega_lite_chart")
    study(app, printed(state_of(app, "robustness", small_corpus)))


@pytest.mark.parametrize("query", ["part=lecturers", "part=glossary", "part=glossary&seed=3"])
def test_other_parts_of_the_lessons(
    query: str, small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = dict(pair.split("=") for pair in query.split("&"))
    app = open_page(monkeypatch, small_corpus, "lessons", **link)
    out = printed(state_of(app, "lessons", small_corpus))
    if link["part"] == "glossary":
        for meaning in app.table[0].value["Meaning"]:
            assert without_formulas(meaning) in out
    else:
        sentences = [line.strip() for line in out.splitlines() if line.startswith("   ")]
        assert len(sentences) >= 3
        for sentence in sentences:
            assert sentence in words(app)


def test_claims_notebook_reads_a_place_both_ways(
    small_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(monkeypatch, small_corpus, "claims", part="readings", reading_place="E5")
    out = printed(state_of(app, "claims"))
    sentence = next(text for text in words(app).splitlines() if text.startswith("**"))
    assert out.splitlines()
    assert any(f"**{line}**" in words(app).replace("\\", "") for line in out.splitlines()), sentence


def test_own_files_give_the_numbers_of_the_page(
    small_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(monkeypatch, small_corpus, "your_data", seed="2")
    app.button(key="data-samples").click().run()
    assert not app.exception
    work = app.session_state[take_away.OWN_FILES]
    for sample in sample_files().values():
        (tmp_path / sample.name).write_bytes(sample.data)
    monkeypatch.chdir(tmp_path)
    out = printed(PageState("your_data", values={OWN_WORK: work}))
    verdict = next(
        t
        for t in words(app).splitlines()
        if t.startswith("**These clicks show that the ranker trained here")
    )
    assert verdict.strip("*") in out
