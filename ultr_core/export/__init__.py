"""Things to take away: figures as files, links, notebooks."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.export.figure_files import FILE_FORMATS, FileFormat
    from ultr_core.export.notebook import NOTEBOOK_MIME, Notebook
    from ultr_core.export.origin import Origin, settings_words
    from ultr_core.export.page_notebooks import NOTEBOOK_PAGES, OWN_WORK, PageState, page_notebook
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "FILE_FORMATS",
    "NOTEBOOK_MIME",
    "NOTEBOOK_PAGES",
    "OWN_WORK",
    "FileFormat",
    "Notebook",
    "Origin",
    "PageState",
    "page_notebook",
    "settings_words",
]
