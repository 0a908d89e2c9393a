"""Pictures of the proofs: what settles, what falls, the hinge under noise, and a results page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ultr_core.figures.axes import stable_range
from ultr_core.figures.end_labels import end_of_axis, name_layers, name_row, placed
from ultr_core.figures.figure import Figure
from ultr_core.figures.layers import (
    INTERVAL,
    Mark,
    along,
    bare_spec,
    by_method,
    readable_text,
    rows_of,
    tooltips,
    with_domains,
)
from ultr_core.figures.style import INKS, METHOD_STYLES, Theme
from ultr_core.proofs.monte_carlo import Convergence, Race
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.small_world import SmallWorld
from ultr_core.words import counted, with_minus

NAMES = {"naive": "naive", "propensity": "weighted 1/p", "clipped": "clipped"}
FloatArray = NDArray[np.float64]
REACH = 1.96
LEAST = 1e-12  # shown for an error of 0 on a logarithmic axis
_LOG = {"type": "log", "nice": False}
_LOG_X = {"tickCount": 5, "format": "~s", "labelOverlap": True}
_LOG_Y = {"tickCount": 4, "format": "~g", "labelOverlap": True}


def settling(
    users: NDArray[np.int64],
    mean: FloatArray,
    error: FloatArray,
    *,
    expected: float,
    claimed: float,
    theme: Theme = "light",
) -> Figure:
    """How an average over users converges: users, mean and its standard error, each [marks].

    ``expected`` is its limit, ``claimed`` the limit that the derivation gives; they differ when an
    assumption is broken.
    """
    low, high = mean - REACH * error, mean + REACH * error
    path = pd.DataFrame({"users": users, "mean": mean, "low": low, "high": high, "part": "path"})
    levels = [{"part": "expected", "level": expected, "name": f"converges to {expected:.3g}"}]
    if claimed != expected:
        levels.append({"part": "claimed", "level": claimed, "name": f"claimed {claimed:.3g}"})
    rows = pd.concat([path, pd.DataFrame(levels)], ignore_index=True)
    settled = mean[users >= min(5, users[-1])]
    y = stable_range(settled, include=[expected, claimed])
    spec = with_domains(_settling(theme), x=(1.0, float(max(users[-1], 10))), y=y)
    off = abs(mean[-1] - claimed) > REACH * error[-1] and claimed != expected
    alt_text = (
        f"After {counted(int(users[-1]), 'user')} the average is {mean[-1]:.3f}; it converges to "
        f"{expected:.3f}" + (f", not to the claimed {claimed:.3f}." if off else ".")
    )
    return Figure("settling", "The estimate as users arrive", alt_text, rows, spec, height=300)


@lru_cache(maxsize=4)
def _settling(theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    blue = METHOD_STYLES["propensity"].color
    x = along(alt.X, "Users so far (log scale)", _LOG, _LOG_X)("users")
    y = along(alt.Y, "Estimate", {"nice": False, "zero": False})
    path = rows_of("path")
    expected: Mark = {"color": ink.text, "strokeWidth": 2.5}
    claimed: Mark = {**expected, "color": METHOD_STYLES["naive"].color, "strokeDash": [7, 5]}
    layers = [
        path.mark_area(color=blue, opacity=0.22, clip=True).encode(x=x, y=y("low"), y2="high:Q"),
        rows_of("expected").mark_rule(**expected).encode(y=y("level")),
        rows_of("claimed").mark_rule(**claimed).encode(y=y("level")),
        path.mark_line(color=blue, strokeWidth=3, clip=True).encode(
            x=x,
            y=y("mean"),
            tooltip=tooltips(
                ("users:Q", "Users", ","), ("mean:Q", "Average"), *INTERVAL, format=".3f"
            ),
        ),
    ]
    # Their names are above the plot, where the average does not cross them.
    for part, up, look in (("expected", 14, expected), ("claimed", 34, claimed)):
        at = rows_of(part).encode(y=alt.value(-up))
        layers += [
            at.mark_rule(**look).encode(x=alt.value(0), x2=alt.value(26)),
            at.mark_text(align="left", color=ink.text).encode(x=alt.value(33), text="name:N"),
        ]
    return bare_spec(layers, ink)


def errors_fall(found: Convergence, *, theme: Theme = "light") -> Figure:
    """Error of the weighted risk by number of users, log-log, with the exact line and band."""
    rows = pd.DataFrame(
        {
            "users": found.users,
            "error": found.error,
            "exact": found.exact,
            "low": found.low,
            "high": found.high,
            "part": "point",
        }
    )
    y = (_power_below(found.low.min()), _power_above(found.high.max()))
    spec = with_domains(_errors(theme), x=(float(found.users[0]), float(found.users[-1])), y=y)
    slope = with_minus(f"{found.slope:.3f}")
    predicted = (
        "and −0.5 is predicted"
        if found.is_unbiased
        else "because a bias remains; without it, −0.5 would be predicted"
    )
    alt_text = (
        f"The error changes from {found.error[0]:.3g} to {found.error[-1]:.3g}; its slope on "
        f"logarithmic axes is {slope}, {predicted}."
    )
    title = "Error against the number of users"
    return Figure("errors-fall", title, alt_text, rows, spec, height=300)


@lru_cache(maxsize=4)
def _errors(theme: Theme) -> dict[str, Any]:
    ink, blue = INKS[theme], METHOD_STYLES["propensity"].color
    x = along(alt.X, "Users N (log scale)", _LOG, _LOG_X)("users")
    y = along(alt.Y, "Error (log scale)", {**_LOG, "clamp": True}, _LOG_Y)
    point = rows_of("point")
    layers = [
        point.mark_area(color=blue, opacity=0.22).encode(x=x, y=y("low"), y2="high:Q"),
        point.mark_line(color=ink.text, strokeWidth=2).encode(x=x, y=y("exact")),
        point.mark_point(color=blue, filled=True, size=80, opacity=1).encode(
            x=x,
            y=y("error"),
            tooltip=tooltips(
                ("users:Q", "Users", ","),
                ("error:Q", "Observed error", ".3g"),
                ("exact:Q", "Predicted error", ".3g"),
            ),
        ),
    ]
    return bare_spec(layers, ink)


def race_figure(found: Race, *, theme: Theme = "light") -> Figure:
    """Mean squared error of three estimators by number of clicks: predicted and simulated."""
    clicks = found.users * found.clicks_per_user
    parts = []
    for name, exact in found.exact.items():
        parts.append(
            pd.DataFrame(
                {
                    "clicks": clicks,
                    "users": found.users,
                    "exact": np.maximum(exact, LEAST),
                    "seen": np.maximum(found.seen[name], LEAST),
                    "method": name,
                    "name": NAMES[name],
                    "part": "curve",
                }
            )
        )
    ends = {NAMES[name]: max(float(exact[-1]), LEAST) for name, exact in found.exact.items()}
    names = [name_row(name, NAMES[name], clicks[-1], ends[NAMES[name]]) for name in found.exact]
    parts.append(pd.DataFrame(names))
    if found.predicted is not None:
        at = found.predicted * found.clicks_per_user
        words = f"weighting wins after {counted(math.ceil(at), 'click')}"
        parts.append(pd.DataFrame([{"part": "crossing", "clicks": at, "name": words}]))
    rows = pd.concat(parts, ignore_index=True)
    curves = rows[rows["part"] == "curve"]
    values = curves["exact"][curves["exact"] > LEAST]
    # Without bias, noise and chance there is no error at all.
    y = (_power_below(values.min()), _power_above(values.max())) if len(values) else (0.1, 10.0)
    spec = with_domains(_race(theme), x=(float(clicks[0]), float(clicks[-1])), y=y)
    spec = placed(spec, ends, *y, log=True)
    return Figure("race", "When each estimate is better", _race_words(found), rows, spec, 340)


def _race_words(found: Race) -> str:
    if found.predicted is None:
        return "The error of the weighted estimate never falls below that of the naive estimate."
    seen = "" if found.observed is None else f", seen at {math.ceil(found.observed):,}"
    return (
        f"The error of the weighted estimate falls below that of the naive estimate after "
        f"{counted(math.ceil(found.predicted), 'user')}{seen}."
    )


@lru_cache(maxsize=4)
def _race(theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    styles = {method: METHOD_STYLES[method] for method in NAMES}
    color, shape = by_method(alt.Color, "color", styles), by_method(alt.Shape, "shape", styles)
    x_of = along(alt.X, "Clicks (log scale)", {**_LOG, "range": [0, end_of_axis()]}, _LOG_X)
    x = x_of("clicks")
    y = along(alt.Y, "Mean squared error (log scale)", {**_LOG, "clamp": True}, _LOG_Y)
    curve = rows_of("curve")
    crossing = rows_of("crossing")
    tooltip = tooltips(
        ("name:N", "Estimate"),
        ("clicks:Q", "Clicks", ",.3g"),
        ("seen:Q", "Observed error", ".3g"),
        ("exact:Q", "Predicted error", ".3g"),
    )
    layers = [
        crossing.mark_rule(color=ink.text, strokeDash=[5, 4], strokeWidth=2).encode(x=x),
        curve.mark_line(strokeWidth=2.5).encode(x=x, y=y("exact"), color=color),
        curve.mark_point(filled=True, size=60, opacity=1, clip=True).encode(
            x=x, y=y("seen"), color=color, shape=shape, tooltip=tooltip
        ),
        *readable_text(crossing.encode(x=x, y=alt.value(14)), ink, "name:N", dx=8),
        *name_layers(
            x_of("x"), y("y"), color, shape=shape, fill=by_method(alt.Fill, "color", styles)
        ),
    ]
    return bare_spec(layers, ink)


def noisy_hinge_curve(
    world: SmallWorld, gaps: Sequence[Fraction], *, theme: Theme = "light"
) -> Figure:
    """Hinge loss of S_1 by score gap between neighbours: with noise, and if noise were a constant.

    With noise it is (eps+ - eps-) clean + eps- sum over pairs of max(2, 1 + score gap); for ranks
    the last sum would be the constant m (m - 1), and the loss with that constant is drawn dashed.
    """
    size = world.query.size
    slope, noise = float(world.eps_plus - world.eps_minus), float(world.eps_minus)
    relevant = np.array(world.query.relevance, dtype=bool)
    below = size - np.array(world.query.new, dtype=np.float64)
    records = []
    for gap in gaps:
        difference = float(gap) * (below[:, None] - below)
        hinge = np.maximum(0.0, 1.0 - difference)
        np.fill_diagonal(hinge, 0.0)
        clean = slope * hinge[relevant].sum()
        pairs = np.maximum(2.0, 1.0 + np.abs(difference))[np.triu_indices(size, k=1)].sum()
        records.append(
            {
                "part": "gap",
                "gap": float(gap),
                "noisy": clean + noise * pairs,
                "constant": clean + noise * size * (size - 1),
                "named": gap == gaps[len(gaps) // 2],
            }
        )
    rows = pd.DataFrame(records)
    y = stable_range(rows[["noisy", "constant"]].to_numpy(), include=[0.0])
    spec = with_domains(_hinge(theme), x=(0.0, float(gaps[-1])), y=y)
    noisy, constant = (_lowest(rows, field) for field in ("noisy", "constant"))
    alt_text = (
        f"The hinge loss with noise is smallest at a score gap of {noisy:.2g}, as it would be if "
        "noise were a constant."
        if noisy == constant
        else f"Noise moves the minimum of the hinge loss from a score gap of {constant:.2g} to "
        f"{noisy:.2g}."
    )
    return Figure("noisy-hinge", "Hinge loss under click noise", alt_text, rows, spec, height=300)


def _lowest(rows: pd.DataFrame, field: str) -> float:
    """The gap at which a curve is lowest, the first one if there are several."""
    values = rows[field].to_numpy().round(9)
    return float(rows["gap"].to_numpy()[int(values.argmin())])


@lru_cache(maxsize=4)
def _hinge(theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    blue, orange = METHOD_STYLES["propensity"].color, METHOD_STYLES["naive"].color
    x = along(alt.X, "Gap between neighbouring scores", {"nice": False})("gap")
    y = along(alt.Y, "Expected hinge loss", {"nice": False})
    gap = rows_of("gap")
    named = gap.transform_filter(alt.datum.named)
    layers = [
        gap.mark_area(color=orange, opacity=0.15).encode(x=x, y=y("constant"), y2="noisy:Q"),
        gap.mark_line(color=blue, strokeWidth=2.5, strokeDash=[7, 5]).encode(x=x, y=y("constant")),
        gap.mark_line(color=orange, strokeWidth=3).encode(x=x, y=y("noisy")),
        named.mark_text(align="right", dx=-4, dy=-14, color=ink.text).encode(
            x=x, y=y("noisy"), text=alt.value("with noise")
        ),
        named.mark_text(align="left", dx=6, dy=20, color=ink.text).encode(
            x=x, y=y("constant"), text=alt.value("if noise were a constant")
        ),
    ]
    return bare_spec(layers, ink)


def _power_below(value: float) -> float:
    return float(10.0 ** np.floor(np.log10(max(value, 1e-9))))


def _power_above(value: float) -> float:
    return float(10.0 ** np.ceil(np.log10(max(value, 1e-9))))


TITLES = (
    "the planet nearest the Sun", "the element Hg", "the Roman god", "Freddie, the singer",
    "NASA's Project Mercury", "in old thermometers", "the car maker", "poisoning by fish",
    "the record label", "the music prize", "in retrograde", "the theatre in Colchester",
    "in barometers", "its orbit and Einstein", "street lamps", "a bay in New Zealand",
)  # fmt: skip
"""Results for the ambiguous query “mercury”: what is relevant depends on who asks."""

ROW_HEIGHT = 36


def results_page(
    world: SmallWorld,
    *,
    looked: NDArray[np.bool_] | None = None,
    clicked: NDArray[np.bool_] | None = None,
    reached: int | None = None,
    theme: Theme = "light",
) -> Figure:
    """The presented ranking of a small world; the more a rank is examined, the darker its row.

    ``looked`` and ``clicked``, bool [documents], are one user's events; ``reached`` is the last
    rank for which to show them (None: all). Without events, each row shows its propensity.
    """
    query, size = world.query, world.query.size
    last = size if reached is None else reached
    records = []
    for rank, document in enumerate(query.shown, start=1):
        seen = float(world.users.look[document])
        event = "waiting"
        if looked is not None and clicked is not None and rank <= last:
            event = "clicked" if clicked[document] else "seen" if looked[document] else "unseen"
        records.append(
            {
                "part": "row",
                "rank": rank,
                "name": f"{rank}   {LETTERS[document]}  {TITLES[document]}",
                "seen": seen,
                "relevant": "★" if query.relevance[document] else "",
                "event": event,
                "note": _note(world, document, event, plain=looked is None),
            }
        )
    rows = pd.DataFrame(records)
    if looked is None:
        alt_text = (
            f"Results page with {size} results; rank 1 is always seen, the last result with "
            f"probability {records[-1]['seen']:.2f}. Stars mark relevant documents."
        )
    else:
        clicks = [LETTERS[d] for d in query.shown[:last] if clicked is not None and clicked[d]]
        alt_text = f"One user on the results page, down to rank {last}; clicked: " + (
            ", ".join(clicks) or "nothing"
        )
    name = "results-page" if looked is None else "one-user"
    return Figure(
        name, "Results for “mercury”", alt_text, rows, _page(size, theme),
        height=ROW_HEIGHT * size,
    )  # fmt: skip


def _note(world: SmallWorld, document: int, event: str, *, plain: bool) -> str:
    inverse = world.inverse[document]
    weight = f"{float(inverse):.3g}" if inverse else "–"
    if plain:
        p = world.users.look[document]
        return f"p = {float(p):.2g}, weight {weight}"
    return {
        "clicked": f"CLICK, weight {weight}",
        "seen": "looked",
        "unseen": "not seen",
    }.get(event, "")


@lru_cache(maxsize=32)
def _page(size: int, theme: Theme) -> dict[str, Any]:
    ink = INKS[theme]
    blue, orange = METHOD_STYLES["propensity"].color, METHOD_STYLES["naive"].color
    rank = alt.Y("rank:O", axis=None, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.05))
    row = rows_of("row")
    seen = alt.Opacity(
        "seen:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.04, 0.42], clamp=True)
    )
    full = {"x": alt.value(0), "x2": alt.value("width")}
    layers = [
        row.mark_bar(color=blue, cornerRadius=4).encode(y=rank, opacity=seen, **full),
        row.transform_filter(alt.datum.event == "clicked")
        .mark_bar(filled=False, stroke=orange, strokeWidth=3, cornerRadius=4)
        .encode(y=rank, **full),
        row.mark_text(align="left", color=ink.text).encode(y=rank, x=alt.value(30), text="name:N"),
        row.mark_text(align="center", color=ink.text, fontSize=18).encode(
            y=rank, x=alt.value(15), text="relevant:N"
        ),
        row.mark_text(align="right", color=ink.text, dx=-8).encode(
            y=rank, x=alt.value("width"), text="note:N"
        ),
    ]
    return bare_spec(layers, ink)
