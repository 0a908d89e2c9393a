"""Claims read from the long runs: endless clicks, clipping, engines, the gate, trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import NormalDist
from types import MappingProxyType

import numpy as np

from ultr_core.claims.common import (
    MORE_CLICKS,
    Measure,
    Sizes,
    by_corpus,
    long_runs,
    of_runs,
    sizes_of,
)
from ultr_core.claims.gate_runs import ALONE, AT_MOST, CANDIDATES, SHARED
from ultr_core.claims.long_runs import SMOOTHINGS, TREE_CLICKS, Row
from ultr_core.corpus import DEFAULT_SHAPE
from ultr_core.findings import Finding, all_of, compared
from ultr_core.lab import Lab
from ultr_core.lab.live import PAPER_CLICKS
from ultr_core.own_data.deployment import PROMISE
from ultr_core.risk import Estimate, interval_over_draws
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.risk.sign_test import SignTest, sign_test
from ultr_core.studies.claims import FLAT
from ultr_core.words import counted

NEAR = 0.05
"""Share of the gap from production to skyline within which a limit counts as the skyline."""

FAMILY = 0.05
"""Chance that any of the settings of the search for clipping looks better and is not."""

RANGE = (0.025, 0.975)
"""Quantiles of the runs between which a number counts as one that a run may give."""


def _left(rows: Sequence[Row]) -> Estimate:
    """Share of the gap from production to skyline that is left, with its interval over corpora."""
    return by_corpus(
        [
            (
                int(row["corpus"]),
                (row["weighted"] - row["skyline"]) / (row["production"] - row["skyline"]),
            )
            for row in rows
        ]
    )


def _share(found: Estimate) -> str:
    value, low, high = (
        round(end, 3) + 0.0 for end in (found.value, found.low, found.high)
    )  # no -0
    return f"{value:.1%} [{low:.1%}, {high:.1%}]"


def clean_limit(lab: Lab) -> Finding:
    """The remaining gap to the skyline without noise, for rising numbers of clicks."""
    runs = long_runs(lab)
    clean = [row for row in runs.tables["growing"] if row["eps_minus"] == 0]
    grid = sorted({int(row["clicks"]) for row in clean})
    left = {n: _left([row for row in clean if row["clicks"] == n]) for n in grid}
    first, last = left[grid[0]], left[grid[-1]]
    falls = compared(first.low - last.high, ">")
    near = compared(last.value, "<", NEAR, interval=(last.low, last.high))
    listed = ", ".join(f"{_share(found)} after {n:,}" for n, found in left.items())
    return Finding(
        f"Remaining share of the gap from production to skyline, with 95% intervals over corpora: "
        f"{listed} clicks; ε₋ = 0.",
        last.value,
        "<",
        NEAR,
        interval=(last.low, last.high),
        decided=all_of((falls, near)),
        reason=f"{runs.source} Holds if the remaining gap shrinks and ends below {NEAR:.0%}.",
    )


def noisy_limit(lab: Lab) -> Finding:
    """The remaining gap to the skyline with noise and infinitely many clicks."""
    runs = long_runs(lab)
    endless = [row for row in runs.tables["endless"] if row["eps_minus"] != 0]
    left = _left(endless)
    behind = sum(row["weighted"] > row["skyline"] for row in endless)
    return Finding(
        "Trained on the expected weights of infinitely many clicks, at ε₋ = "
        f"{endless[0]['eps_minus']:g}, the weighted ranker is behind the skyline on "
        f"{behind} of {counted(len(endless), 'corpus', 'corpora')}, on average by "
        f"{left.value:.1%} of the gap (95% interval over corpora {left.low:.1%} to "
        f"{left.high:.1%}).",
        left.value,
        ">",
        interval=(left.low, left.high),
        reason=f"{runs.source} The paper's theorem is about minimising ranks (equation 6); the SVM "
        "minimises a bound on them, and noise moves the minimum of that bound.",
    )


def clipping_can_help(lab: Lab) -> Finding:
    """Largest gain of a fixed threshold over no clipping in the settings that were searched."""
    runs = long_runs(lab)
    rows = runs.tables["clipping"]
    places = sorted({(int(row["clicks"]), row["assumed_eta"]) for row in rows})
    thresholds = [key for key in rows[0] if key.startswith("0.")]
    found = {
        (clicks, eta, clip): _gain(rows, clicks, eta, clip)
        for clicks, eta in places
        for clip in thresholds
    }
    # Of all settings together: each interval is as wide as it takes for FAMILY over all of them.
    wide = NormalDist().inv_cdf(1 - FAMILY / 2 / len(found)) / NORMAL_QUANTILE
    lows = {place: gain.value - wide * (gain.value - gain.low) for place, gain in found.items()}
    best = max(lows, key=lambda place: lows[place])
    clicks, eta, clip = best
    helped = sorted({place[:2] for place, low in lows.items() if low > 0})
    listed = "; ".join(f"n = {n:,} at η′ = {assumed:g}" for n, assumed in helped) or "nowhere"
    high = found[best].value + wide * (found[best].value - found[best].low)
    return Finding(
        f"A fixed τ is better than no clipping in {len(helped)} of {len(places)} settings: "
        f"{listed}. The clearest gain is at n = {clicks:,}, η′ = {eta:g} and τ = {clip}: "
        f"{found[best].value:.2f}, 95% interval {lows[best]:.2f} to {high:.2f}.",
        found[best].value,
        ">",
        interval=(lows[best], high),
        reason=f"{runs.source} Intervals cover all {len(found)} comparisons jointly; in the other "
        f"{len(places) - len(helped)} settings no gain was found.",
    )


def _gain(rows: Sequence[Row], clicks: int, eta: float, clip: str) -> Estimate:
    return interval_over_draws(
        [
            row["0"] - row[clip]
            for row in rows
            if row["clicks"] == clicks and row["assumed_eta"] == eta
        ]
    )


def _wins(row: Row, opponent: str) -> tuple[int, int]:
    return int(row[f"{opponent}_wins"]), int(row[f"{opponent}_losses"])


def _win_share(row: Row, opponent: str) -> float:
    wins, losses = _wins(row, opponent)
    return wins / (wins + losses)


def contests(opponent: str, clicks: int, lab: Lab) -> Finding:
    """Win share of the weighted ranker over simulated engines, as a distribution over runs."""
    runs = long_runs(lab)
    rows = [row for row in runs.tables["live"] if row["clicks"] == clicks]
    shares = [_win_share(row, opponent) for row in rows]
    low, high = (float(end) for end in np.quantile(shares, RANGE))
    z = [
        (wins - losses) / (wins + losses) ** 0.5
        for wins, losses in (_wins(r, opponent) for r in rows)
    ]
    ahead, behind = (sum(sign * one > NORMAL_QUANTILE for one in z) for sign in (1, -1))
    corpora = len({row["corpus"] for row in rows})
    outcome = compared(float(np.mean(shares)), ">", 0.5, interval=(low, high))
    return Finding(
        f"With {clicks:,} clicks on {len(rows)} simulated engines ({corpora} corpora), the win "
        f"share is {np.mean(shares):.1%} on average, and the middle 95% of the shares range from "
        f"{low:.1%} to {high:.1%}; significant wins: {ahead}, significant losses: {behind}.",
        float(np.mean(shares)),
        ">",
        0.5,
        interval=(low, high),
        decided=outcome,
        quantity="win share",
        reason=f"{'Some engines favour the other ranker. ' if outcome == 'open' else ''}"
        f"{runs.source} Users follow the position model, and 10,000 queries are interleaved.",
    )


def more_clicks_more_wins(lab: Lab) -> Finding:
    """How much the win share against the naive ranker grows from the paper's clicks to the most."""
    runs = long_runs(lab)
    rows = runs.tables["live"]
    grid = sorted({int(row["clicks"]) for row in rows})
    shares = {
        n: {
            (int(row["corpus"]), int(row["seed"])): _win_share(row, "naive")
            for row in rows
            if row["clicks"] == n
        }
        for n in grid
    }
    gains = by_corpus(
        [(run[0], shares[grid[-1]][run] - share) for run, share in shares[grid[0]].items()]
    )
    listed = ", ".join(
        f"{np.mean(list(found.values())):.1%} at {n:,}" for n, found in shares.items()
    )
    return Finding(
        f"Win share against the naive ranker, by clicks: {listed}. From the fewest clicks to the "
        f"most, the share grows by {100 * gains.value:.1f} percentage points (95% interval over "
        f"corpora {100 * gains.low:.1f} to {100 * gains.high:.1f}).",
        gains.value,
        ">",
        interval=(gains.low, gains.high),
        reason=runs.source,
    )


