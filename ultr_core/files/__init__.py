"""Reading and writing files: corpora, click logs, curves, weights, rankers."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.files.curve_files import (
        context_curves_text,
        curve_text,
        parse_context_values,
        parse_curve,
        parse_curve_values,
        parse_trust_bias,
        read_context_values,
        read_curve,
        read_curve_values,
        read_curves,
        write_context_curves,
        write_curve,
    )
    from ultr_core.files.letor import load_corpus, load_directory, parse_corpus
    from ultr_core.files.letor_writer import write_letor
    from ultr_core.files.log_columns import COLUMNS, parse_columns
    from ultr_core.files.log_files import LogPreview, parse_log, preview_log, read_log
    from ultr_core.files.name_tables import NameTable, parse_names, read_names
    from ultr_core.files.proprank_files import (
        packed_proprank,
        parse_proprank,
        proprank_bytes,
        read_proprank,
        write_proprank,
    )
    from ultr_core.files.ranker_files import (
        on_columns_of,
        parse_ranker,
        read_ranker,
        write_ranker,
        write_svm_light_model,
    )
    from ultr_core.files.score_files import parse_scores, read_scores, write_scores
    from ultr_core.files.weight_files import parse_weights, read_weights, write_weights
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "COLUMNS",
    "LogPreview",
    "NameTable",
    "context_curves_text",
    "curve_text",
    "load_corpus",
    "load_directory",
    "on_columns_of",
    "packed_proprank",
    "parse_columns",
    "parse_context_values",
    "parse_corpus",
    "parse_curve",
    "parse_curve_values",
    "parse_log",
    "parse_names",
    "parse_proprank",
    "parse_ranker",
    "parse_scores",
    "parse_trust_bias",
    "parse_weights",
    "preview_log",
    "proprank_bytes",
    "read_context_values",
    "read_curve",
    "read_curve_values",
    "read_curves",
    "read_log",
    "read_names",
    "read_proprank",
    "read_ranker",
    "read_scores",
    "read_weights",
    "write_context_curves",
    "write_curve",
    "write_letor",
    "write_proprank",
    "write_ranker",
    "write_scores",
    "write_svm_light_model",
    "write_weights",
]
