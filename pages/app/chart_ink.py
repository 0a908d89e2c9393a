"""Ink of charts that follows the page when a reader's system changes the theme.

The server draws a chart for the theme in which it was asked for; style gives the same ink its
colour in the other one. The picture keeps its own colours, for the browser makes files of it.
"""

from __future__ import annotations

from ultr_core.figures.style import INKS


def _followed(name: str) -> str:
    """One ink as fill and stroke, whichever theme the picture was drawn for."""
    light, dark = (getattr(INKS[theme], name) for theme in ("light", "dark"))
    return "".join(
        f'svg.marks :is([{part}="{light}"],[{part}="{dark}"]){{{part}:light-dark({light},{dark})}}'
        for part in ("fill", "stroke")
    )


STYLE = "".join(_followed(name) for name in ("text", "quiet", "background"))
"""The style; the shell sends it with every page."""