def no_manual_choice(lab: Lab) -> Finding:
    """How far the smoothing weight, which is set by hand, moves the risk of one experiment.

    |R(half) - R(none)| on the same clicks and swaps, as a share of the gap from production to
    skyline.
    """
    runs = long_runs(lab)
    rows = runs.tables["smoothing"]
    gaps = {row["corpus"]: row["production"] - row["skyline"] for row in runs.tables["endless"]}
    none, half = (f"risk {weight:g}" for weight in SMOOTHINGS)
    moved = by_corpus(
        [(int(row["corpus"]), abs(row[half] - row[none]) / gaps[row["corpus"]]) for row in rows]
    )
    smallest = " and ".join(
        f"{np.mean([row[f'smallest {w:g}'] for row in rows]):.3f} with weight {w:g}"
        for w in SMOOTHINGS
    )
    worse = sum(row[half] > row[none] for row in rows)
    return Finding(
        f"With {rows[0]['clicks']:,} clicks on {len(rows)} simulated engines ({len(gaps)} "
        f"corpora), the smallest propensity is {smallest}, on average. Smoothing changes the test "
        f"risk by {_share(moved)} of the gap between production and skyline (95% interval "
        f"over corpora in brackets); the risk is higher on {worse} engines.",
        moved.value,
        "<",
        FLAT,
        interval=(moved.low, moved.high),
        quantity="change in test risk (share of the gap from production to skyline)",
        reason="Section 7.6 describes smoothing by interpolation with click rates, which are "
        f"biased by relevance; the weight is chosen by hand. {runs.source}",
    )


