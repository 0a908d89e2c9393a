"""All pages of the app, once: file, address, menu entry, question and controls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ultr_core.settings import SHARED_FIELDS

MAIN_CONTROLS = ("eta", "assumed_eta", "eps_minus", "clicks")
"""The settings that have a slider above every page on which they act."""

EXPERIMENTS, REFERENCE = "Experiments", "Reference"
"""Groups of the menu."""

RUN, SIMULATE = "study-run", "data-simulate"
"""Keys of what computes a study with a visitor's settings, and of what simulates a click log."""

_WORLD = ("eta", "eps_minus", "eps_plus", "seed", "corpus_seed", "relevant_grade", "curve")
_OF_A_RUN = (
    "draws", "seed", "eps_plus", "corpus_seed", "relevant_grade", "curve", "assumed_curve",
)  # fmt: skip


@dataclass(frozen=True)
class PageInfo:
    """One page.

    ``path`` is both its address and the stem of its file in ``pages/``, so that a deep link
    works whichever request comes first after a start. ``question`` is its title, ``group`` its
    part of the menu, "" for the menu itself. ``in_lectures`` are the settings shown in lecture mode
    unless others are chosen; ``of_words`` says that the page is there to be read, also by a room;
    ``acts`` names the settings that act on it, None for all; ``acts_then`` those that act as well
    as long as the page has a container or button of the key ``acts_while``.
    """

    path: str
    menu: str
    icon: str
    question: str
    summary: str
    group: str = ""
    in_lectures: tuple[str, ...] = ()
    of_words: bool = False
    acts: tuple[str, ...] | None = None
    acts_while: str = ""
    acts_then: tuple[str, ...] = ()

    def acting(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of the settings that act on the page, at least at times."""
        acting = None if self.acts is None else (*self.acts, *self.acts_then)
        return tuple(name for name in names if acting is None or name in acting)

    @property
    def file(self) -> str:
        """The page's script, relative to the app."""
        return f"pages/{self.path}.py"


LAB = PageInfo(
    path="lab",
    menu="Lab",
    icon=":material/science:",
    question="What do biased clicks do to a ranker, and what does weighting repair?",
    summary="Simulated users click, rankers learn from the clicks, and the proof is shown "
    "alongside.",
    in_lectures=MAIN_CONTROLS,
)

LESSONS = PageInfo(
    path="lessons",
    menu="Lessons",
    icon=":material/school:",
    question="Can you predict what biased clicks do?",
    summary="Short lessons: predict, see what happens, solve an exercise. Plans for lecturers.",
    of_words=True,
    acts=SHARED_FIELDS,
)

LEARNING_CURVES = PageInfo(
    path="learning_curves",
    menu="Learning curves",
    group=EXPERIMENTS,
    icon=":material/show_chart:",
    question="How many clicks before weighting pays off?",
    summary="Figure 1 of the paper, with intervals and a verdict on each claim.",
    acts=(),
    acts_while=RUN,
    acts_then=_OF_A_RUN,
)

ROBUSTNESS = PageInfo(
    path="robustness",
    menu="Robustness",
    group=EXPERIMENTS,
    icon=":material/shield:",
    question="How robust is weighting to bias, noise and wrong propensities?",
    summary="Figures 2 to 4 of the paper, and maps whose points open in the Lab.",
    acts=(),
    acts_while=RUN,
    acts_then=_OF_A_RUN,
)

PROOFS = PageInfo(
    path="proofs",
    menu="Proofs",
    group=REFERENCE,
    icon=":material/function:",
    question="Why does weighting work, and when does it not?",
    summary="Every line of the paper's derivations in numbers, and switches that break their "
    "assumptions.",
    acts=("eta", "assumed_eta", "eps_minus", "eps_plus", "seed", "curve", "assumed_curve"),
)

PROPENSITIES = PageInfo(
    path="propensities",
    menu="Propensities",
    group=EXPERIMENTS,
    icon=":material/swap_vert:",
    question="Where do propensities come from, and what do they cost?",
    summary="Swap experiments, other methods and their costs, and your own click log.",
)

REPAIRS = PageInfo(
    path="repairs",
    menu="Users and repairs",
    group=EXPERIMENTS,
    icon=":material/healing:",
    question="What breaks weighting, and what repairs it?",
    summary="Few clicks, trust in the top, short lists, wrong curves; how later work repairs them.",
    acts=(),
    acts_while=RUN,
    acts_then=("draws", "seed", "corpus_seed", "relevant_grade"),
)

LIVE = PageInfo(
    path="live",
    menu="Live experiment",
    group=EXPERIMENTS,
    icon=":material/compare_arrows:",
    question="Would users prefer the weighted ranker?",
    summary="The paper's live experiment on a simulated engine: interleaving and the sign test.",
    acts=(*_WORLD, "clicks"),
)

YOUR_DATA = PageInfo(
    path="your_data",
    menu="Your data",
    icon=":material/upload_file:",
    question="What can your own clicks teach a ranker, and what do they prove?",
    summary="Add your corpus and click log; get checks, propensities, a ranker and evidence.",
    of_words=True,
    acts=("relevant_grade", "seed"),
    acts_while=SIMULATE,
    acts_then=(*_WORLD, "clicks"),
)

CLAIMS = PageInfo(
    path="claims",
    menu="Claims",
    group=REFERENCE,
    icon=":material/fact_check:",
    question="Which of the paper's claims hold?",
    summary="Every claim, how it is checked, and what was found. Conventions and errata.",
    of_words=True,
    acts=(),
)

ABOUT = PageInfo(
    path="about",
    menu="About",
    group=REFERENCE,
    icon=":material/menu_book:",
    question="What exactly is computed here, and where does it come from?",
    summary="The corpus, your own data, references, this server.",
    of_words=True,
    acts=(),
)

PAGES = (
    LAB, LESSONS, LEARNING_CURVES, ROBUSTNESS, REPAIRS, PROOFS, PROPENSITIES, LIVE, YOUR_DATA,
    CLAIMS, ABOUT,
)  # fmt: skip
HOME = LAB
