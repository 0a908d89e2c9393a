"""For each page the notebook that gives its headline numbers with ``ultr_core`` alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from ultr_core.errors import InputError, quoted
from ultr_core.export.claims_notebook import claims_cells
from ultr_core.export.lesson_notebook import lesson_cells
from ultr_core.export.notebook import NEEDS, Cell, Notebook, code, notebook, words
from ultr_core.export.origin import settings_code, settings_words
from ultr_core.export.own_work import OwnWork, command_lines, own_notebook
from ultr_core.export.proof_notebook import proof_cells
from ultr_core.export.propensity_notebook import propensity_cells
from ultr_core.links.page_links import read_page_query
from ultr_core.settings import Settings
from ultr_core.studies import STUDIES
from ultr_core.words import as_argument


@dataclass(frozen=True)
class PageState:
    """What a page shows: its address, the settings, its own values by key.

    ``corpus`` is the directory of a LETOR corpus, or None for the built-in one; ``link`` is named
    in the notebook, and of the settings only those that are ``acting``; empty: all.
    """

    page: str
    settings: Settings = field(default_factory=Settings)
    values: Mapping[str, Any] = field(default_factory=dict)
    corpus: str | None = None
    link: str = ""
    acting: tuple[str, ...] = ()

    @classmethod
    def of_query(cls, page: str, query: str) -> PageState:
        """The state of a URL query; unusable values fall back to their defaults."""
        settings, values, _ = read_page_query(page, query)
        return cls(page, settings, values)

    def at(self, corpus: str | Path) -> PageState:
        """The same state on the corpus in a directory."""
        return replace(self, corpus=str(corpus))


def _lab(state: PageState) -> list[Cell]:
    return [
        words(
            """
            ## Clicks, rankers and their test risk

            A lab simulates users, trains every ranker on their clicks and tests it on
            queries that no user has seen. The risk of a ranking is the mean over queries of the
            summed ranks of relevant documents (equation 2 of the paper): lower is better.
            """
        ),
        code(
            """
            comparison = lab.comparison()
            for ranker in comparison.rankers.values():
                risk = ranker.risk
                interval = f"({risk.low:.4f} to {risk.high:.4f})" if ranker.costs else ""
                print(f"{ranker.label:28} {risk.value:.4f}  {interval}".rstrip())
            print(comparison.sentence)
            """
        ),
        words(
            """
            ## Empirical against true risk

            Sixty rankers that have seen no click. Kendall's τ says how well an estimate from
            clicks puts them in the order of their true risk: 1 is the true order, 0 chance.
            """
        ),
        code(
            """
            picture = lab.picture()
            print(f"naive    τ = {picture.naive.kendall:.2f}")
            print(f"weighted τ = {picture.weighted.kendall:.2f}")
            """
        ),
        words("## The paper's claims, measured in this world"),
        code(
            """
            checks = lab.checks()
            good = sum(check.finding.holds for check in checks)
            print(f"{good} of {len(checks)} proof checks hold")
            for check in checks:
                if not check.finding.holds:
                    found = check.finding
                    print(f"{found.status}: {check.proof.title}. {found.sentence}")
            """
        ),
    ]


def _study(state: PageState, name: str) -> list[Cell]:
    loss = state.values.get("loss", "sum-of-ranks")
    study = STUDIES[name]
    title = words(
        f"""
        ## {study.title}

        A study trains every ranker in a grid of worlds, several click logs in each.
        """
    )
    result = _SHIPPED if _is_shipped(state) else _QUICK
    return [
        title,
        code(result.format(name=name, loss=loss)),
        words("## The curve, with 95% intervals over click logs"),
        code(
            """
            print(read_study(result))
            result.curve_table()
            """
        ),
        words("## The paper's claims on this figure"),
        code(
            """
            for claim in judge(result):
                print(f"{claim.finding.outcome}: {claim.rule.statement}")
            """
        ),
    ]


def _is_shipped(state: PageState) -> bool:
    """Whether the page shows results that came with the code."""
    studies = state.page in ("learning_curves", "robustness")
    return studies and state.corpus is None and state.values.get("result", "shipped") == "shipped"


_SHIPPED = """
from ultr_core.studies import LOSSES, judge, read_study, shipped_result

# These cells were run at the paper's sizes on the built-in corpus and came with the code.
result = shipped_result("{name}", LOSSES["{loss}"])
"""

_QUICK = """
from ultr_core.lab import stage
from ultr_core.studies import (
    BASE_FIELDS,
    LOSSES,
    STUDIES,
    Plan,
    StudyResult,
    describe,
    judge,
    read_study,
    run_in_process,
)