MOST_MISSED = 0.065
"""Share of logs in which the gate's bound may be too low: the 5% promised, and what approximation
may add."""


_RANKERS = {
    "skyline": "the skyline",
    "production reversed": "production reversed",
    AT_MOST: "a ranker a little worse than production",
}
"""Rankers that were not chosen on the clicks that judge them, by their name in the table."""


def _share_of(row: Row, name: str) -> SignTest:
    """The share of a cell's logs in which this happened, with its exact 95% interval."""
    logs = int(row["logs"])
    happened = round(row[name] * logs)
    return sign_test(happened, logs - happened)


def _gate_at(row: Row) -> str:
    return f"{row['clicks']:,.0f} clicks at ε₋ = {row['eps_minus']:g}"


def gate_keeps_its_promise(lab: Lab) -> Finding:
    """The highest share of logs in which the bound of a ranker is below the true difference."""
    runs = long_runs(lab)
    found = {
        (name, _gate_at(row)): _share_of(row, f"missed, {name}")
        for row in runs.tables["gate"]
        for name in _RANKERS
    }
    worst = max(found, key=lambda place: found[place].win_share)
    least = min(one.win_share for one in found.values())
    share, (name, at) = found[worst], worst
    logs = int(runs.tables["gate"][0]["logs"])
    return Finding(
        f"In {len(found)} sets of {logs:,} logs, the bound is too low "
        f"in {least:.1%} to {share.win_share:.1%} of logs. The highest share, with an exact 95% "
        f"interval of {share.low:.1%} to {share.high:.1%}, is that of {_RANKERS[name]} with {at}.",
        share.win_share,
        "<",
        MOST_MISSED,
        interval=(share.low, share.high),
        reason=f"{runs.source} For the {CANDIDATES} rankers a little worse than production, "
        "only the highest share at each number of clicks is used.",
    )


