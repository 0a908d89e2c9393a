"""The numbers of each lesson, computed by the core, and the sentence that reads them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy.special import ndtri

from ultr_core.claims.gate_runs import (
    ALONE,
    CANDIDATES,
    ON_AVERAGE,
    SHARED,
    GateRow,
    Shown,
    gate_rows,
    shown_to_users,
)
from ultr_core.errors import InputError
from ultr_core.lab import LOG_FIELDS, Comparison, Lab, World, small_world, user_model
from ultr_core.lab.live import PAPER_RESULTS
from ultr_core.lab.logs import assumed_curve, click_model, true_curve
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.learners.trees import TREES
from ultr_core.lessons.model import Found, words_of
from ultr_core.own_data.deployment import PROMISE
from ultr_core.proofs import SmallWorld
from ultr_core.proofs.enumeration import click_law
from ultr_core.proofs.repairs import PAIRS
from ultr_core.proofs.small_cases import SMALL_CASES
from ultr_core.proofs.small_query import LETTERS
from ultr_core.proofs.towers import CURVED, LOG_EXAMINATION, LOGGERS, SIZE, TowerCase
from ultr_core.proofs.users import times
from ultr_core.propensity import click_weight_diagnostics, hindsight_propensities
from ultr_core.risk import interval_over_draws, shown_difference
from ultr_core.risk.estimate import NORMAL_QUANTILE
from ultr_core.risk.sign_test import SignTest, sign_test
from ultr_core.settings import Settings
from ultr_core.studies import (
    DEFAULT_LOSS,
    LOSSES,
    STUDIES,
    Point,
    StudyResult,
    load_shipped,
    shipped_result,
)
from ultr_core.users import ClickLog, LeavingUsers, PowerLaw, TrustBiasModel

PRESENTATIONS = 1_000
"""Presentations in the exercise of the first lesson."""

DEEP_RANKS = (10, 8, 6, 5, 4, 3, 2)
CLICKED_IN_CLASS = ("B", "E")
FOUR_CLICKS = (1, 1, 1, 7)
"""Ranks of the clicks in the exercise on the effective sample size."""

MILDER_ETA = 0.7
BELIEFS = (0.5, 1.0, 1.5)
MUCH_WORSE = 1.25
"""How many times the harm of one wrong belief the other must do to count as worse."""

CLASS_RESULT = (9, 1, 5)
"""Wins, losses and ties of the exercise on the sign test."""


def relevance_by_rank(lab: Lab) -> dict[str, float]:
    """How much more often the top is relevant than a deep rank; needs no click."""
    world = lab.world()
    deep = _deep_rank(world)
    top, low = _relevant_share(world, 1), _relevant_share(world, deep)
    return {
        "deep": deep, "top_share": top, "deep_share": low, "relevance_ratio": top / low,
    }  # fmt: skip


def clicks_by_rank(lab: Lab) -> Found:
    """Lesson 1: clicks fall faster than relevance, by the factor of examination."""
    world, log = lab.world(), lab.logs().train
    numbers = relevance_by_rank(lab)
    deep = int(numbers["deep"])
    top_rate, deep_rate = click_rate(log, 1), click_rate(log, deep)
    if deep_rate == 0:
        raise InputError(f"There is no document at rank {deep}; choose a corpus with longer lists.")
    middle = max(2, deep // 2)
    seen = float(true_curve(lab.settings).at(middle))
    # The exercise is about the numbers that stand in it: 13.2%, not 13.1795%.
    share = round(_relevant_share(world, middle), 3)
    numbers |= {
        "top_rate": top_rate,
        "deep_rate": deep_rate,
        "truth": top_rate / deep_rate,
        "attention": top_rate / deep_rate / numbers["relevance_ratio"],
        "examined": 1 / float(true_curve(lab.settings).at(deep)),
        "middle": middle,
        "middle_share": share,
        "middle_seen": seen,
        "presentations": PRESENTATIONS,
        "all_relevant": PRESENTATIONS * share,
        "all_seen": PRESENTATIONS * seen,
        "for_one": share * seen,
        "answer": PRESENTATIONS * share * seen,
    }
    return Found.told("clicks-lie", numbers)


def rank_of_unseen(lab: Lab) -> dict[str, float]:
    """The rank that lesson 2 is about; needs no click."""
    return {"rank": min(8, _deep_rank(lab.world()))}


def unseen_relevant(lab: Lab) -> Found:
    """Lesson 2: for each seen relevant document 1/p - 1 others went unseen."""
    world, log = lab.world(), lab.logs().train
    rank = int(rank_of_unseen(lab)["rank"])
    rows = (log.rank == rank) & world.train.relevance[log.document]
    shown, clicked = int(log.impressions[rows].sum()), int(log.clicks[rows].sum())
    if clicked == 0:
        raise InputError(
            f"No relevant document at rank {rank} was clicked; choose a corpus with longer lists."
        )
    p = float(true_curve(lab.settings).at(rank))
    milder = float(PowerLaw(MILDER_ETA).at(10))
    numbers = {
        "rank": rank, "shown": shown, "clicked": clicked, "missed": shown - clicked,
        "truth": (shown - clicked) / clicked, "weight": 1 / p, "p": p, "counted": clicked / p,
        "milder": MILDER_ETA, "milder_p": milder, "steep_weight": 10.0,
        "as_factor": 10 * MILDER_ETA, "as_factor_p": MILDER_ETA / 10, "answer": 1 / milder,
    }  # fmt: skip
    return Found.told("propensity", numbers)


def clean_world(settings: Settings) -> SmallWorld:
    """The query of the proofs page in a lesson's world, without click noise."""
    return small_world(settings).clean


