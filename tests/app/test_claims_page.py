"""The claims page without a browser: what it shows is the ledger."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pandas import DataFrame
from streamlit.testing.v1 import AppTest

from tests.meaning import mentions
from ultr_core.claims import CLAIMS, COMPARISONS, READINGS, SECTIONS

OpenApp = Callable[..., AppTest]


@pytest.fixture
def open_claims(open_app: OpenApp) -> Callable[..., AppTest]:
    def open_(**link: str) -> AppTest:
        return open_app(draws="1", clicks="100", **link).switch_page("pages/claims.py").run()

    return open_


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def sections(app: AppTest) -> list[DataFrame]:
    """The tables of claims; the first table of the page is the summary."""
    return [table.value for table in app.table if "Claim" in table.value.columns]


def claims_shown(app: AppTest) -> int:
    return sum(len(table) for table in sections(app))


def test_headline_filters_and_links(open_claims: Callable[..., AppTest]) -> None:
    app = open_claims()
    assert not app.exception
    assert app.title[0].value.endswith("?")
    assert claims_shown(app) == len(CLAIMS)
    assert len(sections(app)) == len(SECTIONS)
    first = sections(app)[0]
    assert list(first.columns) == ["Claim", "Verdict", "Found", "See"]
    assert first["See"].iloc[0] == "[Lab](lab)"
    app.selectbox(key="claim_section").set_value("5.3").run()
    assert claims_shown(app) == sum(entry.section == "5.3" for entry in CLAIMS.values())
    app.selectbox(key="claim_verdict").set_value("not-checkable").run()
    shown = sections(app)[0]
    assert set(shown["Verdict"].str.partition("]\N{NO-BREAK SPACE}")[2]) == {"not checkable"}
    app.selectbox(key="claim_section").set_value("all").run()
    app.selectbox(key="claim_verdict").set_value("open").run()
    assert claims_shown(app) >= 2
    app.toggle(key="claim_checks").set_value(True).run()
    assert len(sections(app)[0].columns) == len(first.columns) + 4
    app.selectbox(key="claim_section").set_value("Abstract").run()
    assert claims_shown(app) == 0
    assert mentions(words(app), "open", SECTIONS["Abstract"], "holds (1)")
    files = [button.proto.label for button in app.get("download_button")]
    assert any("CSV" in name for name in files) and any("JSON" in name for name in files)
    assert not app.exception


def test_the_page_opens_on_its_summary_and_what_fails(
    open_claims: Callable[..., AppTest],
) -> None:
    app = open_claims()
    summary = app.table[0].value
    assert len(summary) == 4
    counts = [[int(number) for number in row[1:]] for row in summary.itertuples(index=False)]
    assert sum(map(sum, counts)) == len(CLAIMS)
    failing, left = (sum(row[place] for row in counts) for place in (1, 2))
    items = [line for line in words(app).splitlines() if line.startswith("- ")]
    assert len(items) == failing + left > 0


def test_code_in_a_remark_has_no_escapes(open_claims: Callable[..., AppTest]) -> None:
    app = open_claims(claim_section="7.3", claim_checks="true")
    for remark in sections(app)[0]["Remark"]:
        code = "".join(remark.split("`")[1::2])
        assert "python -m ultr_core reproduce" in code


def test_conventions_and_both_readings(open_claims: Callable[..., AppTest]) -> None:
    app = open_claims(part="readings", reading_place="E5")
    assert not app.exception
    for needed in ("summed ranks", "½ w·w", "This lab's reading", "The other reading"):
        assert needed in words(app)
    assert len(app.table[-1].value) == len(READINGS)
    assert len(app.table[0].value.columns) == 3
    for key in COMPARISONS:
        app.selectbox(key="reading_place").set_value(key).run()
        assert not app.exception, key
    app.session_state["reading"] = "taken"
    app.run()
    assert len(app.table[0].value.columns) == 2


@pytest.mark.parametrize("text", ["", "nonsense", "é" * 300, "-1"])
def test_a_hostile_link_never_breaks_the_page(
    open_claims: Callable[..., AppTest], text: str
) -> None:
    keys = ("part", "claim_section", "claim_verdict", "claim_checks", "reading_place", "reading")
    app = open_claims(**dict.fromkeys(keys, text))
    assert not app.exception
    assert app.title
