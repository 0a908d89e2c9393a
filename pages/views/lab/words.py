"""The lab's words: experiments to try, and the formulas with the current numbers."""

from __future__ import annotations

from pages.app.curves import learner_believes, users_have
from pages.app.steps import read_step
from ultr_core.content import read
from ultr_core.figures import Quantity
from ultr_core.lab import Comparison, EstimatedRisks, RiskPicture, assumed_curve, true_curve
from ultr_core.proofs import NO_POSITION_BIAS, PROPENSITIES
from ultr_core.settings import Settings
from ultr_core.words import counted

LOW_RANK = 10
"""Rank whose examination and weight are said in words."""

FIRST_RANKS = 4
"""Ranks of a given curve that are spelled out in a formula."""

MOST_RIGHT = 0.5
"""Kendall's tau below which more than a quarter of all pairs are the wrong way round."""


_WORDS = read(__file__, "lab")


USERS_HELP = _WORDS.text("users-help")
USERS_WITHOUT_SCRIPT = _WORDS.text("users-without-script")
ESTIMATES_HELP = _WORDS.text("estimates-help")
RANKERS_HELP = _WORDS.text("rankers-help")

STEPS = (
    read_step(_WORDS, "no-bias", Settings(eta=0.0, assumed_eta=0.0)),
    read_step(_WORDS, "exaggerating", Settings(assumed_eta=1.5)),
    read_step(_WORDS, "few-clicks", Settings(clicks=1_000)),
)


def estimate_formulas(settings: Settings) -> tuple[str, ...]:
    """Both estimates, and the propensity with the assumed exponent in it."""
    return (
        r"\hat R_{naive}(S)=\frac1N\sum_{clicks}\mathrm{rank}(d\,|\,S)",
        r"\hat R_{IPS}(S)=\frac1N\sum_{clicks}\frac{\mathrm{rank}(d\,|\,S)}{p_r}",
        _propensities(settings),
    )


def _propensities(settings: Settings) -> str:
    """What the learner divides by, as a formula: a power law or the first ranks of a curve."""
    given = settings.assumed_curve[:FIRST_RANKS]
    if not given:
        return rf"p_r=(1/r)^{{\,{settings.assumed_eta:g}}}"
    ranks = [f"p_{rank}={value:.3g}" for rank, value in enumerate(given, start=1)]
    more = r",\;\ldots" if len(settings.assumed_curve) > len(given) else ""
    return r",\;".join(ranks) + more


def law_formula(settings: Settings, picture: RiskPicture) -> str:
    """The affine law of section 5.2, in symbols and with the current numbers."""
    plus, minus = f"{settings.eps_plus:g}", f"{settings.eps_minus:g}"
    return (
        r"\begin{aligned}"
        r"\mathbb E[\hat R_{IPS}]&=(\epsilon_+-\epsilon_-)\,R\\"
        r"&\quad+\epsilon_-\,\mathbb E\big[\tfrac{m(m+1)}2\big]\\"
        rf"&=({plus}-{minus})\,R+{picture.intercept:.2f}\\"
        rf"&={picture.slope:.2f}\,R+{picture.intercept:.2f}"
        r"\end{aligned}"
    )


def broken_assumptions(settings: Settings) -> dict[str, str]:
    """Which assumptions of the claims these settings break, and how, in words."""
    broken = {}
    if not settings.belief_is_right:
        broken[PROPENSITIES] = (
            f"{learner_believes(settings)} and {users_have(settings)}"
            if settings.curves
            else "η′ ≠ η"
        )
    if settings.curve or settings.eta:
        broken[NO_POSITION_BIAS] = "the given curve falls" if settings.curve else "η > 0"
    return broken


def law_condition(settings: Settings) -> str:
    """Whether the affine law applies to these settings, in words."""
    words = _WORDS.part("law")
    if settings.belief_is_right:
        return words.text("holds", same="" if settings.curve else " (η′ = η)")
    if settings.curves:
        return words.text(
            "other-curve", users=users_have(settings), learner=learner_believes(settings)
        )
    return words.text("other-exponent", users=settings.eta, learner=settings.assumed_eta)


def preference(picture: RiskPicture, estimates: EstimatedRisks) -> str:
    """Which of production and skyline an estimate takes for the better ranker, and the others."""
    names = {"production": "production", "skyline": "the skyline"}
    better, right = picture.preferred(estimates)
    (worse,) = names.keys() - {better}
    tau = estimates.kendall
    if right:
        others = ""
        if tau < MOST_RIGHT:
            others = f", but puts {'most' if tau < 0 else 'many'} other pairs in the wrong order"
        return f"It correctly prefers {names[better]} to {names[worse]}{others}."
    others = ", and puts most other pairs in the wrong order" if tau < 0 else ""
    return f"It wrongly prefers {names[better]} to {names[worse]}{others}."


def two_orders(picture: RiskPicture, comparison: Comparison) -> str:
    """Where one method orders the sixty rankers better and the other trains the better one."""
    excess = comparison.naive_excess
    if excess is None or excess.side == 0:
        return ""
    tau = {"naive": picture.naive.kendall, "weighted": picture.weighted.kendall}
    trained, other = ("weighted", "naive") if excess.side > 0 else ("naive", "weighted")
    if not tau[other] > tau[trained]:
        return ""
    words = _WORDS.part("two-orders")
    settings = comparison.settings
    order = words.text("better-order", other=other, better=tau[other], worse=tau[trained])
    if trained == "naive" and not settings.belief_is_right:
        why = words.text(
            "wrong-propensities", users=users_have(settings), learner=learner_believes(settings)
        )
    else:
        why = words.text("small-differences")
    return f"{order} {why}"


def at_rank_ten(settings: Settings, quantity: Quantity) -> str:
    """What stands at rank 10 in the picture of examination, for users and learner, in words."""
    words = _WORDS.part("rank-ten")
    seen, believed = (float(of(settings).at(LOW_RANK)) for of in (true_curve, assumed_curve))
    if quantity == "probability":
        return words.text("probability", rank=LOW_RANK, seen=seen, believed=believed)
    right = "that is correct" if settings.belief_is_right else f"**{1 / seen:,.4g}** is correct"
    return words.text("weight", rank=LOW_RANK, weight=1 / believed, right=right)


def sample_sentence(picture: RiskPicture) -> str:
    """How many query draws gave how many clicks, and what they are worth when weighted."""
    words = _WORDS.part("sample")
    worth, heaviest = picture.weighted.effective_sample_size, picture.weighted.largest_weight
    drawn = words.text(
        "drawn",
        draws=counted(picture.query_draws, "presentation"),
        clicks=counted(picture.clicks, "click"),
    )
    if picture.weights_alike:
        told = words.text("alike", weight=heaviest)
    else:
        told = words.text("unequal", worth=worth, heaviest=heaviest)
    without = picture.weighted.no_interval
    return f"{drawn} {told}" + (f" There is {without}." if without else "")
