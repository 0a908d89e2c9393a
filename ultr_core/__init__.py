"""The Unbiased LTR Lab's numerical core; it never imports a user interface.

    from ultr_core import Lab, Settings

    print(Lab(Settings(clicks=45_000)).comparison().sentence)

The names needed for most work are here, and are loaded on first use. The subpackages list the
others in their own ``__init__``: findings, corpus, users, propensity, risk, learners, files,
inspection, proofs, lab, own_data, studies, claims, figures, export, lessons, jobs. ``settings``
holds every parameter once.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.corpus import Corpus
    from ultr_core.errors import InputError
    from ultr_core.files import load_corpus, load_directory, read_log, read_names
    from ultr_core.inspection import join_log
    from ultr_core.lab import Lab, build_world
    from ultr_core.learners import LinearRanker
    from ultr_core.own_data import compare_with_shown, evaluate_ranker, fit_from_log
    from ultr_core.propensity import estimate_from_log
    from ultr_core.settings import Settings
    from ultr_core.users import ClickLog, ExaminationCurve, PowerLaw
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "ClickLog",
    "Corpus",
    "ExaminationCurve",
    "InputError",
    "Lab",
    "LinearRanker",
    "PowerLaw",
    "Settings",
    "__version__",
    "build_world",
    "compare_with_shown",
    "estimate_from_log",
    "evaluate_ranker",
    "fit_from_log",
    "join_log",
    "load_corpus",
    "load_directory",
    "read_log",
    "read_names",
]

__version__ = "0.2.0"
