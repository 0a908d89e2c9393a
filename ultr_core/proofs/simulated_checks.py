"""Claims about the small query that simulated users confirm: levels, and how fast errors fall."""

from __future__ import annotations

from ultr_core.errors import InputError
from ultr_core.findings import Finding
from ultr_core.proofs.check import PROPENSITIES, Evidence, proof
from ultr_core.proofs.derivations.section_7 import CLICK_WEIGHTS
from ultr_core.proofs.monte_carlo import draw_users
from ultr_core.proofs.simulation import convergence, log_grid
from ultr_core.proofs.small_checks import (
    POSITIVE_RELEVANT,
    curve_is_right,
    small_world,
)
from ultr_core.proofs.users import times

SEED = 0
USERS = 20_000
MOST_STANDARD_ERRORS = 6.0
"""Reached by one normal estimate in 500 million."""

USERS_OF_SLOPE = log_grid(1_000, 100_000, 9)
REPETITIONS = 400
SLOPE_TOLERANCE = 0.03
"""Each error is known to 1/sqrt(2 · 400) = 3.5%, which makes the slope's standard error 0.008
over a factor of 100 in users; the tolerance is about four of them."""


@proof(
    name="small-simulation",
    title="Simulated users of the small query follow the exact numbers",
    section="4, 5, 7.2",
    statement="Naive, weighted and clipped losses of two rankings, averaged over 20,000 simulated "
    "users, lie within the reach of chance of their exact expectations.",
    formula=r"\frac1N\sum_{i=1}^N\hat\Delta_i\;\to\;\sum_d\mathrm{rank}(d|S)\,\frac{\pi_d}{q_d}",
    assumes=("independent users",),
    fails_when="the simulation and the enumeration describe different users.",
)
def small_simulation(evidence: Evidence) -> Finding:
    """The largest distance from the expectation, in standard errors."""
    world = small_world(evidence)
    tally = draw_users(world, USERS, SEED).noisy
    worst = 0.0
    for ranking in (world.query.new, world.query.other):
        for estimator in CLICK_WEIGHTS:
            values = times(ranking, CLICK_WEIGHTS[estimator](world))
            found, exact = tally.mean(values), float(world.users.mean(values))
            distance = abs(found.value - exact)
            # Without chance the estimate is exact, up to rounding.
            error = max(found.standard_error, 1e-9 * max(exact, 1.0))
            worst = max(worst, distance / error)
    return Finding(
        f"Over {USERS:,} users the farthest of {2 * len(CLICK_WEIGHTS)} averages is {worst:.2f} "
        "standard errors from its expectation.",
        worst,
        tolerance=MOST_STANDARD_ERRORS,
        details=(("users", f"{USERS:,}"), ("seed", str(SEED))),
    )


@proof(
    name="errors-fall",
    title="Errors fall as 1/√N",
    section="4",
    statement="On logarithmic axes the error of the weighted risk falls with slope −1/2 in the "
    "number of users.",
    formula=r"\sqrt{\mathbb E[(\hat R_{IPS}-R)^2]}=\sqrt{\mathrm{Var}[\hat\Delta_{IPS}]/N}",
    assumes=(PROPENSITIES, POSITIVE_RELEVANT, "independent users"),
    fails_when="the estimate has a bias, which no number of users removes.",
)
def errors_fall(evidence: Evidence) -> Finding:
    """Least-squares slope of the simulated errors of the small query, without noise."""
    world = small_world(evidence)
    try:
        found = convergence(world, seed=SEED, users=USERS_OF_SLOPE, repetitions=REPETITIONS)
    except InputError as error:
        if curve_is_right(world):
            return Finding(f"{error} Its error is 0 from the first user on.", 0.0)
        return Finding(
            f"{error} All of its error is bias.",
            0.0,
            "=",
            -0.5,
            SLOPE_TOLERANCE,
            should_hold=False,
        )
    return Finding(
        f"From {USERS_OF_SLOPE[0]:,} to {USERS_OF_SLOPE[-1]:,} users the error falls from "
        f"{found.error[0]:.3g} to {found.error[-1]:.3g}, a slope of {found.slope:.3f}.",
        found.slope,
        "=",
        -0.5,
        SLOPE_TOLERANCE,
        should_hold=curve_is_right(world),
        details=(("repetitions", str(REPETITIONS)), ("seed", str(SEED))),
    )


PROOFS = (small_simulation, errors_fall)
"""The proofs of this module, in the order in which they are shown."""
