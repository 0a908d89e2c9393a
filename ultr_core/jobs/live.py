"""``live``, its page and its notebook: the paper's live experiment on a simulated engine."""

from __future__ import annotations

from dataclasses import replace

from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Field
from ultr_core.jobs.files import CORPUS, MISSING_ZERO
from ultr_core.jobs.job import Given, Job, Page, PageState, setting_fields
from ultr_core.jobs.output import print_notes, progress_line
from ultr_core.jobs.sign_test import COUNTS
from ultr_core.lab.interleaved_lists import SCHEME
from ultr_core.lab.live import (
    INTERLEAVED,
    LIVE_FIELDS,
    LIVE_SMOOTHING,
    PAPER_CLICKS,
    SWAP_DAYS,
    LiveDesign,
    LiveResult,
)
from ultr_core.lab.methods import METHODS
from ultr_core.settings import PARAMETERS
from ultr_core.words import counted

_SETTINGS = (*(name for name in PARAMETERS if name not in ("assumed_eta", "draws")), "curve")

LIVE: tuple[Field, ...] = (
    replace(INTERLEAVED, key="live_queries", on_stops=True,
            stops=(100, 218, 370, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000),
            help="Queries shown in each of the two contests. The paper had 218 and 257 queries "
            "and does not say whether its ties include queries without clicks; here four in ten "
            "have no clicks."),
    replace(SCHEME, key="live_scheme"),
    replace(SWAP_DAYS, key="live_swap_days", high=21,
            help="Days on which rank 1 is swapped with a random rank from 1 to 21."),
    replace(LIVE_SMOOTHING, key="live_smoothing", decimals=2, snaps=True),
)  # fmt: skip
"""What the page offers of the design."""

SIGN_TEST = tuple(
    replace(each, key=f"sign_{each.name}", label=label, high=1_000_000, default=paper, help="")
    for each, (label, paper) in zip(
        COUNTS, {"Wins": 87, "Losses": 48, "Ties": 83}.items(), strict=True
    )
)
"""Counts for the page's own sign test, at first the paper's; the session keeps them."""


def run(given: Given) -> LiveResult:
    """Run the experiment."""
    progress = progress_line()
    design = LiveDesign(**{each.name: getattr(given, each.name) for each in LIVE_FIELDS})
    result = given.lab.live(design, progress=progress)
    progress("")
    print_notes(result.notices)
    return result


def show(result: LiveResult) -> None:
    """Print curve, risks and contests."""
    design, clicks = result.design, result.clicks
    print(
        f"{counted(design.training_days, 'day')} of training clicks ({clicks['training']:,}), "
        f"{design.validation_days} of validation ({clicks['validation']:,}), {design.swap_days} of "
        f"swaps with landmark {design.landmark} ({counted(clicks['swaps'], 'click')}). The paper "
        f"had {PAPER_CLICKS:,} clicks in 21 days."
    )
    print()
    print(f"{'rank':>4} {'swaps':>7} {'95% interval':>16} {'curve used':>11} {'true':>7}")
    rows = zip(result.estimate.points, result.curve.values, result.true_curve, strict=True)
    for point, used, true in rows:
        value = "-" if point.value is None else f"{point.value:.3f}"
        interval = "-" if point.low is None else f"{point.low:.3f} to {point.high:.3f}"
        print(f"{point.rank:4} {value:>7} {interval:>16} {used:11.3f} {true:7.3f}")
    print()
    for name, risk in result.test_risk.items():
        cost = f", C = {result.costs[name]:g}" if name in result.costs else ", hand-set weights"
        print(f"{METHODS[name].label}: test risk {risk:.3f}{cost}.")
    print()
    for contest in result.contests:
        if contest.test.decided == 0:
            print(contest.sentence)
            continue
        needed = "more decided queries than can be run"
        if contest.needed is not None:
            needed = counted(contest.needed, "decided query", "decided queries")
        print(contest.sentence)
        print(
            f"  Relative risk {contest.test.relative_risk:.3f}; 80% power at this share requires "
            f"{needed}; with as many decided queries as in the paper, the power is "
            f"{contest.paper_power:.0%}."
        )
        print(f"  {contest.null_sentence}")


def cells(state: PageState) -> list[Cell]:
    """The experiment with the design of the page, and what came of it."""
    values = state.values
    return [
        words(
            """
            ## The live experiment of section 7.6

            Users query a simulated engine for three weeks. A week of swaps gives propensities,
            two rankers learn from the clicks, and the weighted ranker is interleaved with the
            production ranker and with the naive ranker. The sign test shows which ranker wins.
            """
        ),
        code(
            f"""
            from ultr_core.lab.live import LiveDesign

            design = LiveDesign(
                swap_days={values["live_swap_days"]},
                smoothing={values["live_smoothing"]},
                interleaved={values["live_queries"]},
                scheme="{values["live_scheme"]}",
            )
            result = lab.live(design)
            print(result.sentence)
            """
        ),
        words(
            "## How good the rankers are\n\nTest risk: summed ranks of relevant documents; lower "
            "is better."
        ),
        code(
            """
            for name, risk in result.test_risk.items():
                print(f"{name:12} {risk:.2f}")
            for contest in result.contests:
                print(f"against {contest.label}: relative risk {contest.test.relative_risk:.2f}")
            """
        ),
        code("from ultr_core.figures import win_share_figure\n\nwin_share_figure(result)"),
    ]


JOB = Job(
    run,
    options=(CORPUS, MISSING_ZERO, *LIVE_FIELDS),
    settings=setting_fields(*_SETTINGS),
    show=show,
    as_dict=LiveResult.as_dict,
    pages={"live": Page("Would users prefer the weighted ranker?", cells, LIVE)},
)
