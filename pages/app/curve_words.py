"""How the pages speak of examination: of an exponent, or of a given curve."""

from __future__ import annotations

from ultr_core.settings import Settings


def users_have(settings: Settings) -> str:
    """What the users' examination is: "η = 1" or "the given curve"."""
    return "the given curve" if settings.curve else f"η = {settings.eta:g}"


def learner_believes(settings: Settings) -> str:
    """What the learner divides by: "η′ = 1", "a given curve", or "another curve"."""
    if not settings.assumed_curve:
        return f"η′ = {settings.assumed_eta:g}"
    if settings.belief_is_right:
        return "the same curve"
    return "another curve" if settings.curve else "a given curve"
