"""What the address of each page holds, read and written."""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.links.page_links import PAGE_VALUES, page_query, read_page_query
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "PAGE_VALUES",
    "page_query",
    "read_page_query",
]