def one_query(lab: Lab) -> Found:
    """Lesson 3: the weighted sum of ranks is right on average, by enumerating every visit."""
    world = clean_world(lab.settings)
    law, query = click_law(world.users), world.query
    weights = tuple(times(query.new, world.inverse))
    totals, unit = law.totals(weights)
    weighted, loss = law.mean(weights), query.loss(query.new)
    clicked = [LETTERS.index(letter) for letter in CLICKED_IN_CLASS]
    numbers = {
        "patterns": len(law.patterns),
        "lowest": min(totals) / unit,
        "highest": max(totals) / unit,
        "naive": float(law.mean([Fraction(rank) for rank in query.new])),
        "weighted": float(weighted),
        "loss": float(loss),
        "truth": 1 if weighted == loss else 0 if weighted < loss else 2,
        "plain": sum(query.new[d] for d in clicked),
        "only_weights": float(sum(world.inverse[d] for d in clicked)),
        "shown_ranks": float(sum(query.presented[d] * world.inverse[d] for d in clicked)),
        "only_first": float(weights[clicked[0]]),
        "only_second": float(weights[clicked[1]]),
        "answer": float(sum(weights[d] for d in clicked)),
    }
    for letter in LETTERS[: query.size]:
        d = LETTERS.index(letter)
        numbers |= {f"{letter}_new": query.new[d], f"{letter}_weight": float(world.inverse[d])}
    return Found.told("unbiased", numbers)


def baselines(lab: Lab) -> dict[str, float]:
    """Test risks of production and skyline; no click is needed."""
    fixed = lab.world().baselines
    return {"production": fixed["production"].risk, "skyline": fixed["skyline"].risk}


def naive_and_weighted(lab: Lab) -> Comparison:
    """The comparison on all draws of the two rankers that lessons speak of."""
    methods, draws = ("naive", "propensity"), range(lab.settings.draws)
    return lab.comparison([(draw, method) for method in methods for draw in draws])


