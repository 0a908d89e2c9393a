"""Lessons 6 to 9: noise, wrong propensities, where they come from, and the live test."""

from __future__ import annotations

from ultr_core.lessons import experiment_measures, measures, pictures, traffic
from ultr_core.lessons.answers import Exercise, Mistake
from ultr_core.lessons.model import Choice, Door, Lesson

NOISE = Lesson(
    key="noise",
    title="Do wrong clicks break it?",
    idea=(
        "So far nobody clicked by mistake. Now three irrelevant documents in ten that are looked "
        "at get a click (ε₋ = 0.3); relevant ones that are looked at still get one always "
        "(ε₊ = 1). There are many more irrelevant documents than relevant ones, "
        "so **{share:.0f} of 100 clicks are on irrelevant documents**.\n\n"
        "Take sixty rankers from very good to upside down. Estimate the risk of each from these "
        "clicks, weighted by 1/p, and sort them by the estimate. *Kendall's τ* compares this order "
        "with the true one: 1 is the same order, 0 unrelated, −1 upside down. (It is another τ "
        "than the threshold of lesson 5.)"
    ),
    terms=("noise", "risk", "kendall", "ips"),
    changes={"eps_minus": 0.3},
    prediction=Choice(
        "How well does this order agree with the true order of the sixty rankers?",
        (
            "hardly: most clicks are wrong (Kendall's τ below 0.5)",
            "partly (Kendall's τ from 0.5 to 0.9)",
            "almost perfectly (Kendall's τ above 0.9)",
        ),
    ),
    given=measures.noise_share,
    measure=measures.noisy_order,
    figure=pictures.risks,
    meaning=(
        "Each mark is one ranker, the dashed line is what theory expects.\n\n"
        "Why? Weighted by 1/p, noise counts every irrelevant document ε₋ times on average, at "
        "whatever rank it was shown. And the ranks of *all* documents of a list always add up to "
        "the same number. So noise adds **the same constant for every ranker** and shrinks the "
        "rest: on average the estimate is (ε₊ − ε₋) · risk + constant, here {slope:.1f} · risk + "
        "{intercept:.1f}. A straight line keeps the order. The price: differences shrink, so more "
        "clicks are needed to see them."
    ),
    shows=Door(
        "The same world in the Lab. Look under “Empirical against true risk”: both estimates side "
        "by side, the straight line dashed.",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**Does more data help against noise?** The picture at the top: figure 3 of the paper, "
            "with intervals, in a world of its own.",
            "Open the study on noise",
            "robustness",
            {},
            {"study": "noise"},
        ),
        Door(
            "**Noise that depends on the rank.** Users who trust the top click wrong documents "
            "there more often. Does the straight line survive? Read the sentence at the top, then "
            "the line in the frame.",
            "Switch on trust bias",
            "proofs",
            {},
            {"proof": "affine-law", "break_trust": True},
        ),
    ),
    exercise=Exercise(
        question=(
            "On the queries that were clicked the true risks are {true_production:.2f} for "
            "production and {true_skyline:.2f} for full information, a difference of "
            "{true_gap:.2f}. (Test queries, as in lesson 4, give other numbers.) By how much do "
            "their *expected "
            "estimates* differ? (ε₊ = 1, ε₋ = {eps:g})"
        ),
        answer="answer",
        unit="difference of the estimates",
        tolerance=0.02,
        mistakes=(
            Mistake("true_gap", "That is the difference without noise. Noise shrinks it."),
            Mistake("noise_gap", "That is what noise takes **away**. What is left?"),
            Mistake("with_shift", "The constant is in both estimates, so it drops out."),
        ),
        hint="Put both risks into (ε₊ − ε₋) · risk + constant and subtract.",
        solution=(
            "(1 − {eps:g}) × {true_gap:.2f} = **{answer:.2f}**. The constant {intercept:.1f} is in "
            "both and drops out: the better ranker still has the lower estimate."
        ),
    ),
)