def gate_of_candidates(lab: Lab) -> Finding:
    """The highest share of logs in which the best of many rankers passes, though all are worse."""
    runs = long_runs(lab)
    rows = runs.tables["gate"]
    found = {_gate_at(row): _share_of(row, f"passed, {SHARED}") for row in rows}
    worst = max(found, key=lambda at: found[at].win_share)
    alone = [row[f"passed, {ALONE}"] for row in rows]
    share, logs = found[worst], int(rows[0]["logs"])
    return Finding(
        f"In {len(rows)} sets of {logs:,} logs, the best of {CANDIDATES} rankers passes "
        f"in at most {share.win_share:.1%} of a set's logs (with {worst}; exact 95% interval "
        f"{share.low:.1%} to {share.high:.1%}); if the gate does not know about the others, the "
        f"best passes in {min(alone):.1%} to {max(alone):.1%}.",
        share.win_share,
        "<",
        PROMISE,
        interval=(share.low, share.high),
        reason=runs.source,
    )


def trees_win(clicks: int, other: str, lab: Lab) -> Finding:
    """By how much of the gap trees on weighted clicks beat another ranker, over corpora."""
    runs = long_runs(lab)
    rows = [row for row in runs.tables["trees"] if row["clicks"] == clicks]
    ahead = by_corpus(
        [
            (int(row["corpus"]), (row[other] - row["trees"]) / (row["production"] - row["skyline"]))
            for row in rows
        ]
    )
    wins = sum(row["trees"] < row[other] for row in rows)
    return Finding(
        f"With {clicks:,} clicks, trees have a lower test risk than {_LINEAR[other]} on {wins} of "
        f"{counted(len(rows), 'corpus', 'corpora')}, on average by {_share(ahead)} of the gap "
        "between production and skyline (95% interval over corpora in brackets).",
        ahead.value,
        ">",
        interval=(ahead.low, ahead.high),
        quantity="difference in test risk (share of the gap from production to skyline)",
        reason=f"{runs.source} In these corpora no linear ranker captures all of relevance.",
    )


_LINEAR = {"skyline": "the linear skyline", "clipped": "the clipped linear ranker"}


def _sizes_of_gate(lab: Lab) -> Sizes:
    rows = long_runs(lab).tables["gate"]
    clicks = [int(row["clicks"]) for row in rows]
    return sizes_of((min(clicks), max(clicks)), DEFAULT_SHAPE.train_queries, int(rows[0]["logs"]))


SIZES: Mapping[str, Callable[[Lab], Sizes]] = MappingProxyType(
    {
        "logs for the gate": _sizes_of_gate,
        "few clicks for trees": of_runs("trees", TREE_CLICKS[0]),
        "clicks for trees": of_runs("trees", TREE_CLICKS[1]),
    }
)
"""What claims of this module are measured on, besides those of ``common``."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "4j": clean_limit,
        "52n": noisy_limit,
        "F4.clipping": clipping_can_help,
        "L9b": partial(contests, "production", PAPER_CLICKS),
        "L9c": partial(contests, "naive", PAPER_CLICKS),
        "L9d": partial(contests, "naive", MORE_CLICKS),
        "L13": more_clicks_more_wins,
        "8b": no_manual_choice,
        "R16": gate_keeps_its_promise,
        "R17": gate_of_candidates,
        "R19": partial(trees_win, TREE_CLICKS[1], "skyline"),
        "R20": partial(trees_win, TREE_CLICKS[0], "clipped"),
    }
)
"""How the claims are measured, by key."""