# The study varies or fixes the other settings. This takes a minute or more.
plan = Plan(STUDIES["{name}"], "quick", stage(settings, BASE_FIELDS))
done = {{cell.key: cell for cell in run_in_process(lab.world(), plan.cells)}}
result = StudyResult(plan, LOSSES["{loss}"], done, describe(lab.world()))
"""


def _learning_curves(state: PageState) -> list[Cell]:
    return _study(state, "learning-curve")


def _robustness(state: PageState) -> list[Cell]:
    return _study(state, state.values.get("study", "bias"))


def _live(state: PageState) -> list[Cell]:
    values = state.values
    scheme = values.get("live_scheme", "balanced")
    return [
        words(
            """
            ## The live experiment of section 7.6

            Users search a simulated engine for three weeks. A week of swaps gives propensities,
            two rankers learn from the clicks, and the weighted one is interleaved with the
            production ranker and with the naive one. The sign test counts who wins.
            """
        ),
        code(
            f"""
            from ultr_core.lab.live import LiveDesign

            design = LiveDesign(
                swap_days={values.get("live_swap_days", 7)},
                smoothing={values.get("live_smoothing", 0.5)},
                interleaved={values.get("live_queries", 10_000)},
                scheme="{scheme}",
            )
            result = lab.live(design)
            print(result.sentence)
            """
        ),
        words(
            "## How good the rankers are\n\nTest risk: summed ranks of relevant documents, "
            "lower is better."
        ),
        code(
            """
            for name, risk in result.test_risk.items():
                print(f"{name:12} {risk:.2f}")
            for contest in result.contests:
                print(f"against {contest.label}: relative risk {contest.test.relative_risk:.2f}")
            """
        ),
    ]


def _proofs(state: PageState) -> list[Cell]:
    return proof_cells(state.settings, state.values)


def _propensities(state: PageState) -> list[Cell]:
    return propensity_cells(state.settings, state.values)


def _lessons(state: PageState) -> list[Cell]:
    return lesson_cells(state.values)


def _claims(state: PageState) -> list[Cell]:
    return claims_cells(state.values)


OWN_WORK = "work"
"""Key of the work on a reader's files among the values of the page on their own data."""

_OWN_FILES = OwnWork("corpus.txt", "clicks.csv", steps=("propensities", "fit", "evaluate"))
"""The whole way, with names to be replaced."""


def _your_data(state: PageState) -> list[Cell]:
    work = state.values.get(OWN_WORK)
    if work is None or not command_lines(work):  # nothing is done yet
        work = replace(
            _OWN_FILES, seed=state.settings.seed, relevant_grade=state.settings.relevant_grade
        )
    return list(own_notebook(work).cells)


@dataclass(frozen=True)
class _Page:
    """A page's question and its cells.

    ``begins`` is what comes before them: the settings and their ``lab`` on the corpus, the
    ``settings`` alone, or nothing at all. ``fixed``: the page
    has the paper's settings, whatever the controls say.
    """

    question: str
    cells: Callable[[PageState], list[Cell]]
    begins: Literal["lab", "settings", "nothing"] = "lab"
    fixed: bool = False


NOTEBOOK_PAGES: Mapping[str, _Page] = MappingProxyType(
    {
        "lab": _Page("What do biased clicks do to a ranker, and what does weighting repair?", _lab),
        "learning_curves": _Page(
            "How many clicks does it take until weighting pays?", _learning_curves
        ),
        "robustness": _Page(
            "How much bias, noise and wrong guessing does weighting survive?", _robustness
        ),
        "proofs": _Page("Why does weighting work, and when does it not?", _proofs, "settings"),
        "propensities": _Page(
            "Where do propensities come from, and what do they cost?", _propensities
        ),
        "live": _Page("Would users prefer the weighted ranker?", _live),
        "lessons": _Page("Can you predict what biased clicks do?", _lessons),
        "your_data": _Page(
            "What can your own clicks teach a ranker, and what do they prove?",
            _your_data,
            "nothing",
        ),
        "claims": _Page("Which of the paper's claims hold?", _claims, fixed=True),
    }
)
"""The pages that have a notebook, by address."""


def page_notebook(state: PageState) -> Notebook:
    """The notebook of a page in a state.

    Raises InputError: the page has none, or its values describe nothing that can be computed.
    """
    if state.page not in NOTEBOOK_PAGES:
        raise InputError(
            f"{quoted(state.page)} is no page with a notebook; choose from "
            f"{', '.join(NOTEBOOK_PAGES)}."
        )
    page = NOTEBOOK_PAGES[state.page]
    if page.fixed:
        state = replace(state, settings=Settings())
    begins = "settings" if _is_shipped(state) else page.begins
    opening = [] if begins == "nothing" else [
        _opening(state, page.question), _setting_up(state, begins)
    ]  # fmt: skip
    return notebook(f"ultr-{state.page.replace('_', '-')}", [*opening, *page.cells(state)])


def _opening(state: PageState, question: str) -> Cell:
    is_address = state.link.startswith(("http://", "https://"))
    source = f"[this page]({_target(state.link)})" if is_address else "the Unbiased LTR Lab"
    return words(
        f"""
# {question}

The numbers of {source}, in Python. {NEEDS}

The same seed gives the same numbers everywhere.

Settings: {settings_words(state.settings, state.acting)}.
"""
    )


def _target(link: str) -> str:
    """An address as the target of a Markdown link, which no sign in it can end."""
    return quote(link, safe=":/?#@!$&*+,;=%'~", errors="replace")


def _setting_up(state: PageState, begins: str) -> Cell:
    imports = ["from threadpoolctl import threadpool_limits", ""]
    lines = [
        "threadpool_limits(1)  # as in the lab: the same sums to the last digit",
        f"settings = {settings_code(state.settings)}",
    ]
    if begins == "lab":
        imports.append("from ultr_core.lab import Lab")
        given = "settings"
        if state.corpus is not None:
            lines.append(
                f"DIRECTORY = {as_argument(state.corpus)!r}  # where your copy of this corpus is"
            )
            given = "settings, DIRECTORY"
        lines.append(f"lab = Lab({given})")
    imports.append("from ultr_core.settings import Settings")
    return code("\n".join([*imports, "", *lines]))