def learned(lab: Lab) -> Found:
    """Lesson 4: how far naive and weighted rankers go from production to the skyline."""
    comparison = naive_and_weighted(lab)
    naive, weighted = (comparison.rankers[key].risk.value for key in ("naive", "propensity"))
    numbers = baselines(lab) | {"naive": naive, "weighted": weighted}
    exact = numbers["production"] - numbers["skyline"]
    gap = shown_difference(numbers["production"], numbers["skyline"])
    if gap <= 0:
        raise InputError(
            "On this corpus full information is no better than production, so there is no gap to "
            "close; choose another corpus."
        )
    won = shown_difference(numbers["production"], naive)
    numbers |= {
        "gap": gap,
        "won": won,
        "truth": 100 * (numbers["production"] - weighted) / exact,
        "answer": 100 * won / gap,
        "left": 100 - 100 * won / gap,
        "upside_down": 100 * gap / won if won else 0.0,
        "draws": comparison.draws,
        "clicks": comparison.clicks,
    }
    return Found(numbers, comparison.sentence)


def few_clicks(lab: Lab) -> Found:
    """Lesson 5: with few clicks variance costs more than bias."""
    comparison, picture = naive_and_weighted(lab), lab.picture()
    excess = comparison.naive_excess
    assert excess is not None
    at = np.array(sorted(set(FOUR_CLICKS)))
    counts = np.array([FOUR_CLICKS.count(rank) for rank in at])
    ranks, shown = at.astype(np.int32), np.full(at.size, counts.max())
    offsets = np.array([0, at.max()])
    log = ClickLog(at - 1, ranks, shown, counts, int(counts.max()), offsets)
    diagnostics = click_weight_diagnostics(log, PowerLaw(1.0).at(at))
    weights = [float(rank) for rank in FOUR_CLICKS]
    numbers = {
        "naive": comparison.rankers["naive"].risk.value,
        "weighted": comparison.rankers["propensity"].risk.value,
        "clicks": picture.clicks,
        "worth": picture.weighted.effective_sample_size,
        "largest": picture.weighted.largest_weight,
        "truth": (2, 1, 0)[excess.side],
        "count": len(FOUR_CLICKS),
        "sum": sum(weights),
        "squares": sum(weight**2 for weight in weights),
        "inverse": sum(weight**2 for weight in weights) / sum(weights) ** 2,
        "squared_sum": sum(weights) ** 2,
        "unsquared": sum(weights) / sum(weight**2 for weight in weights),
        "answer": diagnostics.effective_sample_size,
    }
    first = comparison.sentence.split(" The weighted ranker")[0]
    return Found.told("variance", numbers, excess=first)


def noise_share(lab: Lab) -> dict[str, float]:
    """Expected share of clicks on irrelevant documents, and the same at the default noise."""
    queries = lab.world().train
    shares = {}
    for name, eps in (("share", lab.settings.eps_minus), ("default_share", Settings().eps_minus)):
        model = user_model(lab.settings.with_values(eps_minus=eps))
        shares[name] = 100 * model.noise_share(queries.relevance, queries.presented_ranks)
    return shares


def noisy_order(lab: Lab) -> Found:
    """Lesson 6: noise shrinks and shifts the weighted risk, and keeps its order."""
    picture = lab.picture()
    production, skyline = (picture.kinds.index(kind) for kind in ("production", "skyline"))
    true, expected = picture.true_risk, picture.weighted.expected
    tau = picture.weighted.kendall
    gap = shown_difference(float(true[production]), float(true[skyline]))
    numbers = noise_share(lab) | {
        "tau": tau,
        "naive_tau": picture.naive.kendall,
        "slope": picture.slope,
        "intercept": picture.intercept,
        "eps": lab.settings.eps_minus,
        "true_production": float(true[production]),
        "true_skyline": float(true[skyline]),
        "true_gap": gap,
        "expected_gap": float(expected[production] - expected[skyline]),
        "noise_gap": lab.settings.eps_minus * gap,
        "with_shift": picture.slope * gap + picture.intercept,
        "answer": picture.slope * gap,
        "truth": 2 if tau > 0.9 else 1 if tau > 0.5 else 0,
    }
    return Found.told("noise", numbers)


