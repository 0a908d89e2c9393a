"""Section 7.2: clipping, and when weighting overtakes the naive estimate."""

from __future__ import annotations

from fractions import Fraction

from ultr_core.proofs.monte_carlo import Errors, crossing, difference_errors
from ultr_core.proofs.proof import (
    BIASED,
    CONSTANT_NOISE,
    INDEPENDENT,
    POSITIVE,
    PROPENSITIES,
    WRONG_USERS,
    derivation,
)
from ultr_core.proofs.users import ZERO, dot, spread, times
from ultr_core.proofs.walk import Value, Walk, Ways, Writer


@derivation(
    "clipped-moments",
    section="7.2",
    formula=r"\mathrm{bias}=\sum_d\mathrm{rank}(d|S)\Big(\tfrac{q_d}{\max(\tau,q_d)}-1\Big)"
    r"(\epsilon_+r+\epsilon_-(1-r))\le0",
    assumes=(PROPENSITIES, CONSTANT_NOISE, INDEPENDENT),
    breaks=("wrong-curve", "trust", *WRONG_USERS),
)
def clipped(ways: Ways) -> Walk:
    """Bias and variance of the clipped estimator."""
    world, write = ways.world, Writer(ways)
    query, q = world.query, world.propensity
    weight = world.click_weights["clipped"]
    values = times(query.new, weight)
    model = times(q, world.constant_noise)
    change = [w - inverse for w, inverse in zip(weight, world.inverse, strict=True)]
    write.line(
        r"\mathbb E\Big[\sum_{d:\,c(d)=1}\frac{\mathrm{rank}(d|S)}{\max(\tau,q_d)}\Big]",
        f"The mean of the clipped loss at τ = {world.clip}.",
        ways.mean(values),
        "",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\,\frac{q_d}{\max(\tau,q_d)}\,(\epsilon_+r+\epsilon_-(1-r))",
        "Documents whose propensity is below τ count less than once.",
        dot(values, model),
        assumes="true propensities and constant noise",
    )
    write.line(
        r"\mathbb E[\hat\Delta_{CIPS}]-\mathbb E[\hat\Delta_{IPS}]",
        "The bias from clipping.",
        ways.mean(times(query.new, change)),
        "",
    )
    write.line(
        r"\sum_d\mathrm{rank}(d|S)\Big(\frac{q_d}{\max(\tau,q_d)}-1\Big)(\epsilon_+r+\epsilon_-(1-r))",
        "In closed form.",
        dot(times(query.new, change), model),
        assumes="true propensities and constant noise",
    )
    write.line(r"0", "It is never positive: clipping makes every loss look smaller.", ZERO, "≤")
    write.line(
        r"\mathrm{Var}[\hat\Delta_{CIPS}]",
        "The gain: a smaller variance of one user's loss. Unclipped, it is "
        f"{float(world.users.variance(times(query.new, world.inverse))):.4g}.",
        ways.variance(values),
        "",
    )
    write.line(
        r"\sum_d\frac{\mathrm{rank}(d|S)^2}{\max(\tau,q_d)^2}\,\pi_d(1-\pi_d)",
        "In closed form, with π = q(ε₊ r + ε₋(1 − r)).",
        spread(model, values),
        assumes="independent clicks, true propensities and constant noise",
    )
    return write.walk()


@derivation(
    "overtaking",
    section="7.2",
    formula=r"N^*=\frac{V_{IPS}-V_{naive}}{b_{naive}^2-b_{IPS}^2}",
    assumes=(PROPENSITIES, POSITIVE, CONSTANT_NOISE),
    breaks=BIASED,
)
def overtaking(ways: Ways) -> Walk:
    """Bias, variance and mean squared error of three estimators of R(S_1) - R(S_2)."""
    world, write = ways.world, Writer(ways)
    delta = world.query.difference
    errors = difference_errors(world)
    target = dot(world.constant_noise, delta)
    weighted = times(delta, world.inverse)
    write.line(
        r"\mathbb E[\hat R_{IPS}(S_1)-\hat R_{IPS}(S_2)]",
        "The limit of the weighted estimate of the difference.",
        ways.mean(weighted),
        "",
    )
    write.line(
        r"(\epsilon_+-\epsilon_-)\,(R(S_1)-R(S_2))",
        "The true difference, scaled by the noise: IPS has no bias.",
        target,
        assumes="all assumptions of section 5.2",
    )
    naive_values = [Fraction(d) for d in delta]
    write.line(
        r"b_{naive}=\mathbb E[\hat R_{naive}(S_1)-\hat R_{naive}(S_2)]"
        r"-(\epsilon_+-\epsilon_-)(R(S_1)-R(S_2))",
        "The bias of the naive estimate, which no number of clicks removes.",
        ways.mean(naive_values).less(target),
        "",
    )
    for estimator, name in (("naive", "naive"), ("propensity", "IPS"), ("clipped", "CIPS")):
        values = times(delta, world.click_weights[estimator])
        write.line(
            rf"V_{{{name}}}=\mathrm{{Var}}[\hat R_{{{name}}}(S_1)-\hat R_{{{name}}}(S_2)]",
            "The variance of one user's contribution.",
            ways.variance(values),
            "",
        )
    _write_crossing(ways, write, errors)
    return write.walk()


def _write_crossing(ways: Ways, write: Writer, errors: dict[str, Errors]) -> None:
    users = crossing(errors["naive"], errors["propensity"])
    if users is None:
        write.notes.append(
            "The weighted estimate never overtakes the naive estimate in this world, or is ahead "
            "from the first user."
        )
        return
    per_user = ways.world.users.clicks_per_user
    write.line(
        r"N^*=\frac{V_{IPS}-V_{naive}}{b_{naive}^2-b_{IPS}^2}",
        f"With more users than this, or more than {float(users * per_user):.3g} clicks (at "
        f"{float(per_user):.3g} clicks per user), weighting has the smaller error.",
        Value(users, _enumerated_crossing(ways)),
        "",
    )
    write.line(
        r"b_{naive}^2+V_{naive}/N^*",
        "Mean squared error of the naive estimate after that many users.",
        errors["naive"].mean_squared(users),
        "",
    )
    write.line(
        r"b_{IPS}^2+V_{IPS}/N^*",
        "The weighted estimate has the same mean squared error.",
        errors["propensity"].mean_squared(users),
    )


def _enumerated_crossing(ways: Ways) -> Fraction | None:
    law = ways.law()
    if law is None:
        return None
    delta = ways.world.query.difference
    target = dot(ways.world.constant_noise, delta)
    found = []
    for estimator in ("naive", "propensity"):
        values = times(delta, ways.world.click_weights[estimator])
        found.append(Errors(law.mean(values) - target, law.variance(values)))
    return crossing(found[0], found[1])
