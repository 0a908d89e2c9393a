"""``compare``, the page Lab and its notebook: every ranker's risk on the test queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from ultr_core.errors import InputError
from ultr_core.export.notebook import Cell, code, words
from ultr_core.fields import Choice, Choices, Field
from ultr_core.jobs.files import CORPUS, MISSING_ZERO
from ultr_core.jobs.job import Given, Job, Page, PageState
from ultr_core.jobs.output import print_notes, progress_lines
from ultr_core.settings import ALL_FIELDS, Settings
from ultr_core.words import counted

if TYPE_CHECKING:
    from ultr_core.lab import Cell as Stage
    from ultr_core.lab import Comparison

EXAMINATION = Choice(
    "examination", "Examination", {"probability": "Probability p", "weight": "Weight 1/p"}
)
ESTIMATES = Choice(
    "estimates", "Estimates", {"relative": "Relative", "absolute": "All 60, absolute"}
)

METHODS = Choices(
    "methods", "The list of methods",
    {
        "naive": "Naive",
        "propensity": "Propensity-weighted",
        "swap-ratio": "Weighted by swap ratios",
        "clipped": "Clipped",
        "direct": "Direct",
        "doubly-robust": "Doubly robust",
        "affine": "Affine",
        "affine-swaps": "Affine, by swaps",
        "affine-doubly-robust": "Affine doubly robust",
        "policy-aware": "Policy-aware",
        "policy-aware-known": "Policy-aware, known ρ",
        "hindsight": "Hindsight",
        "hindsight-doubly-robust": "Hindsight doubly robust",
        "softmax": "Softmax",
        "one-tower": "One tower",
        "two-towers-additive": "Two towers, additive",
        "two-towers-product": "Two towers, product",
        "trees-by-position": "Trees by position",
        "production": "Production",
        "skyline": "Full information (skyline)",
    },
    help="which rankers learn from the clicks; default naive, propensity and clipped. Production "
    "and the skyline do not, and are always shown. The two by swaps first measure the users in "
    "1,000,000 presentations in which documents trade places. With this option, --json gives for "
    "each ranker its estimator, its learner, the number of such presentations for each click log "
    "(swap_presentations) and, for each click log, the estimator that weighted the clicks: for "
    "doubly-robust this is clipped if a test rejects its fitted relevance; --json then also gives "
    "the difference between the two rankers of each pair, paired by click log",
)  # fmt: skip
"""Written out, for help must not wait for the lab."""


LEARNER = Choice(
    "learner", "Learner",
    {
        "svm": "Ranking SVM",
        "softmax": "Softmax",
        "squared": "Squared",
        "logistic": "Logistic",
        "trees": "Trees",
        "both": "Ranking SVM and trees",
    },
    help="learner trained on the weights of each method; keys in --json then name method "
    "and learner, as in propensity-logistic; trees need the package lightgbm, and their JSON has "
    "trees (their number) instead of costs; with the value both, the ranking SVM and trees are "
    "trained",
)  # fmt: skip

MOST_PINS = 3
_DEFAULTS = "default"


@dataclass(frozen=True)
class Pins(Field):
    """Runs that are kept beside the one shown: their settings, each once."""

    default: Any = field(kw_only=True, default=())

    @property
    def wanted(self) -> str:
        """How a link spells them."""
        return (
            f"up to {MOST_PINS} semicolon-separated runs, each as it is written in a link, or "
            f"“{_DEFAULTS}”"
        )

    def checked(self, value: Any) -> tuple[Settings, ...]:
        """The settings of each run, read from a text or given as they are."""
        if isinstance(value, str):
            value = [self._read_one(text) for text in value.split(";") if text]
        found = tuple(dict.fromkeys(value))
        if len(found) > MOST_PINS:
            raise self.refused(self.write(found))
        return found

    def _read_one(self, text: str) -> Settings:
        if text == _DEFAULTS:
            return Settings()
        try:
            asked = parse_qs(text)
        except ValueError:  # too many fields
            raise self.refused(text) from None
        settings, notices = Settings.from_query(asked)
        if not asked or notices or asked.keys() - settings.by_key.keys():
            raise self.refused(text)
        return settings

    def write(self, value: Any) -> str:
        """The queries of their links, those of the default settings in a word."""
        return ";".join(settings.to_query() or _DEFAULTS for settings in value)

    def shown(self, value: Any) -> str:
        """As in a link."""
        return self.write(value)


PINS = Pins("pins", "Pinned runs")


def run(given: Given) -> Comparison:
    """Simulate clicks, train every ranker and test it."""
    from ultr_core.lab import world_notices
    from ultr_core.lab.comparison import label_of
    from ultr_core.lab.logs import require_fixed_lists

    require_fixed_lists(given.settings)
    methods = _methods(given)
    lab, progress = given.lab, progress_lines()
    splits = lab.splits()
    said = () if splits is None else splits.notices
    print_notes(said)  # before the world, whose training may take minutes
    print_notes(text for text in world_notices(lab.world(), given.settings) if text not in said)

    def tell(stage: Stage) -> None:
        if stage.kind == "trained":
            draw, method = stage.args
            progress(f"click log {draw + 1} of {given.settings.draws}: {label_of(method)}")

    comparison = lab.telling(tell).comparison(methods=methods)
    progress("")
    return comparison


def _methods(given: Given) -> tuple[str, ...] | None:
    """What is trained: the methods that were asked for with the learners; None for the usual.

    Raises InputError if none of them learns from clicks, or for a method without weights for the
    learner.
    """
    from ultr_core.lab import CLICK_METHODS
    from ultr_core.lab import METHODS as RANKERS
    from ultr_core.learners import LEARNERS, SVM
    from ultr_core.learners.trees import TREES, lightgbm

    asked = tuple(key for key in given.methods if RANKERS[key].learns_from_clicks)
    if given.methods and not asked:
        raise InputError(
            "Production and the skyline are always shown, and neither learns from clicks; add a "
            "method that does, or leave the option out.",
            METHODS.name,
        )
    if given.learner == LEARNER.default:
        return asked or None
    chosen = asked or CLICK_METHODS
    for key in chosen:
        if RANKERS[key].estimator is None:
            raise InputError(
                f"{RANKERS[key].label} learns from clicks without an estimator, so it has no "
                f"weights for another learner; leave {key} out of the methods, or choose the "
                f"learner {LEARNER.default}.",
                LEARNER.name,
            )
        if RANKERS[key].learner != SVM:
            raise InputError(
                f"{RANKERS[key].label} already has its own learner; leave {key} "
                f"out of the methods, or choose the learner {LEARNER.default}.",
                LEARNER.name,
            )
    if given.learner in LEARNERS:
        return tuple(f"{key}-{given.learner}" for key in chosen)
    lightgbm()
    linear = chosen if given.learner == "both" else ()
    return (*linear, *(f"{key}-{TREES}" for key in chosen))


def show(comparison: Comparison) -> None:
    """Print the table."""
    from ultr_core.risk import FOR_ONE_WORLD, NO_INTERVAL

    corpus = comparison.corpus
    print(
        f"{corpus['name']}: {corpus['train']['queries']:,} training, "
        f"{corpus['validation']['queries']:,} validation and {corpus['test']['queries']:,} test "
        f"queries; {counted(comparison.clicks, 'training click')} from "
        f"{counted(comparison.query_draws, 'presentation')}; click logs: {comparison.draws}."
    )
    print()
    print(f"{'ranker':28}{'test risk':>10}  {'95% interval':20}{'mean rank':>10}")
    for summary in comparison.rankers.values():
        risk = summary.risk
        interval = f"{risk.low:.3f} to {risk.high:.3f}" if risk.n > 1 else "-"
        print(f"{summary.label:28}{risk.value:10.3f}  {interval:20}{summary.mean_rank.value:10.3f}")
    print()
    print(
        "Test risk: mean over all test queries of the summed ranks of relevant documents. "
        + (
            f"Intervals: over the click logs {FOR_ONE_WORLD}; rankers not trained on clicks have "
            "none."
            if comparison.draws > 1
            else f"{NO_INTERVAL} Ask for more with --draws."
        )
    )
    print(comparison.sentence)


def cells(_: PageState) -> list[Cell]:
    """The comparison, the picture of estimated against true risk, and the proof checks."""
    return [
        words(
            """
            ## Clicks, rankers and their test risk

            The lab simulates users, trains every ranker on their clicks and tests it on new
            queries. The risk of a ranking is the mean over queries of the summed ranks of relevant
            documents (equation 2 of the paper): lower is better.
            """
        ),
        code(
            """
            comparison = lab.comparison()
            for ranker in comparison.rankers.values():
                risk = ranker.risk
                interval = f"({risk.low:.4f} to {risk.high:.4f})" if ranker.costs else ""
                print(f"{ranker.label:28} {risk.value:.4f}  {interval}".rstrip())
            print(comparison.sentence)
            """
        ),
        code(
            """
            from ultr_core.figures import comparison_figure, estimates_figure

            comparison_figure(comparison)
            """
        ),
        words(
            """
            ## Estimated against true risk

            These are sixty rankers that were not trained on clicks. Kendall's τ measures how well
            an estimate from clicks reproduces their order by true risk: τ is 1 for the true order
            and, on average, 0 for a random one.
            """
        ),
        code(
            """
            picture = lab.picture()
            print(f"naive    τ = {picture.naive.kendall:.2f}")
            print(f"weighted τ = {picture.weighted.kendall:.2f}")
            """
        ),
        code("estimates_figure(picture, belief_is_right=settings.belief_is_right)"),
        words("## The paper's claims, measured in this world"),
        code(
            """
            checks = lab.checks()
            good = sum(check.finding.holds for check in checks)
            print(f"{good} of {len(checks)} proof checks hold")
            for check in checks:
                if not check.finding.holds:
                    found = check.finding
                    print(f"{found.status}: {check.proof.title}. {found.sentence}")
            """
        ),
    ]


JOB = Job(
    run,
    options=(CORPUS, MISSING_ZERO, METHODS, LEARNER),
    settings=ALL_FIELDS,
    show=show,
    as_dict=lambda comparison: comparison.as_dict(),
    notes="--json gives each value with low and high, the ends of its 95% interval over click "
    "logs; if there is none, both are null and no_interval says why.",
    pages={
        "lab": Page(
            "What do biased clicks do to a ranker, and what does weighting repair?",
            cells,
            (EXAMINATION, ESTIMATES, PINS),
        )
    },
)
