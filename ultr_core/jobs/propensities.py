"""``propensities``: examination from a click log; the page and its notebook run swaps."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice, Field, Number, Switch, each_once
from ultr_core.files import write_context_curves, write_curve
from ultr_core.files.log_columns import whole_context
from ultr_core.jobs.files import LOG, READING, File, given_log
from ultr_core.jobs.job import Given, Job, Page, PageState, setting_fields
from ultr_core.jobs.output import print_notes, share_line
from ultr_core.lab import WORLD_FIELDS
from ultr_core.lab.propensity_study import SESSIONS, SwapDesign
from ultr_core.own_data.curves import HEADLINES, estimate_findings
from ultr_core.propensity import (
    LOG_METHODS,
    PROPENSITY_METHODS,
    ContextEstimates,
    CurveOptions,
    LogEstimate,
    estimate_by_context,
    estimate_from_log,
    ratio_text,
)
from ultr_core.propensity.contexts import in_words
from ultr_core.propensity.curves import FIT, SMOOTHING
from ultr_core.propensity.points import LANDMARK, LAST_RANK, MOST_RANKS
from ultr_core.words import counted

METHODS = {PROPENSITY_METHODS[key].name: key for key in LOG_METHODS}
"""Names on the command line; keys of ``PROPENSITY_METHODS`` are understood as well."""


RANK = replace(LAST_RANK, low=1, high=MOST_RANKS, limits="a rank in the log", default=None)


@dataclass(frozen=True)
class Ranks(Field):
    """Several ranks; none by default."""

    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """How they are written."""
        return "comma-separated ranks"

    def checked(self, value: Any) -> tuple[int, ...]:
        """The ranks of a text."""
        each = replace(RANK, label="A rank", name=self.name)
        ranks = (each.checked(part.strip()) for part in value.split(","))
        return each_once(self.label or "The list of ranks", self.name, ranks)

    def write(self, value: Any) -> str:
        """The ranks with commas between them."""
        return ",".join(map(str, value))


@dataclass(frozen=True)
class Contexts(Field):
    """Several contexts, each as `whole_context` reads it in a log; none by default."""

    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """How they are written."""
        return "comma-separated names"

    def checked(self, value: Any) -> tuple[str, ...]:
        """The names of a text; a name with a comma is in quotation marks, as in a CSV file."""
        try:
            names = next(csv.reader([value], skipinitialspace=True), [])
        except csv.Error:
            raise self.refused(value) from None
        return each_once(
            self.label or "The list of contexts",
            self.name,
            (whole_context(name.strip()) for name in names),
        )

    def write(self, value: Any) -> str:
        """The names with commas between them."""
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(value)
        return out.getvalue()


POSITION, TRUST = "position", "trust"
NOTHING_ELSE = "none"
EVERY_RANK = "every"
TRAFFIC = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
PROPENSITIES: tuple[Field, ...] = (
    replace(LANDMARK, key="swap_landmark", high=10,
            help="The document at this rank trades places with the document at a random rank "
            "before the list is shown. The paper's live experiment uses 1."),
    replace(SESSIONS, key="swap_traffic", stops=TRAFFIC, on_stops=True,
            help="Presentations used for the experiment; each of the K ranks gets one in K."),
    replace(SMOOTHING, key="swap_smoothing", decimals=2, snaps=True,
            help="Weight of the overall click rates: 0 uses only the swaps, 1 only the click "
            "rates. The paper smooths in this way but does not say how much."),
    replace(FIT, key="swap_fit",
            help="Leave the ratios as they are, keep the curve from rising, or fit (1/r)^η."),
    Choice("swap_users", "Users", {POSITION: "Position model", TRUST: "Trust bias"},
           help="The position model, or users who trust high ranks and click irrelevant documents "
           "there more often (the published curves of 2021/22); for the latter, η and ε do not "
           "matter."),
    Choice("swap_other", "Compare with",
           {NOTHING_ELSE: "nothing else",
            **{m.key: m.label for m in PROPENSITY_METHODS.values() if m.key != "swap"}},
           help="A second method, drawn in green, on the same number of presentations."),
    replace(LAST_RANK, key="swap_ranks", low=10, high=40,
            help="Lowest rank in the experiment; the last value is used for all ranks below. The "
            "paper uses "
            "21."),
    Choice("swap_at", "Measure", {EVERY_RANK: "every rank", "powers": "1, 2, 4, 8, 16 …"},
           help="Use only the ratios of a few ranks and interpolate between them."),
    Switch("swap_bootstrap", "Bootstrap intervals",
           help="Intervals from 2,000 resampled experiments instead of the delta method."),
    Number("swap_rank", "Rank of interest", 2, 40, default=10,
           help="The rank whose ratio p_r / p_k you want to estimate."),
    Number("swap_precision", "Target precision ±", 0.001, 10, default=0.1, decimals=3,
           stops=(0.05, 0.1, 0.2, 0.5), on_stops=True, percent=True,
           help="Half the width of the 95% interval, relative to the ratio."),
)  # fmt: skip


_BY_ITSELF = "what the log allows"
OWN_METHOD = Choice(
    "own_method", "Method",
    {_BY_ITSELF: _BY_ITSELF, **{key: PROPENSITY_METHODS[key].label for key in LOG_METHODS}},
)  # fmt: skip
"""How the page reads a visitor's own log; the session keeps it."""


