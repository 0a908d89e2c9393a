"""Resumable grids of cells, run in several processes: the paper's figures, and maps."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.studies.cells import (
        STUDY_METHODS,
        Cell,
        CellResult,
        cell_of,
        curve_name,
        peak_memory_mib,
    )
    from ultr_core.studies.claims import RULES, Claim, Rule, judge
    from ultr_core.studies.curves import FIXED_METHODS, StudyResult
    from ultr_core.studies.grids import (
        BASE_FIELDS,
        FIGURES,
        GRID_VERSION,
        MAPS,
        REPAIRS,
        SCALES,
        STUDIES,
        Plan,
        Point,
        Scale,
        Study,
    )
    from ultr_core.studies.journal import Journal, load_shipped, open_journal, shipped_result
    from ultr_core.studies.losses import DEFAULT_LOSS, LOSSES, Loss, find_loss
    from ultr_core.studies.reading import (
        guarded_method,
        left_out_words,
        pays_from,
        read_study,
        repair_headline,
        settings_words,
        study_headline,
        taken_words,
    )
    from ultr_core.studies.runner import Runner, open_runner, run_in_process
    from ultr_core.studies.source import (
        SIZES,
        WorldDescription,
        WorldSource,
        describe,
        describe_world,
        description_cell,
        world_of,
    )
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "BASE_FIELDS",
    "DEFAULT_LOSS",
    "FIGURES",
    "FIXED_METHODS",
    "GRID_VERSION",
    "LOSSES",
    "MAPS",
    "REPAIRS",
    "RULES",
    "SCALES",
    "SIZES",
    "STUDIES",
    "STUDY_METHODS",
    "Cell",
    "CellResult",
    "Claim",
    "Journal",
    "Loss",
    "Plan",
    "Point",
    "Rule",
    "Runner",
    "Scale",
    "Study",
    "StudyResult",
    "WorldDescription",
    "WorldSource",
    "cell_of",
    "curve_name",
    "describe",
    "describe_world",
    "description_cell",
    "find_loss",
    "guarded_method",
    "judge",
    "left_out_words",
    "load_shipped",
    "open_journal",
    "open_runner",
    "pays_from",
    "peak_memory_mib",
    "read_study",
    "repair_headline",
    "run_in_process",
    "settings_words",
    "shipped_result",
    "study_headline",
    "taken_words",
    "world_of",
]
