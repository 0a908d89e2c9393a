"""A Jupyter notebook as plain JSON (nbformat 4): cells, and the file that they make.

What each page's notebook says is in :mod:`ultr_core.export.page_notebooks`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, Literal

NEEDS = (
    "This notebook needs `ultr_core` and, for the figures, its chart libraries: run it in the "
    "lab's folder, or run `pip install '.[figures]'` there first. To run a notebook you need "
    "Jupyter "
    "(`pip install notebook`)."
)
"""What every notebook says of what it needs."""

NOTEBOOK_MIME = "application/x-ipynb+json"


@dataclass(frozen=True)
class Cell:
    """One cell: ``kind`` and its ``text`` without indentation or empty lines around it."""

    kind: Literal["markdown", "code"]
    text: str


def words(text: str) -> Cell:
    """A cell of explanation, in Markdown."""
    return Cell("markdown", dedent(text).strip())


def code(text: str) -> Cell:
    """A cell of Python."""
    return Cell("code", dedent(text).strip())


@dataclass(frozen=True)
class Notebook:
    """A notebook: its ``cells``, and ``name``, the stem of its file name."""

    name: str
    cells: tuple[Cell, ...]

    @property
    def source(self) -> str:
        """The code of all cells in order, as a program."""
        return "\n\n".join(cell.text for cell in self.cells if cell.kind == "code") + "\n"

    def as_dict(self) -> dict[str, Any]:
        """The notebook in nbformat 4.5; cells have fixed ids, so the bytes are stable."""
        return {
            "cells": [_cell(number, cell) for number, cell in enumerate(self.cells, start=1)],
            "metadata": {
                "kernelspec": {
                    "display_name": "Python 3", "language": "python", "name": "python3",
                },
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }  # fmt: skip

    def as_bytes(self) -> bytes:
        """The file (UTF-8)."""
        return (json.dumps(self.as_dict(), indent=1, ensure_ascii=False) + "\n").encode()


def _cell(number: int, cell: Cell) -> dict[str, Any]:
    common: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": cell.text.splitlines(keepends=True),
    }
    return common if cell.kind == "markdown" else {
        **common, "execution_count": None, "outputs": [],
    }  # fmt: skip


def notebook(name: str, cells: Sequence[Cell]) -> Notebook:
    """A notebook of these cells."""
    return Notebook(name, tuple(cells))
