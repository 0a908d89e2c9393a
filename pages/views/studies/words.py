"""Words and formulas of the study pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ultr_core.content import read

_WORDS = read(__file__, "studies")

_GAIN = (
    r"\mathrm{gain}=\frac{R(\mathrm{naive})-R(\mathrm{weighted})}"
    r"{R(\mathrm{production})-R(\mathrm{skyline})}"
)

FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "learning-curve": (
            r"\hat R_{CIPS}(S)=\frac1N\sum_{clicks}\frac{\mathrm{rank}(d\,|\,S)}{\max(\tau,\,p_r)}"
        ),
        "bias": (
            r"p_r=(1/r)^{\eta}\qquad \mathrm{Var}\propto\sum_d\mathrm{rank}(d)^2\,r_d\,"
            r"\frac{1-p_{r}}{p_{r}}"
        ),
        "noise": (
            r"\mathbb E[\hat R_{IPS}]=(\epsilon_+-\epsilon_-)\,R+\epsilon_-\,"
            r"\mathbb E\big[\tfrac{m(m+1)}2\big]"
        ),
        "misspecification": (
            r"\mathbb E[\hat R_{IPS}]=\mathbb E\Big[\sum_d\mathrm{rank}(d\,|\,S)\;"
            r"r^{\,\eta'-\eta}\,\big(\epsilon_+r_d+\epsilon_-(1-r_d)\big)\Big]"
        ),
        "map-noise": _GAIN,
        "map-assumed": _GAIN,
    }
)
"""By study: the formula behind it."""


def meaning(study: str) -> str:
    """What the formula of a study says."""
    return _WORDS.text(f"meanings.{study}")


def on_own_corpus(study: str) -> str:
    """How to compute a study on a corpus of one's own."""
    return _WORDS.text("own-corpus", name=study)
