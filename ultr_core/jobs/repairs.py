"""The page *Users and repairs* and its notebook; `reproduce` makes its numbers."""

from __future__ import annotations

from functools import partial

from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice
from ultr_core.jobs.job import Job, Page, PageState, setting_fields
from ultr_core.jobs.reproduce import RESULT, as_studied, begins_with, is_shipped, only_computed
from ultr_core.risk import NO_INTERVAL
from ultr_core.studies import STUDIES

BREAK = Choice(
    "breaks",
    "What breaks",
    {
        "few-clicks": "Few clicks",
        "trust-steep": "Trust",
        "trust-mild": "Mild trust",
        "leaving": "Leaving",
        "cut": "Lists of ten",
        "wrong-curve": "Wrong p",
        "towers": "Unknown p",
        "learners": "Learners",
    },
)
"""Keys of the studies of repairs."""
CLICKS = Choice(
    "repair_clicks",
    "Training clicks",
    {"": "", "fewest": "1,000", "few": "9,000", "many": "45,000", "most": "170,000"},
)
"""The first, which no control offers, is what `usual_clicks` says."""
AT = {"fewest": 1_000.0, "few": 9_000.0, "many": 45_000.0, "most": 170_000.0}
ACTS = ("draws", "seed", "corpus_seed", "relevant_grade")
"""Settings that act on a result that is computed; a study fixes all others."""


def offered_clicks(name: str, *, shipped: bool) -> tuple[str, ...]:
    """Keys of the numbers of clicks that the result of a break has."""
    grid = STUDIES[name].x_values["paper" if shipped else "quick"]
    return tuple(key for key, clicks in AT.items() if clicks in grid)


def usual_clicks(name: str) -> str:
    """Key of the number of clicks with which a break is shown first.

    With few clicks most learners cannot be told apart.
    """
    return "many" if name == "learners" else "few"


def possible(state: PageState) -> dict[str, tuple[str, str]]:
    """The values that take the place of those that a result does not have, as in `Page`."""
    found, asked = only_computed(state), state.values[CLICKS.key]
    offered = offered_clicks(state.values[BREAK.key], shipped=is_shipped(state))
    if not asked:
        found[CLICKS.key] = (usual_clicks(state.values[BREAK.key]), "")
    elif asked not in offered:
        used = CLICKS.nearest(asked, offered)
        told = (
            f"{CLICKS.label}: {CLICKS.shown(asked)} is only possible with "
            f"“{RESULT.shown('shipped')}”; the nearest possible value, {CLICKS.shown(used)}, is "
            "shown."
        )
        found[CLICKS.key] = (used, told)
    return found


_SHIPPED = """
from ultr_core.studies import LOSSES, repair_headline, shipped_result

# These rankers were trained on the built-in corpus and are shipped with the code.
result = shipped_result("{name}", LOSSES["sum-of-ranks"])
"""
_QUICK = """
from ultr_core.lab import stage
from ultr_core.studies import (
    LOSSES,
    STUDIES,
    Plan,
    StudyResult,
    describe,
    repair_headline,
    run_in_process,
)

# The study fixes the other settings. This takes a minute or more.
plan = Plan(STUDIES["{name}"], "quick", stage(settings, {acts}))
done = {{cell.key: cell for cell in run_in_process(lab.world(), plan.cells)}}
result = StudyResult(plan, LOSSES["sum-of-ranks"], done, describe(lab.world()))
"""