def wrong_belief(lab: Lab) -> Found:
    """Lesson 7: what a wrong assumed η does to the trained ranker, on one click log."""
    risks = belief_risks(lab)
    low, right, high = (risks[belief] for belief in BELIEFS)
    naive = lab.trained(0, "naive").test.risk
    believed = assumed_curve(lab.settings.with_values(assumed_eta=BELIEFS[2]))
    ratio = 9 ** (BELIEFS[2] - lab.settings.eta)
    harm_low, harm_high = max(low - right, 0.0), max(high - right, 0.0)
    alike = max(harm_low, harm_high) <= MUCH_WORSE * min(harm_low, harm_high)
    numbers = {
        "naive": naive, "low": low, "right": right, "high": high,
        "harm_low": low - right, "harm_high": high - right,
        "truth": 2 if alike else 1 if harm_high > harm_low else 0,
        "belief_weight": float(9 ** BELIEFS[2]), "true_weight": float(9**lab.settings.eta),
        "inverse": 1 / ratio, "study_logs": load_shipped("figures").base.draws,
        "extra": ratio - 1, "apart": 9 ** BELIEFS[2] - 9**lab.settings.eta,
        "answer": float(true_curve(lab.settings).at(9) / believed.at(9)),
    }  # fmt: skip
    words = words_of("wrong-propensity")
    return Found.told(
        "wrong-propensity",
        numbers,
        low_against_naive=words.text("better" if low < naive else "worse"),
        high_against_naive=words.text("better" if high < naive else "worse"),
    )


def belief_risks(lab: Lab) -> Mapping[float, float]:
    """Test risk of the weighted ranker by the η that the learner believes in, on one log."""
    labs = {belief: lab.at(lab.settings.with_values(assumed_eta=belief)) for belief in BELIEFS}
    return {belief: at.trained(0, "propensity").test.risk for belief, at in labs.items()}


def rank_of_swap(lab: Lab) -> dict[str, float]:
    """The rank that lesson 8 is about, and how often users really look at it."""
    numbers = swapped(lab).numbers
    return {name: numbers[name] for name in ("rank", "real")}


def swapped(lab: Lab) -> Found:
    """Lesson 8: swapping two ranks measures examination; plain click rates do not."""
    design = SwapDesign()
    found = lab.swaps(design)
    rates = lab.swaps(design, "ctr")
    if found.estimate is None or rates.estimate is None:
        raise InputError(f"The swap experiment yields no curve here: {found.reason}")
    known = [p for p in found.estimate.points[1:10] if p.value and p.low and p.high]
    plain = {p.rank: p.value for p in rates.estimate.observed}
    known = [point for point in known if point.rank in plain]
    if not known:
        raise InputError("The swap experiment has too few clicks here; choose a larger corpus.")
    last, task = known[-1], known[min(2, len(known) - 1)]
    top = found.estimate.points[0]
    assert last.value and last.low and last.high and task.value
    # The ratio of all that was shown; the estimate compares lists of the same lengths.
    rate, top_rate = task.clicks / task.impressions, top.clicks / top.impressions
    naive, truth = plain[last.rank] or 0.0, float(true_curve(lab.settings).at(last.rank))
    numbers = {
        "rank": last.rank, "swap": last.value, "low": last.low, "high": last.high,
        "real": truth, "plain": naive, "sessions": design.sessions,
        "truth": 0 if naive < 0.9 * truth else 2 if naive > 1.1 * truth else 1,
        "task": task.rank, "shown": task.impressions, "clicked": task.clicks,
        "top_shown": top.impressions, "top_clicked": top.clicks,
        "rate": rate, "top_rate": top_rate,
        "clicks_only": task.clicks / top.clicks, "upside_down": top_rate / rate,
        "answer": rate / top_rate,
    }  # fmt: skip
    inside = "contains" if last.low <= truth <= last.high else "misses"
    return Found.told("swaps", numbers, inside=inside)


