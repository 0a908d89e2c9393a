"""Lessons 1 to 3: why clicks lie, what a propensity is, and why weighting gives the truth."""

from __future__ import annotations

from ultr_core.lessons import measures, pictures, traffic
from ultr_core.lessons.answers import Exercise, Mistake
from ultr_core.lessons.model import Choice, Door, Guess, Lesson

WHY_CLICKS_LIE = Lesson(
    key="clicks-lie",
    title="Why do clicks lie?",
    idea=(
        "A search engine shows a ranked list. Users look at some documents and click what they "
        "find relevant. Here they never click by mistake: **no irrelevant document is ever "
        "clicked**. So a click is a sure sign of relevance. Is a missing click a sign of "
        "irrelevance?\n\n"
        "The engine's ranker is decent: at rank 1, {top_share:.0%} of the documents are relevant, "
        "at rank {deep:.0f} only {deep_share:.0%}. That is **{relevance_ratio:.1f} times** as many."
    ),
    terms=("query", "rank", "relevance", "click", "log", "examination", "eta"),
    changes={"eps_minus": 0.0},
    prediction=Guess(
        "How many times as often is rank 1 clicked as rank {deep:.0f}?",
        low=1,
        high=100,
        step=1,
        unit="times",
        near=0.25,
    ),
    given=measures.relevance_by_rank,
    measure=measures.clicks_by_rank,
    figure=pictures.clicks_by_rank,
    meaning=(
        "Users read from the top and stop. A document far down gets few clicks even if it is "
        "relevant, because **nobody looked**. This is called *position bias*. A ranker that takes "
        "clicks at face value learns to repeat the order that was shown."
    ),
    shows=Door(
        "The same world in the Lab. Scroll down to “Who looks how far down, and what a click "
        "weighs”: the grey curve says how often users look at each rank.",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**Nobody stops reading.** The number η says how fast users stop; with η = 0 every "
            "rank is looked at. Look at the first picture under “Empirical against true risk”: "
            "what happens to the orange points?",
            "Set η = 0",
            "lab",
            {"eta": 0.0, "assumed_eta": 0.0},
        ),
        Door(
            "**Click rates as a measure.** In the picture under the controls the green squares are "
            "plain click rates, the grey line is how often users truly look. Which one falls "
            "faster?",
            "Compare both curves",
            "propensities",
            {},
            {"swap_other": "ctr"},
        ),
    ),
    exercise=Exercise(
        question=(
            "At rank {middle:.0f}, {middle_share:.1%} of the documents are relevant, and users "
            "look there with probability {middle_seen:g}. They click exactly the relevant "
            "documents that they look at. How many clicks does rank {middle:.0f} bring in "
            "{presentations:,.0f} presentations?"
        ),
        answer="answer",
        unit="clicks",
        tolerance=0.03,
        mistakes=(
            Mistake(
                "all_relevant",
                "That is how many relevant documents are **shown** there. How many of them are "
                "looked at?",
            ),
            Mistake(
                "all_seen",
                "That is how many documents are **looked at** there. How many of those are "
                "relevant?",
            ),
            Mistake(
                "for_one",
                "That is how many clicks **one** presentation brings. How many do "
                "{presentations:,.0f} bring?",
            ),
        ),
        hint="A click needs two things at once: the document is relevant **and** it is looked at. "
        "What do you do with two probabilities that must both come true?",
        solution=(
            "{presentations:,.0f} presentations × {middle_share:.3f} relevant × {middle_seen:g} "
            "looked at = **{answer:.1f} clicks**."
        ),
    ),
)

PROPENSITY = Lesson(
    key="propensity",
    title="What is a propensity, and what is 1/p?",
    idea=(
        "The probability that users look at rank r is called its **examination propensity** p. "
        "In this world p = 1/r: rank 1 is always looked at, rank 2 by every second user, rank "
        "{rank:.0f} by one in {rank:.0f}. (In general p = (1/r)^η; the *bias severity* η is 1 "
        "here.) Users click each relevant document that they look at.\n\n"
        "We cannot see the relevant documents that nobody looked at. But we can work out how many "
        "there must be."
    ),
    terms=("examination", "propensity", "weight", "eta"),
    changes={"eps_minus": 0.0},
    prediction=Guess(
        "Think of all relevant documents that were shown at rank {rank:.0f}. For each one that "
        "was looked at and clicked, how many were **not** looked at, on average?",
        low=0,
        high=20,
        step=1,
        unit="",
        decimals=1,
        near=0.05,
    ),
    given=measures.rank_of_unseen,
    measure=measures.unseen_relevant,
    figure=pictures.examination,
    meaning=(
        "In the picture users (grey) and what the learner believes (blue) are the same; green "
        "follows the slider below it.\n\n"
        "So one click at rank {rank:.0f} stands for {weight:.0f} relevant documents: itself and "
        "about {truth:.0f} that were missed. **That is all 1/p means.** Count every click 1/p "
        "times, and the clicks add up to what was really there."
    ),
    shows=Door(
        "The same world in the Lab, with a slider for η at the top. Move it and watch the grey "
        "curve under “Who looks how far down, and what a click weighs”.",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**A steeper curve.** With η = 2 rank 3 is looked at by one user in nine. Scroll down "
            "to “Who looks how far down, and what a click weighs” and choose “Weight 1/p”: what "
            "does a click at rank 10 weigh? Work it out before you read the line above the "
            "picture.",
            "Set η = 2",
            "lab",
            {"eta": 2.0, "assumed_eta": 2.0},
        ),
        Door(
            "**A real search engine.** There the paper measured p ≈ 0.12 at rank 21, as with "
            "η = 0.7. Compare naive and weighted under “Trained rankers”: how much is left to "
            "repair?",
            "Set η = 0.7",
            "lab",
            {"eta": 0.7, "assumed_eta": 0.7},
        ),
    ),
    exercise=Exercise(
        question=(
            "On the paper's live search engine users looked further down: p was about 0.12 at "
            "rank 21, as with p = (1/r)^{milder:g}. What does a click at **rank 10** weigh by "
            "this formula? (Use a calculator, or the slider under the picture.)"
        ),
        answer="answer",
        unit="weight",
        tolerance=0.02,
        mistakes=(
            Mistake("milder_p", "That is p, how often rank 10 is looked at. Its weight is 1/p."),
            Mistake("steep_weight", "That would be the weight for η = 1. Here η = {milder:g}."),
            Mistake(
                "as_factor",
                "η is an exponent, not a factor: p = (1/10)^{milder:g}, not {milder:g} × 1/10.",
            ),
            Mistake(
                "as_factor_p",
                "η is an exponent, not a factor: p = (1/10)^{milder:g}, not {milder:g} × 1/10. And "
                "the weight is 1/p.",
            ),
        ),
        hint="First p at rank 10, which is (1/10)^{milder:g}; then its inverse.",
        solution=(
            "p = (1/10)^{milder:g} = {milder_p:.3f}, and 1/p = 10^{milder:g} = **{answer:.2f}**. "
            "A milder bias needs smaller weights."
        ),
    ),
)

