"""Words and formulas of the study pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FORMULAS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "learning-curve": (
            r"\hat R_{CIPS}(S)=\frac1N\sum_{clicks}\frac{\mathrm{rank}(d\,|\,S)}{\max(\tau,\,p_r)}",
            "τ = 0 is the weighted estimate: unbiased, but a click at rank 24 counts 24 times one "
            "at rank 1. τ = 1 is the naive one: biased, and as steady as clicks can be.",
        ),
        "bias": (
            r"p_r=(1/r)^{\eta}\qquad \mathrm{Var}\propto\sum_d\mathrm{rank}(d)^2\,r_d\,"
            r"\frac{1-p_{r}}{p_{r}}",
            "Weighting removes the bias whatever η is; its variance grows with 1/p, which at rank "
            "10 is 10 for η = 1 and 100 for η = 2. More clicks divide variance, never bias.",
        ),
        "noise": (
            r"\mathbb E[\hat R_{IPS}]=(\epsilon_+-\epsilon_-)\,R+\epsilon_-\,"
            r"\mathbb E\big[\tfrac{m(m+1)}2\big]",
            "The second term is the same for every ranker, so noise keeps the order of the "
            "weighted estimates; it takes more clicks to see it.",
        ),
        "misspecification": (
            r"\mathbb E[\hat R_{IPS}]=\mathbb E\Big[\sum_d\mathrm{rank}(d\,|\,S)\;"
            r"r^{\,\eta'-\eta}\,\big(\epsilon_+r_d+\epsilon_-(1-r_d)\big)\Big]",
            "With η′ above η the documents at the bottom, nearly all of them noise, get the "
            "largest weights; with η′ below η the learner keeps part of the naive bias.",
        ),
        "map-noise": (
            r"\mathrm{gain}=\frac{R(\mathrm{naive})-R(\mathrm{weighted})}"
            r"{R(\mathrm{production})-R(\mathrm{skyline})}",
            "45,000 clicks; the learner knows η. Where bias and noise are both strong, the "
            "variance of the weights can cost more than the bias of not weighting.",
        ),
        "map-assumed": (
            r"\mathrm{gain}=\frac{R(\mathrm{naive})-R(\mathrm{weighted})}"
            r"{R(\mathrm{production})-R(\mathrm{skyline})}",
            "45,000 clicks, ε₋ = 0.1. On the diagonal the learner knows the truth; below it the "
            "learner assumes too little, above it too much.",
        ),
    }
)
"""By study: a formula and what it says."""

OWN_CORPUS = """
The paper's corpus (Yahoo) may not be passed on, so levels here differ from the paper's; shapes can
be compared. Your own copy of it, of MSLR, of Istella, or any directory with `train.txt`, `vali.txt`
and `test.txt` in LETOR format gives the same figures and a report:

`python -m ultr_core reproduce {name} --scale paper --corpus DIR --out OUT --jobs 2`

A killed run goes on where it stopped. Where grades stop below 3, add `--relevant-grade`.
With 500 or more features weighting needs more clicks before it pays, and each fit takes seconds.
"""