def live_test(lab: Lab) -> Found:
    """Lesson 9: the paper's counts, the sign test, and the same experiment on simulated users."""
    paper, mine = sign_test(*PAPER_RESULTS["production"]), sign_test(*CLASS_RESULT)
    result = lab.live()
    contest = result.contests[0]
    outcomes = 2**mine.decided
    numbers = {
        "wins": paper.wins, "losses": paper.losses, "ties": paper.ties, "p": paper.p_value,
        "decided": paper.decided, "half": paper.decided / 2, "truth": _size_of(paper),
        "share": 100 * contest.test.win_share, "power": 100 * contest.paper_power,
        "queries": result.design.interleaved,
        "my_wins": mine.wins, "my_losses": mine.losses, "my_ties": mine.ties,
        "my_decided": mine.decided, "outcomes": outcomes,
        "as_uneven": mine.p_value * outcomes / 2,
        "one_sided": mine.p_value / 2, "only_this": 2 * mine.decided / outcomes,
        "only_this_side": mine.decided / outcomes, "answer": mine.p_value,
    }  # fmt: skip
    return Found.told("live", numbers, contest=contest.sentence)


def _size_of(test: SignTest) -> int:
    """Nearest of 1 in 10, 1 in 100, 1 in 1,000, by the logarithm."""
    return int(np.clip(round(-np.log10(test.p_value)), 1, 3)) - 1


ROBUST = ("naive", "propensity", "doubly-robust")
ROBUST_TASK = (10, 0.6, 0.4)
"""Rank, fitted relevance and threshold of the exercise on doubly robust estimates."""


def robust_comparison(lab: Lab) -> Comparison:
    """The comparison of the lesson on few clicks and their repair, on all draws."""
    return lab.comparison(methods=ROBUST)


def repaired(lab: Lab) -> Found:
    """Lesson 10: with few clicks a fitted relevance, corrected by clicks, beats both."""
    comparison = robust_comparison(lab)
    naive, weighted, robust = (comparison.rankers[key].risk for key in ROBUST)
    ahead = [
        place
        for place, key in enumerate(ROBUST)
        if all(_surely_better(lab, key, other) for other in ROBUST if other != key)
    ]
    rank, fit, clip = ROBUST_TASK
    p = float(true_curve(lab.settings).at(rank))
    numbers = baselines(lab) | {
        "naive": naive.value, "weighted": weighted.value, "robust": robust.value,
        "clicks": comparison.clicks, "truth": ahead[0] if ahead else len(ROBUST),
        "rank": rank, "p": p, "fit": fit, "clip": clip, "ips": 1 / p, "clipped": 1 / clip,
        "whole_fit": fit + 1 / clip, "not_clicked": fit - p * fit / clip,
        "answer": fit + (1 - p * fit) / clip,
    }  # fmt: skip
    return Found.told("doubly-robust", numbers)


def _surely_better(lab: Lab, one: str, other: str) -> bool:
    """Whether the interval of the difference, paired by click log, is below 0."""
    gains = [
        lab.trained(draw, other).test.risk - lab.trained(draw, one).test.risk
        for draw in range(lab.settings.draws)
    ]
    return interval_over_draws(gains).side > 0


TRUST = "trust-steep"
TRUST_TASK = 2
"""Rank in the exercise on the affine correction."""
NEARLY_ALL = 0.9
"""Share of the way from naive to the correction from which weighting counts as as good."""


def trust_by_rank(lab: Lab) -> dict[str, float]:
    """How often trusting users click an irrelevant document once they look; needs no clicks."""
    users, queries, deep = TrustBiasModel.steep(), lab.world().train, _deep_rank(lab.world())
    clicked = users.click_probability(queries.relevance, queries.presented_ranks)
    noise = [float(users.affine(rank)[1] / users.curve.at(rank)) for rank in (1, deep)]
    return {
        "top_noise": noise[0], "deep_noise": noise[1], "deep": deep,
        "share": 100 * float(clicked[~queries.relevance].sum() / clicked.sum()),
    }  # fmt: skip


