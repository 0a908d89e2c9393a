"""The strip of a fitted relevance: red where the test rejects it, by the test's own numbers."""

from __future__ import annotations

import altair as alt
import pytest

from tests.meaning import mentions
from tests.unit.figures.test_figure_specs import contrast
from ultr_core.export.figure_files import to_png
from ultr_core.figures import INKS, Figure, rank_test_figure
from ultr_core.figures.by_rank import ON_RED, RANK_GROUPS, REJECTED
from ultr_core.risk.by_rank import RankTest

GOOD = RankTest((100, 90, 80, 60, 0), (100.0, 95.0, 90.0, 40.0, 0.0), 15)
# 40 of 80 and 10 of 50 are below 0.8, by 4.5 and 5.7 standard deviations; 7 of 10 by 0.9.
BAD = RankTest((100, 90, 40, 10, 7), (100.0, 100.0, 80.0, 50.0, 10.0), 30)


def cells(figure: Figure) -> dict[str, list[tuple[str, str]]]:
    """By name of the fit: part and text of each cell, in the order of the ranks."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in figure.rows.to_dict("records"):
        if row["part"] != "name":
            found.setdefault(row["fit"], []).append((row["part"], row["text"]))
    return found


def test_ranks_that_reject_the_fit_are_red_and_have_a_cross_and_no_others() -> None:
    assert BAD.rejected == (2, 3) and GOOD.rejected == ()
    found = cells(rank_test_figure({"good": GOOD, "bad": BAD}))
    assert found["good"] == [("kept", text) for text in ("1.00", "0.95", "0.89", "1.50", "–")]
    assert found["bad"] == [
        ("kept", "1.00"), ("kept", "0.90"), ("rejected", "✕ 0.50"), ("rejected", "✕ 0.20"),
        ("kept", "0.70"),
    ]  # fmt: skip
    for text, test in (("bad", BAD), ("good", GOOD)):
        alone = rank_test_figure({text: test})
        assert cells(alone)[text] == found[text]
        assert "name" not in set(alone.rows["part"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_strip_is_a_picture_with_words_and_its_red_is_readable(theme: str) -> None:
    figure = rank_test_figure({"good": GOOD, "bad": BAD}, theme=theme)  # type: ignore[arg-type]
    alt.Chart.from_dict(figure.standalone_spec(), validate=True)
    assert len(to_png(figure)) > 1_000
    for test in (GOOD, BAD):
        assert test.finding.sentence in figure.alt
    assert mentions(figure.alt, *RANK_GROUPS, "0.50 (rejected)", "0.89")
    assert contrast(ON_RED, REJECTED) >= 4.5
    assert contrast(INKS[theme].background, REJECTED) >= 3.0  # type: ignore[index]
