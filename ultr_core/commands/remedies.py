"""What the command line calls what a message of the core is about: its options, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.curve_values import CURVES
from ultr_core.errors import with_remedy
from ultr_core.settings import PARAMETERS


def option_of(name: str) -> str:
    """The option of a setting.

    >>> option_of("eps_minus")
    '--eps-minus'
    """
    return "--" + name.replace("_", "-")


OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        **{name: option_of(name) for name in (*PARAMETERS, *CURVES)},
        "click_probabilities": "--eps-plus, --eps-minus",
        "days": "--days",
        "validation_days": "--validation-days",
        "swap_days": "--swap-days",
        "last_rank": "--last-rank",
        "landmark": "--landmark",
        "smoothing": "--smoothing",
        "interleaved": "--interleaved",
        "scheme": "--scheme",
        "corpus": "--corpus",
        "rankers": "--rankers",
        "method": "--method",
        "learner": "--learner",
        "cost": "--cost",
        "clip": "--clip",
        "fit": "--fit",
        "propensities": "--propensities CURVE.csv, or --eta",
        "carry_on": "--carry-on",
        "ranks": "--ranks",
        "at": "--at",
        "harvest": "--method harvest",
        "two_rankers": "simulate --rankers 2",
        "jobs": "--jobs",
        "dask": "--dask",
        "out": "--out",
    }
)
"""By key of what a message is about: how the command line repairs it."""


def with_option(said: object) -> str:
    """An error or a sentence of the core, with the option that repairs it.

    >>> from ultr_core.errors import Remark
    >>> with_option(Remark("Grade 1 counts as relevant instead.", "relevant_grade"))
    'Grade 1 counts as relevant instead (--relevant-grade).'
    """
    return with_remedy(said, OPTIONS)
