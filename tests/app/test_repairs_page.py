"""The page Users and repairs: shipped at once, each break with its repair, computed on request."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.app import link, server_lab
from pages.views.repairs import view as page_view
from pages.views.repairs.words import (
    enumerated,
    fraction_text,
    how_tested,
    linked_rows,
    logger_rows,
    of_break,
    tower_rows,
)
from tests.app.pages import open_savers
from tests.meaning import mentions
from ultr_core.figures import rank_test_figure
from ultr_core.jobs.links import NOTEBOOK_PAGES
from ultr_core.jobs.repairs import AT, BREAK, CLICKS, usual_clicks
from ultr_core.lab import train_method
from ultr_core.lab.training import FITS
from ultr_core.proofs import BREAKS
from ultr_core.proofs.small_cases import SMALL_CASES
from ultr_core.studies import (
    LOSSES,
    REPAIRS,
    STUDIES,
    guarded_method,
    judge,
    pays_from,
    repair_headline,
    shipped_result,
)
from ultr_core.users import LOGGERS

ROOT = Path(__file__).resolve().parents[2]
RANKS = LOSSES["sum-of-ranks"]


def open_page(monkeypatch: pytest.MonkeyPatch, corpus: Path | None = None, **link: str) -> AppTest:
    monkeypatch.setattr(sys, "argv", ["app.py", *(["--corpus", str(corpus)] if corpus else [])])
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.switch_page(str(ROOT / "pages" / "repairs.py"))
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def alts(app: AppTest) -> list[str]:
    return [chart.proto.alt for chart in app.get("vega_lite_chart")]


def test_the_page_has_every_study_of_a_repair_and_a_line_for_each() -> None:
    assert set(BREAK.options) == set(REPAIRS)
    assert set(CLICKS.options) - {CLICKS.default} == set(AT)
    for name in REPAIRS:
        grid = STUDIES[name].x_values
        assert set(AT.values()) <= set(grid["paper"])
        assert AT[usual_clicks(name)] in grid["quick"]
        assert enumerated(name)


def test_only_values_that_rule_out_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_at(page: str) -> dict[str, object]:
        raise LookupError(page)

    monkeypatch.setattr(link, "state", looked_at)
    for page in NOTEBOOK_PAGES:
        if page in ("repairs", "learning_curves", "robustness"):
            with pytest.raises(LookupError):
                link.fit_page(page, None)
        else:
            link.fit_page(page, None)


@pytest.mark.parametrize("name", REPAIRS)
def test_a_break_makes_its_point_untouched_and_trains_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(server_lab, "_run", lambda cell, make: made.append(cell) or make())
    app = open_page(monkeypatch, breaks=name, repair_clicks="many")
    result = shipped_result(name, RANKS)
    headline = repair_headline(result, result.point(45_000))
    assert f"**{headline}**" in words(app)
    by_learner = STUDIES[name].by_learner
    guarded = guarded_method(STUDIES[name]) is not None
    users, risks, *further = alts(app)
    strip, curves = further[:guarded], further[guarded:]
    assert headline in risks
    for key in ("production", "skyline"):
        level = result.level(key)
        assert level is not None
        assert mentions(risks, f"{level:.2f}")
    for key in STUDIES[name].repaired_by:
        found = result.estimate(key, result.point(45_000))
        assert found is not None
        assert f"{found.value:.2f}"[:-1] in risks
    assert mentions(users, "1", "8" if name == "towers" else "20")
    assert len(curves) == (not by_learner)
    labels = [expander.label for expander in app.expander]
    for claim in judge(result):
        assert any(claim.rule.statement in label for label in labels)
    assert len(app.table[0].value) == (4 if name == "towers" else len(SMALL_CASES[name]))
    assert len(app.table) == (2 if name in ("cut", "towers") else 1)
    assert "python -m ultr_core reproduce" in words(app)
    assert len(strip) == guarded
    # Nothing is trained: of a fit of relevance only the test by rank is made.
    kinds = {cell.kind for cell in made}  # type: ignore[attr-defined]
    assert kinds <= ({"world", "training_log", "logs", "rank_test"} if strip else set())
    saved = (2 if by_learner else 3) + len(strip)
    assert len(open_savers(app).get("download_button")) == 5 * saved


def test_ranks_are_red_where_the_guard_rejects_a_fit_that_sees_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page(monkeypatch, repair_clicks="few")
    settings = shipped_result("few-clicks", RANKS).point(9_000).settings
    lab = server_lab.LAB.at(settings)
    trained = train_method(lab.world(), settings, 0, "doubly-robust", lab.logs(0))
    tests = {name: lab.rank_test(0, "doubly-robust", seen) for name, seen in FITS.items()}
    sees_all, sees_half = tests.values()
    assert sees_all == trained.by_rank and not sees_all.rejected
    assert trained.estimator == "doubly-robust" and sees_half.rejected
    strip = alts(app)[2]
    assert strip == rank_test_figure(tests).alt
    assert strip.count("(rejected)") == len(sees_half.rejected)
    assert how_tested() in words(app) and mentions(how_tested(), "80%", 4)


def test_the_line_says_which_is_unbiased_and_by_how_much_others_are_off() -> None:
    for name in ("trust-steep", "trust-mild", "leaving", "cut", "wrong-curve"):
        assert mentions(enumerated(name), "unbiased", "0")
    assert mentions(enumerated("trust-steep"), "3.14", "24 of 224")
    assert mentions(enumerated("leaving"), "1.60", "8 of 224", "0.36", "13.60", "5.04")
    assert mentions(enumerated("few-clicks"), "0.20", "7.55", "6.00")
    assert fraction_text(SMALL_CASES["trust-mild"]["propensity"].largest_error) == "3.23"
    assert fraction_text(Fraction(6841, 1800)) == "3.80 (6841/1800)"
    assert fraction_text(Fraction(4)) == "4.00"


def test_the_tables_of_towers_have_what_the_proofs_find() -> None:
    rows = linked_rows()
    assert [(row["Parts"], row["Left open"]) for row in rows] == [
        ("4", "4"), ("3", "3"), ("1", "1"), ("4", "0"),
    ]  # fmt: skip
    fits = tower_rows()
    assert [row["Form"] for row in fits] == ["Additive", "Additive", "Product", "Product"]
    truth = {f"Logger: {logger}": "0.125" for logger in ("random", "fair", "perfect")}
    for row in fits[::2]:
        assert row.items() >= truth.items()
    assert fits[3]["Logger: perfect"] == "0.021" < fits[3]["Logger: fair"] < "0.125"
    assert mentions(enumerated("towers"), 4, 1, "0.021", "0.125")


def test_the_table_of_loggers_has_holes_weights_and_prices() -> None:
    rows = {row["Logger"]: row for row in logger_rows()}
    assert list(rows) == [logger.label for logger in LOGGERS.values()]
    fixed, last, luce, mixed = (
        rows[LOGGERS[key].label]
        for key in ("production", "replace-last", "plackett-luce", "mixture")
    )
    assert (fixed["Never shown"], fixed["Heaviest click"]) == ("10 of 20", "10")
    assert fixed["ρ, rank 20"] == "0.000" and fixed["Rank 1 becomes"] == "1.0"
    # One of eleven documents at rank 10, examined in a tenth of the draws.
    assert (last["ρ, rank 10"], last["Heaviest click"]) == ("0.009", "110")
    assert (last["Rank 1 becomes"], last["Rank 10 becomes"]) == ("1.0", "15.0")
    assert luce["Never shown"] == mixed["Never shown"] == "0 of 20"
    # 80% rank 1 and 20% rank 10.5; rho of the last is 20% of the mean of p over twenty places.
    assert (mixed["Rank 1 becomes"], mixed["Rank 20 becomes"]) == ("2.9", "18.1")
    assert mixed["ρ, rank 20"] == f"{0.2 * sum(1 / k for k in range(1, 11)) / 20:.3f}"
    assert 1 < float(luce["Rank 1 becomes"]) < 3


def test_choices_stay_in_the_link_and_clicks_that_were_not_run_are_not_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page(monkeypatch)
    app.segmented_control(key="breaks").set_value("Lists of ten").run()
    app.selectbox(key="repair_clicks").set_value("most").run()
    assert app.query_params["breaks"] == "cut"
    assert app.query_params["repair_clicks"] == "most"
    assert repair_headline(
        shipped_result("cut", RANKS), shipped_result("cut", RANKS).point(170_000)
    ) in words(app)
    app.selectbox(key="result").set_value("quick").run()
    assert app.selectbox(key="repair_clicks").value == "many"
    assert app.query_params["repair_clicks"] == "many"
    assert app.button(key="dismiss")
    assert mentions(words(app), "170,000", "45,000")
    app.selectbox(key="result").set_value("shipped").run()
    assert app.selectbox(key="repair_clicks").value == "most"
    assert not [button for button in app.button if button.key == "dismiss"]
    # Who has chosen again keeps that choice.
    app.selectbox(key="result").set_value("quick").run()
    app.selectbox(key="repair_clicks").set_value("few").run()
    app.selectbox(key="result").set_value("shipped").run()
    assert app.selectbox(key="repair_clicks").value == "few"
    assert not app.exception


def test_learners_open_where_they_can_be_told_apart_and_other_breaks_do_not_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing of it is in the address, for a link without clicks opens there as well."""

    def shown(app: AppTest) -> tuple[str, list[str] | None]:
        assert not app.exception
        return app.selectbox(key="repair_clicks").value, app.query_params.get("repair_clicks")

    app = open_page(monkeypatch)
    breaks = ("learners", "cut", "learners")
    steps = [shown(app)]
    for name in breaks:
        app.segmented_control(key="breaks").set_value(BREAK.options[name]).run()
        steps.append(shown(app))
    few, many = ("few", None), ("many", None)
    assert steps == [few, many, few, many]
    found = shipped_result("learners", RANKS)
    assert repair_headline(found, found.point(45_000)) in words(app)
    app.button(key="undo").click().run()
    assert (app.segmented_control(key="breaks").value, shown(app)) == ("cut", few)
    app.button(key="redo").click().run()
    assert shown(app) == many
    # The browser's Back has an address without either.
    del app.query_params["breaks"]
    app.run()
    assert (app.segmented_control(key="breaks").value, shown(app)) == ("few-clicks", few)
    app = open_page(monkeypatch, breaks="learners")
    assert shown(app) == many
    app.selectbox(key="repair_clicks").set_value("few").run()
    assert app.query_params["repair_clicks"] in ("few", ["few"])
    app = open_page(monkeypatch, breaks="learners", repair_clicks="few")
    assert app.selectbox(key="repair_clicks").value == "few"
    assert repair_headline(found, found.point(9_000)) in words(app)


