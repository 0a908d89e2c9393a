"""Words of the page on repairs, with the fractions of the enumeration in them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ultr_core.content import read
from ultr_core.learners import JOINS
from ultr_core.proofs.repairs import CLIP, FITTED, PAIRS, RANKINGS, Enumerated
from ultr_core.proofs.small_cases import SMALL_CASES
from ultr_core.proofs.towers import (
    CURVED,
    LOG_EXAMINATION,
    PLACES,
    SIZE,
    SWAPS,
    LinkedRanks,
    TowerCase,
)
from ultr_core.proofs.towers import LOGGERS as LOGGERS_OF_TOWERS
from ultr_core.risk import interval_over_draws
from ultr_core.risk.by_rank import DEVIATIONS, LEAST_SHARE
from ultr_core.studies import LOSSES, STUDIES, STUDY_METHODS, pays_from, shipped_result
from ultr_core.users import LOGGERS
from ultr_core.users.loggers import EXAMPLE, shown_by

WORDS = read(__file__, "repairs")

LONGEST = 9_999
"""The largest denominator that is printed."""

LINE = {
    "trust-steep": ("propensity", ("affine",)),
    "trust-mild": ("propensity", ("affine",)),
    "leaving": ("propensity", ("hindsight", "hindsight-doubly-robust")),
    "cut": ("propensity", ("replace-last", "doubly-robust")),
    "wrong-curve": ("too-steep", ("propensity",)),
    "learners": ("naive", ("propensity",)),
}
"""By break: the method that the line below the pictures begins with, and those that follow."""

TOWERS = "towers"
"""The break that fits instead of weighting: what clicks determine takes the place of bias."""

NEEDING = {"last": "replace-last", "mixture": "mixture", "robust": "doubly-robust"}
"""Repairs of short lists by their words in the limits."""


TRUSTING = {
    name: {"ratio": "swap-ratio", "lines": "affine-swaps"} for name in ("trust-mild", "trust-steep")
}
"""By break: what believes in swaps, by its words in the limits."""


def of_break(name: str) -> tuple[str, str, str]:
    """What a break does, what repairs it, and what the repair cannot do."""
    values = _needed_clicks() if name == "cut" else _closed(name) if name in TRUSTING else {}
    breaks, repairs = (WORDS.text(f"{name}.{part}") for part in ("breaks", "repairs"))
    return breaks, repairs, WORDS.text(f"{name}.limits", **values)


def _needed_clicks() -> dict[str, str]:
    """How many clicks repairs of short lists need in the precomputed result."""
    result = shipped_result("cut", LOSSES["sum-of-ranks"])
    most = result.plan.points[-1].x
    found = {}
    for word, key in NEEDING.items():
        start = pays_from(result, key)
        found[word] = f"more than {most:,.0f} clicks" if start is None else f"{start:,.0f} clicks"
    return found


def _closed(name: str) -> dict[str, str]:
    """How much of the gap from dividing to correcting swaps close in the precomputed result."""
    result = shipped_result(name, LOSSES["sum-of-ranks"])
    point = result.point(STUDIES[name].read_at)
    divided = ("propensity", point)
    gap = interval_over_draws(list(result.excess(divided, ("affine", point)).values())).value
    found = {"clicks": f"{point.x:,.0f}", "logs": f"{result.plan.base.draws:,}"}
    for word, key in TRUSTING[name].items():
        gained = interval_over_draws(list(result.excess(divided, (key, point)).values()))
        reach = (gained.high - gained.low) / 2
        found[word] = f"{gained.value / gap:.0%} ± {reach / gap:.0%}"
    return found


def decimal_text(value: Fraction) -> str:
    """A fraction with two decimals; 0 only if it is exactly 0."""
    return f"{float(value):.2f}" if value else "0"


def fraction_text(value: Fraction) -> str:
    """The decimal, and behind it the fraction if that says more and is short enough to read."""
    exact = f" ({value})" if 1 < value.denominator <= LONGEST else ""
    return f"{decimal_text(value)}{exact}"


def enumerated(name: str) -> str:
    """What the enumeration finds for a break, and for its repair, in a line."""
    if name == TOWERS:
        alone, chained = LinkedRanks(), LinkedRanks(SWAPS[-1])
        return WORDS.text(
            "linked", ranks=PLACES, alone=int(alone.parts), chained=int(chained.parts),
            last=SIZE, truly=np.exp(LOG_EXAMINATION[-1]),
            perfect=_curved("product").fit("perfect").examination[-1],
        )  # fmt: skip
    cases = SMALL_CASES[name]
    if name == "few-clicks":  # what breaks is not bias but spread
        clipped, robust = cases["clipped"], cases["doubly-robust"]
        return WORDS.text(
            "spread",
            rankings=len(RANKINGS),
            weighted=_spread(cases["propensity"]),
            clipped=_spread(clipped),
            robust=_spread(robust),
            error=_error(clipped),
            left=_error(robust),
        )
    first, others = LINE[name]
    repaired = [_found(key, cases[key]) for key in others]
    if name == "leaving":  # being unbiased is not enough
        spreads = [_spread(cases[key]) for key in others]
        repaired.append(WORDS.text("spreads", plain=spreads[0], robust=spreads[1]))
    return WORDS.text(
        "line",
        rankings=len(RANKINGS),
        broken=_found(first, cases[first]),
        repaired=" ".join(repaired),
    )


def _error(case: Enumerated) -> str:
    return decimal_text(abs(case.largest_error))


def _spread(case: Enumerated) -> str:
    return f"{float(case.variance) ** 0.5:.2f}"


def how_enumerated() -> str:
    """What the table of the enumeration holds."""
    return WORDS.text("table", high=max(FITTED), low=min(FITTED), clip=CLIP)


def how_tested() -> str:
    """What the cells of the test by rank hold, and what follows where it rejects the fit."""
    return WORDS.text("tested", share=LEAST_SHARE, deviations=DEVIATIONS)


def _found(method: str, case: Enumerated) -> str:
    label, error = STUDY_METHODS[method].label, _error(case)
    if case.largest_error == 0:
        return WORDS.text("exact", label=label)
    if case.wrong_pairs == 0:
        return WORDS.text("order", label=label, error=error)
    return WORDS.text("wrong", label=label, error=error, pairs=case.wrong_pairs, all=len(PAIRS))


def exact_rows(name: str) -> list[dict[str, str]]:
    """The enumeration of every method of a break, for a table."""
    return [
        {
            "Ranker": STUDY_METHODS[method].label,
            "Repair": "yes" if method in STUDIES[name].repaired_by else "",
            "Largest error": fraction_text(abs(case.largest_error)),
            "Pairs in the wrong order": f"{case.wrong_pairs} of {len(PAIRS)}",
            "Spread": _spread(case),
        }
        for method, case in SMALL_CASES[name].items()
    ]


def linked_rows() -> list[dict[str, str]]:
    """What clicks determine of a position tower by what is shown, for a table."""
    labels = WORDS.texts("links")
    cases = [LinkedRanks(swaps) for swaps in SWAPS]
    cases.append(LinkedRanks(shared=True))
    return [
        {"Shown": labels[n], "Parts": f"{case.parts:d}", "Left open": f"{case.undetermined:d}"}
        for n, case in enumerate(cases)
    ]


def tower_rows() -> list[dict[str, str]]:
    """What the position tower takes for examination of the last rank, for a table."""
    cases = [(form, case) for form in JOINS for case in (TowerCase(form), _curved(form))]
    return [
        {
            "Form": JOINS[form].label,
            "Relevance": WORDS.text("curved" if case.curved else "linear"),
            **{
                f"Logger: {logger}": f"{case.fit(logger).examination[-1]:.3f}"
                for logger in LOGGERS_OF_TOWERS
            },
        }
        for form, case in cases
    ]


def how_linked() -> str:
    """What the tables of the towers hold."""
    return WORDS.text("towers_table", last=SIZE, truly=np.exp(LOG_EXAMINATION[-1]))


def _curved(form: str) -> TowerCase:
    return TowerCase(form, curved=CURVED)


def logger_rows() -> list[dict[str, str]]:
    """What each logger shows of twenty candidates, and who pays for it, for a table."""
    size, last = EXAMPLE.scores.size, EXAMPLE.shown
    found = [shown_by(each, EXAMPLE, 1.0 / np.arange(1, size + 1)) for each in LOGGERS.values()]
    return [
        {
            "Logger": one.logger.label,
            "Never shown": f"{one.holes} of {size}",
            **{f"ρ, rank {at}": f"{one.exposure[at - 1]:.3f}" for at in (1, last, size)},
            "Heaviest click": f"{one.heaviest:,.0f}",
            **{f"Rank {at} becomes": f"{at + one.moved[at - 1]:.1f}" for at in (1, last, size)},
        }
        for one in found
    ]


def listed(rows: Iterable[tuple[str, str]]) -> str:
    """Titles with a sentence each, as a Markdown list."""
    return "\n".join(f"- **{title}**: {words}" for title, words in rows)