def run(given: Given) -> LogEstimate | ContextEstimates:
    """Estimate, and write the curve, or that of each context."""
    log = given_log(given, share_line("reading the click log"))
    how: Any = {
        "method": given.method or None,
        "landmark": given.landmark,
        "last_rank": given.ranks,
        "options": CurveOptions(given.smoothing, given.at, given.fit),
    }
    if log.context_names or given.pool_contexts:
        found = estimate_by_context(log, pool=given.pool_contexts, **how)
        if given.out is not None:
            write_context_curves(given.out, found.curves, found.trust_bias)
        known = dict.fromkeys(log.notices)
        print_notes(known)
        for names, one in found.found.items():
            here = (text for text in one.notices if text not in known)
            print_notes(f"{in_words(names)}: {text}" for text in here)
        return found
    result = estimate_from_log(log, **how)
    if given.out is not None:
        write_curve(given.out, result.curve.values, result.trust_bias)
    print_notes(result.notices)
    return result


def show(result: LogEstimate | ContextEstimates) -> None:
    """Print the curve with its intervals, or that of each context."""
    if isinstance(result, ContextEstimates):
        for number, (names, one) in enumerate(result.found.items()):
            label = f"Context{'s' if len(names) > 1 else ''} {in_words(names)}"
            print(f"{chr(10) if number else ''}{label}:")
            _show_curve(one, with_rows=False)
        return
    _show_curve(result)


def _show_curve(result: LogEstimate, *, with_rows: bool = True) -> None:
    """with_rows: whether rows and queries are those of this curve alone."""
    method, log = PROPENSITY_METHODS[result.estimate.method], result.log
    whole = f"{counted(log['rows'], 'row')}, {counted(log['queries'], 'query', 'queries')}, "
    print(
        f"{whole if with_rows else ''}"
        f"{counted(log['clicks'], 'click')} in {counted(log['impressions'], 'impression')}. "
        f"{method.label}; assumes that {method.assumes}."
    )
    print()
    print(
        # Most methods compare a part of the log's impressions.
        f"{'rank':>4} {'compared impressions':>20} {'clicks':>8} {'ratio':>8} "
        f"{'95% interval':>18} {'curve':>7}  curve is"
    )
    for point, value in zip(result.estimate.points, result.curve.values, strict=True):
        ratio, interval = point.value_text, point.interval_text or "-"
        print(
            f"{point.rank:4} {point.impressions:20,} {point.clicks:8,} {ratio:>8} {interval:>18} "
            f"{ratio_text(value):>7}  {result.curve.made_by(point.rank)}"
        )
    print()
    for found in estimate_findings(result):
        if found.key in HEADLINES:
            print(f"{'' if found.severity == 'good' else 'Warning: '}{found.sentence}")


def as_dict(result: LogEstimate | ContextEstimates) -> dict[str, Any]:
    """The curve, or that of each context, with its findings as plain values."""
    if isinstance(result, ContextEstimates):
        every = result.as_dict()
        for told, one in zip(every["contexts"], result.found.values(), strict=True):
            told["findings"] = as_dict(one)["findings"]
        return every
    return {
        **result.as_dict(),
        "findings": [
            {"key": f.key, "value": f.value, "verdict": f.severity, "words": f.sentence}
            for f in estimate_findings(result)
        ],
    }


