"""The notebook cells of the page on propensities: the swap experiment of a design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import read_fields
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.links.page_links import EVERY_RANK, PROPENSITIES, TRUST
from ultr_core.propensity import CurveOptions
from ultr_core.settings import Settings


def swap_design(values: Mapping[str, Any]) -> SwapDesign:
    """The experiment that the page's values describe.

    Raises InputError for one that cannot be run.
    """
    values = {**read_fields(PROPENSITIES, {})[0], **values}
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


def propensity_cells(settings: Settings, values: Mapping[str, Any]) -> list[Cell]:
    """Cells that run the swap experiment and compare it with the truth.

    Raises InputError for a design that cannot be run.
    """
    design = swap_design(values)
    trust = values.get("swap_users") == TRUST
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

            The document at rank {design.landmark} trades places with the one at a random rank.
            The same document at two ranks: the ratio of its clicks is the ratio of examination.
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
            "curve that the page's options make of them."
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
                print(f"{agreement.covered} of {agreement.intervals} intervals hold the truth")
            """
        ),
        words(
            "## What it costs\n\nAdded to the summed ranks of relevant documents, a presentation; "
            "exact, and as it happened."
        ),
        code('print(f"{found.cost_exact:.2f} exact, {found.cost_simulated:+.2f} in this run")'),
    ]
