"""The settings that options ask for, and a note on what a reader may have forgotten."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from ultr_core.curve_values import CURVES
from ultr_core.errors import InputError
from ultr_core.jobs.output import option_of
from ultr_core.settings import PARAMETERS, Settings
from ultr_core.words import as_argument


def settings_from(
    asked: Mapping[str, str], *, believing: bool = True
) -> tuple[Settings, tuple[str, ...]]:
    """The settings that texts by name ask for, with notes; a curve's text names its file.

    believing: whether there is a learner with a belief of its own about the users.

    Raises :class:`~ultr_core.errors.InputError` for a value that cannot be used, and for a curve
    beside the exponent that it takes the place of.
    """
    numbers = {name: text for name, text in asked.items() if name in PARAMETERS}
    files = {name: path for name, path in asked.items() if name in CURVES}
    for name in files:
        if CURVES[name].power in numbers:
            raise InputError(
                f"{option_of(name)} takes the place of {option_of(CURVES[name].power)}; "
                "give one of them.",
                "one_of_two",
            )
    settings, notices = Settings.from_options({**numbers, **_curve_values(files)})
    return settings, (*notices, *(_belief_note(settings, asked) if believing else ()))


def _curve_values(files: Mapping[str, str]) -> dict[str, Any]:
    if not files:
        return {}
    from ultr_core.files import read_curve_values

    return {name: read_curve_values(path) for name, path in files.items()}


def _belief_note(settings: Settings, asked: Mapping[str, str]) -> tuple[str, ...]:
    """A reader who changes how users look may forget that the learner's belief stays."""
    told = "assumed_eta" in asked or "assumed_curve" in asked
    if told or settings.belief_is_right or not ("eta" in asked or "curve" in asked):
        return ()
    users = f"have η = {settings.eta:g}"
    right = f"{option_of('assumed_eta')} {settings.eta:g}"
    if "curve" in asked:
        users = "follow the given curve"
        right = f"{option_of('assumed_curve')} {shlex.quote(as_argument(asked['curve']))}"
    return (
        f"users {users} but the learner still believes η′ = {settings.assumed_eta:g}; for correct "
        f"propensities add {right}.",
    )
