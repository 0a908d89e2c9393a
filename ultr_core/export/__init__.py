"""Downloads: figures as files, notebooks, and records of how a result was made."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.export.figure_files import FILE_FORMATS, FileFormat
    from ultr_core.export.notebook import NOTEBOOK_MIME, Notebook
    from ultr_core.export.origin import Origin, settings_words
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "FILE_FORMATS",
    "NOTEBOOK_MIME",
    "FileFormat",
    "Notebook",
    "Origin",
    "settings_words",
]
