"""The user's files, checked before use: corpus, click log, propensities, ranker.

joined = join_log(read_log("log.csv"), corpus)
inspect_together(joined, corpus, curve).sentence
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.inspection.inspection import Inspection
    from ultr_core.inspection.joined import JoinedLog, Overlap, join_log, require_queries
    from ultr_core.inspection.of_corpus import inspect_corpus, inspect_splits
    from ultr_core.inspection.of_curve import inspect_curve, rescaled_notice, trust_bias_found
    from ultr_core.inspection.of_file import inspect_file, inspect_upload, is_log, kind_of
    from ultr_core.inspection.of_log import inspect_log, own_curve
    from ultr_core.inspection.of_ranker import inspect_ranker, inspect_scores
    from ultr_core.inspection.of_together import (
        Sees,
        Unshown,
        heaviest_share,
        inspect_together,
        last_rank_of,
        require_covered,
        seen_impressions,
        sees_of,
        uncovered,
        unshown_candidates,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "Inspection",
    "JoinedLog",
    "Overlap",
    "Sees",
    "Unshown",
    "heaviest_share",
    "inspect_corpus",
    "inspect_curve",
    "inspect_file",
    "inspect_log",
    "inspect_ranker",
    "inspect_scores",
    "inspect_splits",
    "inspect_together",
    "inspect_upload",
    "is_log",
    "join_log",
    "kind_of",
    "last_rank_of",
    "own_curve",
    "require_covered",
    "require_queries",
    "rescaled_notice",
    "seen_impressions",
    "sees_of",
    "trust_bias_found",
    "uncovered",
    "unshown_candidates",
]
