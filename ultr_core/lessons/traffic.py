"""What counts in a lesson, for the line on its world: click logs, visits, presented lists."""

from __future__ import annotations

from ultr_core.lab.live import LiveDesign
from ultr_core.lab.propensity_study import SwapDesign
from ultr_core.settings import Settings
from ultr_core.words import counted

VISITS = 1_000
"""Simulated visits in the picture of the lesson on unbiasedness."""


def one_log(settings: Settings) -> str:
    """One click log of as many clicks as the settings say."""
    return f"about {counted(settings.clicks, 'click')}, in one log"


def logs(settings: Settings) -> str:
    """A click log for each draw."""
    return f"{counted(settings.draws, 'click log')} of about {settings.clicks:,} clicks each"


def visits(_settings: Settings) -> str:
    """Visits of the small query."""
    return f"one query of its own, visited {VISITS:,} times"


def presentations(_settings: Settings) -> str:
    """Lists that are shown in the swap experiment."""
    return f"{SwapDesign().sessions:,} presentations of a list"


def live(settings: Settings) -> str:
    """Clicks to learn from, and queries that are interleaved."""
    design = LiveDesign()
    return (
        f"about {settings.clicks:,} clicks in {design.days} days to learn from, then "
        f"{design.interleaved:,} interleaved queries for each contest"
    )