def swap_design(values: Mapping[str, Any]) -> SwapDesign:
    """The experiment that the page's values describe.

    Raises InputError for one that cannot be run.
    """
    last_rank = values["swap_ranks"]
    ranks = tuple(2**i for i in range(6) if 2**i <= last_rank)
    return SwapDesign(
        values["swap_landmark"],
        last_rank,
        values["swap_traffic"],
        values["swap_bootstrap"],
        CurveOptions(
            values["swap_smoothing"],
            () if values["swap_at"] == EVERY_RANK else ranks,
            values["swap_fit"],
        ),
    )


def cells(state: PageState) -> list[Cell]:
    """The swap experiment, compared with the truth.

    Raises InputError for a design that cannot be run.
    """
    design = swap_design(state.values)
    trust = state.values["swap_users"] == TRUST
    users = (
        """
            from ultr_core.users import TrustBiasModel

            users = TrustBiasModel.published()"""
        if trust
        else "users = lab.users"
    )
    return [
        words(
            f"""
            ## The swap experiment of section 5.3

            The document at rank {design.landmark} trades places with the document at a random rank.
            The same document is then shown at two ranks, and the ratio of its clicks at the two
            ranks estimates the ratio of their examination probabilities.
            """
        ),
        code(
            f"""
            from ultr_core.lab.propensity_study import SwapDesign, agreement_with, true_ratios
            from ultr_core.propensity import CurveOptions

            design = SwapDesign(
                landmark={design.landmark}, last_rank={design.last_rank},
                sessions={design.sessions}, bootstrap={design.bootstrap},
                options=CurveOptions(
                    {design.options.smoothing!r}, {design.options.ranks!r}, {design.options.fit!r}
                ),
            )
            {users.strip()}
            truth = true_ratios(users.curve, design)
            found = lab.swaps(design, users=users)
            """
        ),
        words(
            "## Estimate and truth\n\nRatios to the landmark rank with 95% intervals, and the "
            "curve that follows from them with the page's options."
        ),
        code(
            """
            if found.estimate is None:
                print(found.reason)
            else:
                for point, true in zip(found.estimate.points, truth):
                    if point.value is not None and point.low is not None:
                        print(f"rank {point.rank:2}: {point.value:.3f} "
                              f"({point.low:.3f} to {point.high:.3f}), truth {true:.3f}")
                agreement = agreement_with(found.estimate, truth)
                print(f"{agreement.covered} of {agreement.intervals} intervals contain the truth")
            """
        ),
        code(
            """
            from ultr_core.figures import curve_figure

            drawn = found.estimate is not None and found.curve is not None
            curve_figure(found, truth.tolist()) if drawn else None
            """
        ),
        words(
            "## What it costs\n\nThe increase in the summed ranks of relevant documents per "
            "presentation: its exact value, and its value in this run."
        ),
        code('print(f"{found.cost_exact:.2f} exact, {found.cost_simulated:+.2f} in this run")'),
    ]


JOB = Job(
    run,
    arguments=(
        replace(
            LOG,
            help=f"{LOG.help}; optionally impressions, swapped_rank (the rank that the landmark "
            "was swapped with; the landmark itself for a control) and ranker",
        ),
    ),
    options=(
        *READING,
        Choice(
            "method", "Method", METHODS, default="",
            help="how to estimate propensities; default swap if the log has the column "
            "swapped_rank, otherwise harvest",
        ),
        replace(
            LANDMARK, high=MOST_RANKS, limits="a rank in the log",
            help="rank to compare the others with",
        ),
        replace(RANK, name="ranks", help="lowest rank of the curve; default the lowest in the log"),
        Ranks(
            "at", "", help="use only these comma-separated ranks and interpolate the others"
        ),
        SMOOTHING,
        FIT,
        Contexts(
            "pool_contexts", "",
            help="contexts that share one curve, separated by commas, if the log has a context "
            "column; every other context gets its own curve",
        ),
        File(
            "out", "", use="write", endings=(".csv",),
            help="write the curve as CSV: rank, propensity; for contexts: context, rank, "
            "propensity; from swaps also trust_bias, which fit, evaluate and check report",
        ),
    ),
    show=show,
    as_dict=as_dict,
    pages={
        "propensities": Page(
            "Where do propensities come from, and what do they cost?", cells, PROPENSITIES,
            setting_fields(*WORLD_FIELDS, "eta", "eps_minus", "eps_plus", "seed", "curve"),
        )
    },
)  # fmt: skip