def test_a_choice_and_what_follows_from_it_are_undone_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page(monkeypatch, breaks="leaving", repair_clicks="most")
    app.selectbox(key="result").set_value("quick").run()
    app.selectbox(key="result").set_value("shipped").run()

    def shown() -> tuple[str, str]:
        return app.selectbox(key="result").value, app.selectbox(key="repair_clicks").value

    steps = [shown()]
    for button in ("undo", "undo", "redo", "redo"):
        app.button(key=button).click().run()
        steps.append(shown())
    first, second = ("shipped", "most"), ("quick", "many")
    assert steps == [first, second, first, second, first]
    assert app.button(key="redo").disabled
    for _ in range(2):
        app.button(key="undo").click().run()
    assert app.button(key="undo").disabled


def test_a_link_to_clicks_that_are_not_offered_shows_the_nearest_and_says_so(
    monkeypatch: pytest.MonkeyPatch, small_corpus: Path
) -> None:
    asked = {"breaks": "leaving", "repair_clicks": "most"}
    for corpus, more in ((None, {"result": "quick"}), (small_corpus, {})):
        app = open_page(monkeypatch, corpus, **asked, **more)
        assert app.selectbox(key="repair_clicks").value == "many"
        assert app.button(key="dismiss")
        assert mentions(words(app), "170,000", "45,000")
        assert app.button(key="undo").disabled
    app = open_page(monkeypatch, breaks="leaving", repair_clicks="170000")
    assert app.selectbox(key="repair_clicks").value == "most"
    assert not [button for button in app.button if button.key == "dismiss"]