WRONG_PROPENSITY = Lesson(
    key="wrong-propensity",
    title="What if the propensity is wrong?",
    idea=(
        "Nobody tells the learner how far down users look. Here p = (1/r)^η with η = 1, and users "
        "also click one in ten of the irrelevant documents that they look at. Suppose the learner "
        "believes in another exponent, η′:\n\n"
        "- η′ = 0.5: it plays the bias **down**. A click at rank 9 counts 3 times instead of 9.\n"
        "- η′ = 1.5: it **exaggerates**. A click at rank 9 counts 27 times."
    ),
    terms=("propensity", "assumed", "misspecified"),
    changes={"assumed_eta": 1.5, "draws": 1},
    prediction=Choice(
        "Which wrong belief makes the trained ranker worse?",
        (
            "η′ = 0.5, playing it down",
            "η′ = 1.5, exaggerating",
            "both about the same",
        ),
    ),
    measure=measures.wrong_belief,
    figure=pictures.beliefs,
    meaning=(
        "Weights that are too small leave some of the old bias; naive is the extreme, η′ = 0. "
        "Weights that are too large turn the list over: clicks far down count too much, and there "
        "noise is most of what is left; and the variance is larger, too. The paper found the "
        "same: **too little correction is the safer mistake.** (All from one click log: small "
        "differences may be chance. The study below, on the built-in corpus, has "
        "{study_logs:.0f} click logs a point.)"
    ),
    shows=Door(
        "The exaggerating learner in the Lab. Scroll to “Proof checks” and see which fail, and "
        "why.",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**All beliefs from 0 to 2.** The picture at the top: figure 4 of the paper, with "
            "intervals, in a world of its own.",
            "Open the study",
            "robustness",
            {},
            {"study": "misspecification"},
        ),
        Door(
            "**Playing it down.** Scroll to “Proof checks”: which of them still hold with η′ = "
            "0.5?",
            "Set η′ = 0.5",
            "lab",
            {"assumed_eta": 0.5},
        ),
    ),
    exercise=Exercise(
        question=(
            "The learner believes η′ = 1.5, users have η = 1. It gives a click at rank 9 a weight "
            "of 9^1.5. The right weight is 9^1. **Divide its weight by the right one:** how many "
            "times as large is it?"
        ),
        answer="answer",
        unit="times as large",
        tolerance=0.01,
        mistakes=(
            Mistake("belief_weight", "That is the weight it gets. Divide it by the right one."),
            Mistake(
                "extra",
                "That is how much is added to the right weight, in right weights. How many times "
                "as large is the whole?",
            ),
            Mistake("apart", "That is how far the weights lie apart. Divide one by the other."),
            Mistake("true_weight", "That is the right weight. How much larger is the wrong one?"),
            Mistake("inverse", "Upside down: the wrong weight is the larger one."),
        ),
        hint="The right weight is 9^1, the wrong one 9^1.5 = 9 · √9.",
        solution=(
            "{belief_weight:.0f} / {true_weight:.0f} = **{answer:.0f}**. In general, with p′ the "
            "propensity that the learner believes in, a click counts p/p′ times what it should: "
            "rank^(η′ − η). Only with η′ = η is that 1 everywhere."
        ),
    ),
)

SWAPS = Lesson(
    key="swaps",
    title="Where do propensities come from?",
    idea=(
        "So p must be measured. A first idea: compare how often rank {rank:.0f} and rank 1 are "
        "clicked. In this world rank {rank:.0f} is truly looked at **{real:.2f}** times as often "
        "as rank 1; this is the ratio to find.\n\n"
        "A second idea, the paper's: for a small part of the traffic, **swap** the document at "
        "rank 1 with one at a random rank before the list is shown. The same documents are then "
        "seen at both ranks."
    ),
    terms=("propensity", "landmark", "swap", "click-rate"),
    changes={},
    prediction=Choice(
        "First idea, **without** swaps: the click rate of rank {rank:.0f} divided by that of "
        "rank 1 is …",
        (
            "clearly below the true ratio",
            "about the true ratio",
            "clearly above the true ratio",
        ),
    ),
    given=experiment_measures.rank_of_swap,
    measure=experiment_measures.swapped,
    traffic=traffic.presentations,
    figure=pictures.swap_curves,
    meaning=(
        "Plain click rates mix two things: how often users look, and how relevant the documents "
        "are. A ranker puts relevant documents on top, so rates fall faster than attention. "
        "After a swap the **same documents** stand at both ranks; relevance cancels, attention is "
        "left. The price: some lists were shown in a worse order."
    ),
    shows=Door(
        "The experiment with all its controls: the curve is the picture under them, further down "
        "come its price and eight other ways to measure p (if they do not stand there, press the "
        "button under their heading).",
        "Open the experiment",
        "propensities",
        {},
        {"swap_other": "ctr"},
    ),
    steps=(
        Door(
            "**Less traffic.** Look at the bars of the blue points in the picture: after 2,000 "
            "presentations, can you still tell rank 10 from rank 5?",
            "Give it 2,000 presentations",
            "propensities",
            {},
            {"swap_traffic": 2_000},
        ),
        Door(
            "**A middle landmark.** Swapping with rank 5 costs less. What happens to the bars in "
            "the picture, and to the price further down?",
            "Take rank 5 as landmark",
            "propensities",
            {},
            {"swap_landmark": 5},
        ),
    ),
    exercise=Exercise(
        question=(
            "From the experiment: documents from rank 1 got {top_clicked:,.0f} clicks when shown "
            "{top_shown:,.0f} times **at rank 1**, and {clicked:,.0f} clicks when shown "
            "{shown:,.0f} times **at rank {task:.0f}**. What is the estimate of p at rank "
            "{task:.0f} divided by p at rank 1?"
        ),
        answer="answer",
        share="fraction",
        unit="ratio of propensities",
        tolerance=0.02,
        mistakes=(
            Mistake("rate", "That is the click rate at rank {task:.0f}. Compare it with rank 1."),
            Mistake("top_rate", "That is the click rate at rank 1. Compare the other with it."),
            Mistake(
                "clicks_only",
                "They were not shown equally often. Use clicks **per presentation**.",
            ),
            Mistake("upside_down", "Upside down: rank {task:.0f} stands on top of the fraction."),
        ),
        hint="Click rate = clicks / times shown. Then divide the rate at rank {task:.0f} by the "
        "rate at rank 1.",
        solution=(
            "{clicked:,.0f}/{shown:,.0f} = {rate:.4f} and {top_clicked:,.0f}/{top_shown:,.0f} = "
            "{top_rate:.4f}; their ratio is **{answer:.3f}**. How relevant the documents are "
            "cancels, because they are the same ones."
        ),
    ),
)