def cells(state: PageState) -> list[Cell]:
    """The risks of one break and its repairs, their picture, and the enumeration in small."""
    from ultr_core.studies import guarded_method  # a page with a notebook pays for it, no command

    name, clicks = state.values[BREAK.key], AT[state.values[CLICKS.key]]
    guarded = guarded_method(STUDIES[name])
    result = (_SHIPPED if is_shipped(state) else _QUICK).format(name=name, acts=ACTS)
    several = is_shipped(state) or state.settings.draws > 1
    bars = "In brackets: 95% intervals over click logs." if several else NO_INTERVAL
    return [
        words(
            f"""
            ## {BREAK.options[name]}: what breaks and what repairs it

            Test risk of each ranker with {clicks:,.0f} clicks; lower is better. {bars}
            """
        ),
        code(result),
        code(
            f"""
            point = result.point({clicks:.0f})
            for method in result.plan.study.methods:
                risk = result.estimate(method, point)
                interval = f"  ({{risk.low:.4f}} to {{risk.high:.4f}})" if risk.n > 1 else ""
                print(f"{{method:24}} {{risk.value:.4f}}{{interval}}")
            print(repair_headline(result, point))
            """
        ),
        code("from ultr_core.figures import repair_figure\n\nrepair_figure(result, point)"),
        *(_linked() if name == "towers" else _enumerated(name)),
        *([] if guarded is None else _tested(state, guarded)),
    ]


def _enumerated(name: str) -> list[Cell]:
    """The error of every method of a break, as a fraction."""
    return [
        words(
            """
            ## Enumeration

            Four candidates, all 24 rankings, every list and click pattern: the largest error in the
            expected estimate, as a fraction, and the number of pairs of rankings in the wrong
            order.
            """
        ),
        code(
            f"""
            from ultr_core.proofs.repairs import PAIRS
            from ultr_core.proofs.small_cases import SMALL_CASES

            for method, case in SMALL_CASES["{name}"].items():
                pairs = f"{{case.wrong_pairs}} of {{len(PAIRS)}} pairs"
                print(f"{{method:24}} {{case.largest_error}}  {{pairs}}")
            """
        ),
    ]


def _tested(state: PageState, method: str) -> list[Cell]:
    """The test by rank of what a doubly robust ranker fits, and of a fit that sees less."""
    start = (
        "from ultr_core.lab import Lab\n\n            at = Lab(point.settings)"
        if is_shipped(state)
        else "at = lab.at(point.settings)"
    )
    return [
        words(
            """
            ## When the fit is rejected

            Observed over predicted clicks by rank, in the first click log.
            """
        ),
        code(
            f"""
            {start}
            from ultr_core.lab.training import FITS

            tests = {{name: at.rank_test(0, "{method}", seen) for name, seen in FITS.items()}}
            for name, test in tests.items():
                print(f"{{name}}: {{test.finding.sentence}}")
            """
        ),
        code("from ultr_core.figures import rank_test_figure\n\nrank_test_figure(tests)"),
    ]


def _linked() -> list[Cell]:
    """What clicks determine of two towers, whatever their number."""
    return [
        words(
            """
            ## What clicks determine

            Four ranks, with a free relevance for each document: sets of ranks linked by moved
            documents, and directions that clicks leave undetermined. Then exp(b) at the last of
            eight ranks, as fitted to expected clicks; relevance is linear in the features, or also
            depends on a product of two.
            """
        ),
        code(
            """
            from ultr_core.learners import JOINS
            from ultr_core.proofs.towers import CURVED, LOGGERS, SWAPS, LinkedRanks, TowerCase

            for case in [*map(LinkedRanks, SWAPS), LinkedRanks(shared=True)]:
                free = "shared" if case.shared else "free"
                print(case.swaps, free, case.parts, case.undetermined)
            for form in JOINS:
                for curved in (0.0, CURVED):
                    fits = [TowerCase(form, curved=curved).fit(logger) for logger in LOGGERS]
                    print(form, curved, [f"{fit.examination[-1]:.3f}" for fit in fits])
            """
        ),
        code("from ultr_core.figures.repairs import towers_figure\n\ntowers_figure()"),
    ]


JOB = Job(
    settings=setting_fields(*ACTS),
    pages={
        "repairs": Page(
            "What breaks weighting, and what repairs it?", cells, (BREAK, CLICKS, RESULT),
            begins=begins_with, shown=partial(as_studied, acts=ACTS),
            possible=possible,
        )
    },
)  # fmt: skip