def test_the_limits_of_short_lists_have_the_clicks_of_the_shipped_result() -> None:
    shipped = shipped_result("cut", RANKS)
    wanted = [pays_from(shipped, key) for key in ("replace-last", "mixture", "doubly-robust")]
    assert mentions(of_break("cut")[2], *(f"{clicks:,.0f}" for clicks in wanted if clicks))


def test_a_run_trains_on_the_servers_corpus_with_the_visitors_seed(
    monkeypatch: pytest.MonkeyPatch, small_corpus: Path
) -> None:
    app = open_page(monkeypatch, small_corpus, breaks="wrong-curve", draws="2", seed="4")
    assert not any("reproduce" in text.value for text in app.markdown)
    (button,) = (each for each in app.button if each.key == "run-wrong-curve")
    assert mentions(button.label, 26)
    button.click().run(timeout=120)
    assert not app.exception
    assert len(alts(app)) == 3
    bold = [text.split("**")[1] for text in words(app).splitlines() if text.startswith("**")]
    assert sum(alts(app)[1].startswith(text) for text in bold) == 1
    assert not [each for each in app.button if each.key == "run-wrong-curve"]


def test_the_switch_that_breaks_the_same_is_one_of_the_proofs() -> None:
    assert set(page_view.SWITCH.values()) <= set(BREAKS)
    assert set(page_view.SWITCH) == set(REPAIRS) - {"few-clicks", "towers", "learners"}