WHY_UNBIASED = Lesson(
    key="unbiased",
    title="Why does weighting by 1/p give the truth?",
    idea=(
        "One query, six documents, shown to users as A B C D E F. Only B, E and F are relevant. "
        "Rank r is looked at with probability 1/r, so B at rank 2 by every second user.\n\n"
        "A new ranker would order them E F A C B D. Its **sum of ranks** of the relevant "
        "documents is **8**: E at 1, F at 2, B at 5 (small is good). We want this 8 from clicks "
        "alone. For each visit, add up *new rank × weight 1/p* over the clicked documents."
    ),
    terms=("risk", "weight", "unbiased", "ips"),
    changes={"eps_minus": 0.0},
    prediction=Choice(
        "A single visit gives some number between 0 (nothing clicked) and 27 (all three clicked). "
        "Averaged over endlessly many visits, what is it?",
        (
            "less than 8: most relevant documents go unclicked",
            "exactly 8",
            "more than 8: the weights exaggerate",
        ),
    ),
    measure=measures.one_query,
    traffic=traffic.visits,
    figure=pictures.settling_users,
    meaning=(
        "The blue line is the average so far, as 1,000 users come; the band is its 95% "
        "interval.\n\n"
        "B is seen by every second user, and counts double. E is seen by every fifth, and counts "
        "five times. **p × 1/p = 1**: what users miss and what the weight adds cancel, document "
        "by document, whatever the ranking. That is the whole proof. It needs p above 0 for every "
        "relevant document: a click that can never happen has no weight that repairs it."
    ),
    shows=Door(
        "The proof line by line, from the top of the page on: each line with its number, by "
        "fractions and by simulated users.",
        "Open the proof",
        "proofs",
        {},
        {"proof": "ips-unbiased"},
    ),
    steps=(
        Door(
            "**Break it.** Nobody ever looks at F. The sentence at the top says which line of the "
            "proof fails and by how much; that line stands in a frame.",
            "Hide a relevant document",
            "proofs",
            {},
            {"break_zero_relevant": True},
        ),
        Door(
            "**Watch single users.** Scroll past the proof, down to “See it happen”, and press "
            "“Play”: see who clicks what, and the average settle.",
            "One user at a time",
            "proofs",
            {},
            {"view": "user"},
        ),
    ),
    exercise=Exercise(
        question=(
            "One visitor clicks **B** (shown at rank 2) and **E** (shown at rank 5). The new "
            "ranker puts E at rank 1 and B at rank 5. What is the weighted sum of ranks of this "
            "visit?"
        ),
        answer="answer",
        unit="weighted sum of ranks",
        tolerance=0.001,
        mistakes=(
            Mistake("plain", "That is the sum without weights. Each click counts 1/p times."),
            Mistake("only_first", "That is what B counts. E was clicked, too."),
            Mistake("only_second", "That is what E counts. B was clicked, too."),
            Mistake(
                "loss",
                "That is what all visits come to **on average**. This visit alone may be above or "
                "below it.",
            ),
            Mistake("only_weights", "Those are the weights. Multiply each by its document's rank."),
            Mistake(
                "shown_ranks",
                "The weight comes from the rank at which users **saw** the document, but the rank "
                "that is added is that of the **new** ranker.",
            ),
        ),
        hint="For each click: (rank under the new ranker) × (1/p of the rank where it was shown). "
        "Then add both.",
        solution=(
            "B: {B_new:.0f} × {B_weight:.0f}. E: {E_new:.0f} × {E_weight:.0f}. Together "
            "**{answer:.0f}**. This visit is above 8; others are below, many are 0."
        ),
    ),
)

FIRST_LESSONS = (WHY_CLICKS_LIE, PROPENSITY, WHY_UNBIASED)
