"""Lessons 4 and 5: what a ranker learns from weighted clicks, and what weighting costs."""

from __future__ import annotations

from ultr_core.lessons import measures, pictures, traffic
from ultr_core.lessons.answers import Exercise, Mistake
from ultr_core.lessons.model import Choice, Door, Guess, Lesson

CLICKS, FEWER_CLICKS = 45_000, 2_000
"""Clicks of lesson 4, and as many as already teach the naive ranker all that it will learn."""

LEARNING = Lesson(
    key="learning",
    title="What does a ranker learn from weighted clicks?",
    idea=(
        "Now clicks train a ranker. Two learners get the same click log and use the same method, a "
        "ranking SVM. They differ only in what a click counts: the **naive** one counts each "
        "click once, "
        "the **weighted** one 1/p times.\n\n"
        "A ranker's **risk** is its sum of ranks of the relevant documents, averaged over new test "
        "queries (small is good). The ranker that is *in production* has risk "
        "**{production:.2f}**. One trained on all true labels, *full information*, reaches "
        "**{skyline:.2f}**. Users have p = 1/r and make no mistakes, as before."
    ),
    terms=("naive", "ips", "production", "skyline", "risk", "svm", "interval"),
    changes={"eps_minus": 0.0, "clicks": CLICKS, "draws": 3},
    prediction=Guess(
        "Call production 0% and full information 100%. How far does the **weighted** ranker "
        f"come, with {CLICKS:,} clicks?",
        low=0,
        high=100,
        step=5,
        unit="%",
        near=0.1,
    ),
    given=measures.baselines,
    measure=measures.learned,
    traffic=traffic.logs,
    figure=pictures.trained,
    meaning=(
        "Nothing about the learner has changed, only what a click counts. More clicks bring the "
        "weighted ranker closer to full information. The naive ranker soon stays where it is: its "
        "error is bias, and bias does not shrink with data. (± is a 95% interval over "
        "{draws:.0f} click logs.)"
    ),
    shows=Door(
        "The same world in the Lab. Scroll to “Trained rankers”: the clipped ranker stands beside "
        "both.",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**With far fewer clicks.** Look under “Trained rankers”, once all have learned, and "
            "compare with the numbers above. Which of the two rankers got better by the other "
            f"{CLICKS - FEWER_CLICKS:,} clicks?",
            f"Set n = {FEWER_CLICKS:,}",
            "lab",
            {"clicks": FEWER_CLICKS},
        ),
        Door(
            "**The whole curve.** The picture at the top: from hundreds to hundreds of thousands "
            "of clicks, figure 1 of the paper, in a world of its own.",
            "Open the learning curves",
            "learning_curves",
        ),
    ),
    exercise=Exercise(
        question=(
            "And the **naive** ranker? Its risk is {naive:.2f}; production has {production:.2f}, "
            "full information {skyline:.2f}. How many percent of the way does it come?"
        ),
        answer="answer",
        unit="percent",
        tolerance=0.02,
        share="percent",
        mistakes=(
            Mistake(
                "left", "That is what is **left** to full information. How much is done already?"
            ),
            Mistake(
                "won", "That is the way in units of risk. Divide it by the whole way, {gap:.2f}."
            ),
            Mistake("truth", "That is how far the **weighted** ranker comes."),
            Mistake("upside_down", "Upside down: the whole way is the larger part."),
        ),
        hint="The whole way is production minus full information. The naive ranker has done "
        "production minus naive of it.",
        solution=(
            "({production:.2f} − {naive:.2f}) / ({production:.2f} − {skyline:.2f}) = {won:.2f} / "
            "{gap:.2f} = **{answer:.0f}%**. The weighted ranker: {truth:.0f}%."
        ),
    ),
)

VARIANCE = Lesson(
    key="variance",
    title="What does weighting cost?",
    idea=(
        "On average the weights are right. A single log is not the average: one click at rank 20 "
        "counts 20 times, whether it happens once or, by luck, twice. That is **variance**.\n\n"
        "Same world as before, but only about **250 clicks** instead of 45,000."
    ),
    terms=("bias", "variance", "interval", "ess", "clipping"),
    changes={"eps_minus": 0.0, "clicks": 250},
    prediction=Choice(
        "Which ranker does better on test queries after 250 clicks? (Mean over five such logs.)",
        (
            "the naive one",
            "the weighted one",
            "they cannot be told apart",
        ),
    ),
    measure=measures.few_clicks,
    traffic=traffic.logs,
    figure=pictures.trained,
    meaning=(
        "Two kinds of error trade places. The naive ranker is biased but steady, the weighted one "
        "is right on average but shaky. Few clicks: the steady one may win. Many clicks: the "
        "shaking stops and bias remains. In between one can **clip**: no propensity below τ, so no "
        "weight above 1/τ. That takes a little bias for much less variance, if τ is well "
        "chosen. It is chosen anew for each log, by validation clicks; where those are few, as "
        "here, **the choice itself is shaky**."
    ),
    shows=Door(
        "The same world in the Lab, with a clipped ranker, too. Scroll to “Trained rankers” and "
        "open “Numbers” there: it lists the τ that was chosen for each of the five logs. How far "
        "apart are they?",
        "Open this world in the Lab",
        "lab",
    ),
    steps=(
        Door(
            "**Where do they cross?** At 1,000 clicks, can they still be told apart? The sentence "
            "at the top of the Lab says it, once all have learned.",
            "Set n = 1,000",
            "lab",
            {"clicks": 1_000},
        ),
        Door(
            "**The race in exact numbers.** In a world of its own: one query with six documents, "
            "and nothing is trained. There a handful of clicks is enough; the sentence at the top "
            "says how many. Scroll down to “See it happen” for the picture of the race.",
            "Naive against weighted",
            "proofs",
            {},
            {"proof": "overtaking", "view": "race"},
        ),
    ),
    exercise=Exercise(
        question=(
            "Four clicks: three at rank 1 and one at rank 7. With η = 1 they weigh 1, 1, 1 and 7. "
            "The *effective sample size* is (sum of the weights)² / (sum of the squared weights). "
            "What is it?"
        ),
        answer="answer",
        unit="clicks of equal weight",
        tolerance=0.02,
        mistakes=(
            Mistake("count", "That would be so if all four clicks weighed the same."),
            Mistake("sum", "That is the sum of the weights. Square it, then divide."),
            Mistake("inverse", "Upside down: the squared sum stands on top."),
            Mistake("squared_sum", "That is the squared sum. Divide it by the sum of the squares."),
            Mistake("squares", "That is the sum of the squares. It stands below the squared sum."),
            Mistake("unsquared", "Square the sum of the weights first, then divide."),
        ),
        hint="Sum: 1 + 1 + 1 + 7. Squares: 1 + 1 + 1 + 49.",
        solution=(
            "{sum:.0f}² / {squares:.0f} = **{answer:.2f}**. Four clicks are worth about two, "
            "because one of them says nearly everything."
        ),
    ),
)

LEARNING_LESSONS = (LEARNING, VARIANCE)