def trust_risks(lab: Lab) -> dict[str, float]:
    """Test risks of the naive, weighted and affine rankers of trusting users, on one click log."""
    at = lab.at(lab.settings.with_values(users=TRUST))
    methods = {"naive": "naive", "weighted": "propensity", "affine": "affine"}
    return {name: at.trained(0, method).test.risk for name, method in methods.items()}


def trusted(lab: Lab) -> Found:
    """Lesson 11: no divisor removes noise that depends on the rank; subtracting first does."""
    risks = trust_risks(lab)
    won, whole = risks["naive"] - risks["weighted"], risks["naive"] - risks["affine"]
    small = SMALL_CASES[TRUST]
    alpha, beta = (float(value) for value in TrustBiasModel.steep().affine(TRUST_TASK))
    numbers = trust_by_rank(lab) | baselines(lab) | risks | {
        "truth": 0 if won <= 0 else 2 if won >= NEARLY_ALL * whole else 1,
        "wrong": small["propensity"].wrong_pairs, "pairs": len(PAIRS),
        "rank": TRUST_TASK, "relevant": alpha + beta, "irrelevant": beta, "alpha": alpha,
        "ips": float(1 / TrustBiasModel.steep().curve.at(TRUST_TASK)), "slope": 1 / alpha,
        "not_clicked_size": beta / alpha,
        "by_relevant": (1 - beta) / (alpha + beta), "answer": (1 - beta) / alpha,
    }  # fmt: skip
    return Found.told("trust-top", numbers)


LEAVING = "leaving"
LEAVING_METHODS = {
    "naive": "naive", "weighted": "propensity", "hindsight": "hindsight",
    "robust": "hindsight-doubly-robust",
}  # fmt: skip
"""Methods of the lesson on users who leave, by the names of their numbers."""
LEAVING_TASK = (10, 2)
"""Rank and clicks above in the exercise on hindsight propensities."""
HEAVIEST = 0.01
"""Share of the clicks whose share of the weight is told."""
ALIKE = 0.05
"""Rankers that differ by less than this share of the gap count as equally good."""


def leaving_lab(lab: Lab) -> Lab:
    """The lesson's world with users who leave, as many of them as in the study of leaving."""
    stay = STUDIES[LEAVING].fixed["continuation"]
    return lab.at(lab.settings.with_values(users=LEAVING, continuation=stay))


def left_by_rank(lab: Lab) -> dict[str, float]:
    """How many users are still there at a deep rank, and clicks lost to leaving, from the curve."""
    at, queries = leaving_lab(lab), lab.world().train
    users, deep = click_model(at.settings), _deep_rank(lab.world())
    assert isinstance(users, LeavingUsers)
    of, ranks = queries.relevance, queries.presented_ranks
    clicked = users.click_probability(of, ranks, queries.corpus.query_offsets)
    never_left = users.at_first.click_probability(of, ranks)
    here = ranks == deep
    return {
        "stay": users.continuation, "deep": deep,
        "still": 100 * float((clicked[here] / never_left[here]).mean()),
        "lost": 100 * (1 - float(clicked.sum() / never_left.sum())),
    }  # fmt: skip


def leaving_risks(lab: Lab) -> dict[str, float]:
    """Test risks of the rankers trained on clicks of users who leave, on one click log."""
    at = leaving_lab(lab)
    return {name: at.trained(0, key).test.risk for name, key in LEAVING_METHODS.items()}


def left(lab: Lab) -> Found:
    """Lesson 12: hindsight weights are unbiased, and lose to biased ones for their variance."""
    risks, fixed = leaving_risks(lab), baselines(lab)
    ahead = risks["weighted"] - risks["hindsight"]
    alike = abs(ahead) <= ALIKE * abs(fixed["production"] - fixed["skyline"])
    small = SMALL_CASES[LEAVING]
    spread = small["hindsight"].variance / small["propensity"].variance
    rank, above = LEAVING_TASK
    numbers = left_by_rank(lab) | _heavy_clicks(leaving_lab(lab)) | fixed | risks
    p, stay = float(true_curve(lab.settings).at(rank)), numbers["stay"]
    numbers |= {
        "truth": 2 if alike else 0 if ahead > 0 else 1,
        "wrong": small["propensity"].wrong_pairs, "pairs": len(PAIRS),
        "times": float(spread) ** 0.5, "rank": rank, "above": above, "p": p,
        "by_rank": 1 / p, "once": 1 / (p * stay), "propensity": p * stay**above,
        "added": 1 / (p * stay * above), "answer": 1 / (p * stay**above),
    }  # fmt: skip
    return Found.told("leaving", numbers)