LIVE = Lesson(
    key="live",
    title="What did the live test show?",
    idea=(
        "The paper tried it on a real search engine. For each query the lists of two rankers were "
        "**interleaved** into one, and clicks decided which ranker won. The weighted ranker "
        "against the one in production: **87 wins, 48 losses, 83 ties**.\n\n"
        "Ties are set aside. Of 135 decided queries, two equally good rankers would win about "
        "half each: 67 or 68."
    ),
    terms=("interleaving", "sign-test", "p-value"),
    changes={},
    prediction=Choice(
        "If both rankers were equally good, how often would chance alone make a split at least "
        "as uneven as 87 to 48 (either way)?",
        (
            "about 1 time in 10",
            "about 1 time in 100",
            "about 1 time in 1,000",
        ),
    ),
    measure=experiment_measures.live_test,
    traffic=traffic.live,
    figure=pictures.win_shares,
    meaning=(
        "So chance is a poor explanation for the paper's result. The mark of each contest is the "
        "share of decided queries that the weighted ranker won; its bar is the 95% interval; "
        "dashed is “no difference”. With only as many decided queries as the paper had, our engine "
        "would show a difference in {power:.0f} of 100 experiments: a small test can miss a real "
        "gain. The sign test says that there is a difference; the interval says how large."
    ),
    shows=Door(
        "The live experiment: the sentence and the picture at the top are the contests; below come "
        "“The propensities that were used” and “The sign test, with any counts”.",
        "Open the live experiment",
        "live",
    ),
    steps=(
        Door(
            "**As few queries as the paper had.** Its 218 all had a click; of 370 shown here six "
            "in ten have one. Would they have shown it? The sentence at the top says it.",
            "Interleave 370 queries",
            "live",
            {},
            {"live_queries": 370},
        ),
        Door(
            "**Nearly as few clicks as the paper had.** It had 7,192 in 21 days; the nearest step "
            "here is 9,000. Does the weighted ranker still win? Look at the picture at the top, "
            "and at “The propensities that were used”.",
            "Collect 9,000 clicks",
            "live",
            {"clicks": 9_000},
        ),
    ),
    exercise=Exercise(
        question=(
            "Your class compares two rankers: {my_wins:.0f} wins, {my_losses:.0f} loss, "
            "{my_ties:.0f} ties. What is the p-value of the two-sided sign test? (Three decimals. "
            "It is the share of outcomes at least as uneven as yours, to either side; "
            "{my_decided:.0f} fair coins have 2^{my_decided:.0f} = {outcomes:,.0f} equally likely "
            "ones.)"
        ),
        answer="answer",
        share="fraction",
        unit="p-value",
        tolerance=0.03,
        mistakes=(
            Mistake("one_sided", "That is one side. 1 to 9 would have surprised you as much."),
            Mistake(
                "only_this",
                "“At least as uneven” includes 10 to 0, too: 1 more outcome on each side.",
            ),
            Mistake(
                "only_this_side",
                "There are more outcomes that are at least as uneven: 10 to 0, and the other side.",
            ),
        ),
        hint="Set the ties aside. Count the outcomes with 9 or 10 heads: 10 + 1. Double them for "
        "the other side and divide by {outcomes:,.0f}.",
        solution=(
            "2 × {as_uneven:.0f} / {outcomes:,.0f} = **{answer:.4f}**. That is below 0.05, which "
            "many "
            "take as enough to speak of a difference. It does not say how large the difference is."
        ),
    ),
)

LATER_LESSONS = (NOISE, WRONG_PROPENSITY, SWAPS, LIVE)
