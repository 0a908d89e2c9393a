"""One colour, one shape and one dash for each method, on every picture.

Colours are from the Okabe-Ito palette, restricted to those that reach a contrast of 3:1 on the
white and on the dark background; text is never coloured by method but placed beside its mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

FONT_SIZE = 16
FONT = "Source Sans, Source Sans Pro, DejaVu Sans, sans-serif"

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn: ``color``, point ``shape`` (Vega symbol) and line ``dash``."""

    color: str
    shape: str
    dash: tuple[int, int]


METHOD_STYLES: Mapping[str, MethodStyle] = MappingProxyType(
    {
        "production": MethodStyle("#767676", "square", (2, 3)),
        "naive": MethodStyle("#D55E00", "triangle-up", (6, 3)),
        "propensity": MethodStyle("#0072B2", "circle", (1, 0)),
        "clipped": MethodStyle("#009E73", "diamond", (8, 3)),
        "skyline": MethodStyle("#B5669B", "cross", (10, 4)),
    }
)

REPAIR_STYLES: Mapping[str, MethodStyle] = MappingProxyType(
    {
        "direct": MethodStyle("#9A6A3A", "triangle-down", (3, 3)),
        "doubly-robust": MethodStyle("#7B61C9", "triangle-right", (1, 0)),
        "swap-ratio": MethodStyle("#3F6FA8", "square", (1, 0)),
        "affine": MethodStyle("#1B8A9E", "triangle-left", (1, 0)),
        "affine-swaps": MethodStyle("#2A7F86", "triangle-down", (8, 3)),
        "affine-doubly-robust": MethodStyle("#9A57C0", "diamond", (8, 3)),
        "policy-aware": MethodStyle("#5F8A1F", "square", (1, 0)),
        "policy-aware-known": MethodStyle("#3E7A6A", "triangle-left", (2, 3)),
        "hindsight": MethodStyle("#A8442A", "triangle-left", (1, 0)),
        "hindsight-doubly-robust": MethodStyle("#8E4B8A", "square", (8, 3)),
        "softmax": MethodStyle("#2D6E8E", "triangle-up", (1, 0)),
        "one-tower": MethodStyle("#8C6D1F", "triangle-down", (2, 3)),
        "two-towers-additive": MethodStyle("#C2527F", "square", (1, 0)),
        "two-towers-product": MethodStyle("#4A7FB5", "diamond", (8, 3)),
        "trees-by-position": MethodStyle("#4F7D3A", "diamond", (1, 0)),
    }
)
"""Of the methods that a comparison has only if it is asked for them."""

STUDY_STYLES: Mapping[str, MethodStyle] = MappingProxyType(
    {
        **METHOD_STYLES,
        "skip-above": MethodStyle("#8C6D1F", "triangle-down", (2, 2)),
        **REPAIR_STYLES,
        "too-steep": replace(METHOD_STYLES["propensity"], shape="triangle-down", dash=(6, 3)),
        "too-flat": replace(METHOD_STYLES["propensity"], shape="triangle-right", dash=(2, 3)),
        "replace-last": replace(REPAIR_STYLES["policy-aware"], shape="diamond", dash=(6, 3)),
        "plackett-luce": REPAIR_STYLES["policy-aware"],
        "mixture": REPAIR_STYLES["policy-aware-known"],
        **{
            f"{weights}-{learner}": METHOD_STYLES[weights]
            for weights in ("naive", "propensity")
            for learner in ("softmax", "squared", "logistic", "trees")
        },
        "skyline-trees": METHOD_STYLES["skyline"],
    }
)
"""Of the methods of studies; with another learner a method looks the same, in a row of its own."""

FILLS: Mapping[Theme, tuple[str, str]] = MappingProxyType(
    {"light": ("#F08C3C", "#5AA9DC"), "dark": ("#B24E00", "#0072B2")}
)
"""The naive and the weighted ranker's colours as fills: text keeps a contrast of 4.5:1 on them."""


_NEUTRAL_COLORS = ("#7A7A52", "#647D91", "#8A6F80", "#5E8077")
_NEUTRAL_SHAPES = ("triangle-down", "triangle-right", "triangle-left", "arrow", "wedge")

NEUTRAL_STYLES: Mapping[str, MethodStyle] = MappingProxyType(
    {
        f"neutral-{number}": MethodStyle(
            _NEUTRAL_COLORS[number % len(_NEUTRAL_COLORS)],
            _NEUTRAL_SHAPES[number % len(_NEUTRAL_SHAPES)],
            (4, 2),
        )
        for number in range(len(_NEUTRAL_COLORS) * len(_NEUTRAL_SHAPES))
    }
)
"""Styles of what is on a picture without being a method: each pair of colour and shape is another,
and none is a method's."""


@dataclass(frozen=True)
class Ink:
    """Colours of text and of quiet reference lines on one background."""

    text: str
    quiet: str
    background: str


INKS: Mapping[Theme, Ink] = MappingProxyType(
    {
        "light": Ink("#1B1F24", "#6A7480", "#FFFFFF"),
        "dark": Ink("#ECEFF2", "#98A3AE", "#101418"),
    }
)


def chart_config(ink: Ink) -> dict[str, Any]:
    """Vega-Lite ``config`` with type large enough for a projector, on a clear background."""
    axis = {
        "labelFontSize": FONT_SIZE,
        "titleFontSize": FONT_SIZE,
        "labelColor": ink.text,
        "titleColor": ink.text,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelPadding": 6,
        "labelLimit": 260,
        "labelFlush": False,
        "grid": True,
        "gridOpacity": 0.5,
        "tickCount": 5,
    }
    return {
        "font": FONT,
        "background": "transparent",
        "axis": axis,
        "text": {"fontSize": FONT_SIZE, "color": ink.text, "font": FONT},
        "rule": {"color": ink.quiet},
        "view": {"stroke": None},
    }