def _heavy_clicks(at: Lab) -> dict[str, float]:
    """The largest hindsight weight in the log, and what the heaviest clicks have of all."""
    log, stay = at.logs().train, at.settings.continuation
    weight = 1 / hindsight_propensities(true_curve(at.settings), stay, log.rank, log.context)
    order = np.argsort(-weight)
    clicks, weight = log.clicks[order], weight[order]
    before = np.cumsum(clicks) - clicks
    heavy = np.clip(HEAVIEST * log.total_clicks - before, 0, clicks)
    return {
        "largest": float(weight[clicks > 0].max()),
        "heavy": 100 * float(heavy @ weight / (clicks @ weight)),
    }


TOWERS = {"weighted": "propensity", "product": "two-towers-product", "naive": "naive"}
"""Methods of the lesson on two towers, by the names of their numbers."""
CLEARLY = 1.25
"""How many times too often, or too seldom, counts as far off."""


def examined_last(_: Lab) -> dict[str, float]:
    """How often users of the fitted towers look at the last rank, in percent; needs no fit."""
    return {"last": SIZE, "truly": 100 * float(np.exp(LOG_EXAMINATION[-1]))}


def two_towers(lab: Lab) -> Found:
    """Lesson 13: a position tower takes on what the score misses, if the logger knows it."""
    case = TowerCase("product", curved=CURVED)
    last = {logger: case.fit(logger).bias[-1] for logger in LOGGERS}
    believed, right = float(np.exp(-last["perfect"])), float(np.exp(-LOG_EXAMINATION[-1]))
    times_more = right / believed
    numbers = examined_last(lab) | {
        name: lab.trained(0, method).test.risk for name, method in TOWERS.items()
    }
    numbers |= {logger: 100 * float(np.exp(b)) for logger, b in last.items()} | {
        "truth": 1 if times_more > CLEARLY else 2 if times_more < 1 / CLEARLY else 0,
        "clicks": lab.logs().train.total_clicks, "size": -float(last["perfect"]),
        "believed": believed, "right": right, "inverse": times_more,
        "logs": float(np.log(believed / right)), "answer": believed / right,
    }  # fmt: skip
    return Found.told("towers", numbers)


GATED_LOGS = 200
"""Click logs in the lesson on the gate."""
GATE_TASK = (0.9, 0.4)
"""By how much a ranker looks better, and the standard error, in the exercise on the gate."""


def gated(lab: Lab) -> Shown:
    """What production shows on the validation queries, and rankers that may take its place."""
    return lab.remember(
        lab.cell("gated", LOG_FIELDS), lambda at: shown_to_users(at, at.world().validation)
    )


def gate_shares(lab: Lab) -> Mapping[str, GateRow]:
    """What the gate does with these rankers in ``GATED_LOGS`` logs, by the names of the rows."""

    def judged(at: Lab) -> Mapping[str, GateRow]:
        rows = gate_rows(gated(at), at.settings.clicks, GATED_LOGS, at.settings.seed)
        return {row.name: row for row in rows}

    return lab.remember(lab.cell("gate_shares", LOG_FIELDS), judged)


def worse_rankers(lab: Lab) -> dict[str, float]:
    """How many rankers are tried and by how much they are worse; needs no click."""
    return {
        "near": CANDIDATES, "most": float(gated(lab).truth[-CANDIDATES:].max()),
        "promise": 100 * PROMISE, "logs": GATED_LOGS,
    }  # fmt: skip


def selected(lab: Lab) -> Found:
    """Lesson 14: a gate keeps its promise for one ranker, not for the best of many."""
    rows = gate_shares(lab)
    passed = {"alone": ALONE, "counted": SHARED, "single": ON_AVERAGE, "power": "skyline"}
    lower, error = GATE_TASK
    z_one, z_best = (float(ndtri(1 - PROMISE / n)) for n in (1, CANDIDATES))
    numbers = worse_rankers(lab) | {name: 100 * rows[row].passed for name, row in passed.items()}
    numbers |= baselines(lab) | {
        "truth": numbers["alone"], "holds": 100 * (1 - PROMISE), "lower": lower, "error": error,
        "z_one": z_one, "z_best": z_best,
        "as_one": z_one * error - lower, "size_one": lower - z_one * error,
        "below": -lower - z_best * error, "two_sided": NORMAL_QUANTILE * error - lower,
        "answer": z_best * error - lower,
    }  # fmt: skip
    return Found.told("gate", numbers)


LEARNERS = "learners"
FEWEST = 1_000.0
"""Clicks with which the lesson on learners says what weights cost."""


def learners_result() -> StudyResult:
    """The precomputed study that the lesson on learners reads."""
    return shipped_result(LEARNERS, LOSSES[DEFAULT_LOSS])


def learners_given(_: Lab) -> dict[str, float]:
    """How many clicks and logs the precomputed study has; needs no ranker."""
    return {"clicks": STUDIES[LEARNERS].read_at, "logs": learners_result().plan.base.draws}


def learners(lab: Lab) -> Found:
    """Lesson 15: weights and learner are two choices; each alone does about as much."""
    result = learners_result()
    point, few = (result.point(clicks) for clicks in (STUDIES[LEARNERS].read_at, FEWEST))

    def risk(method: str, at: Point = point) -> float:
        return float(np.mean(list(result.losses(method, at).values())))

    naive, weighted = risk("naive"), risk("propensity")
    trees, both = risk("naive-trees"), risk("propensity-trees")
    linear = [key for key in result.plan.study.repaired_by if not key.endswith(TREES)]
    gains = [risk(key.replace("propensity", "naive")) - risk(key) for key in linear]
    ahead = result.excess(("naive-trees", point), ("propensity", point))
    side = interval_over_draws(list(ahead.values())).side
    numbers = learners_given(lab) | {
        "naive": naive, "weighted": weighted, "naive_trees": trees, "weighted_trees": both,
        "skyline": risk("skyline"), "skyline_trees": risk("skyline-trees"),
        "least": min(gains), "most": max(gains),
        "apart": max(map(risk, linear)) - min(map(risk, linear)),
        "few": FEWEST, "few_naive_trees": risk("naive-trees", few),
        "few_weighted_trees": risk("propensity-trees", few),
        "truth": {1: 0, -1: 1, 0: 2}[side],
        "by_weights": naive - weighted, "by_trees": naive - trees,
        "both": 2 * naive - weighted - trees, "answer": weighted + trees - naive,
    }  # fmt: skip
    return Found.told(LEARNERS, numbers)


def click_rate(log: ClickLog, rank: int) -> float:
    """Clicks per presentation at one rank; 0 where nothing was shown."""
    rows = log.rank == rank
    shown = int(log.impressions[rows].sum())
    return int(log.clicks[rows].sum()) / shown if shown else 0.0


def _relevant_share(world: World, rank: int) -> float:
    here = world.train.presented_ranks == rank
    return float(world.train.relevance[here].mean()) if here.any() else 0.0


def _deep_rank(world: World) -> int:
    """The deepest of some ranks that most lists have and where something is relevant."""
    sizes = world.train.corpus.sizes
    for rank in DEEP_RANKS:
        if np.mean(sizes >= rank) > 0.5 and _relevant_share(world, rank) > 0:
            return rank
    raise InputError(
        "The lists of this corpus are too short for this lesson; choose another corpus."
    )
