"""One module for each command of ``python -m ultr_core``.

A command is a module with ``NAME``, ``SUMMARY``, ``add_options(parser)`` and
``run(options) -> exit code``, listed in :data:`COMMANDS`.
"""

from types import ModuleType

from ultr_core.commands import (
    check,
    claims,
    compare,
    convert,
    evaluate,
    fit,
    live,
    notebook,
    proofs,
    propensities,
    reproduce,
    sign_test,
    simulate,
)

COMMANDS: tuple[ModuleType, ...] = (
    compare,
    proofs,
    claims,
    reproduce,
    propensities,
    live,
    sign_test,
    notebook,
    convert,
    check,
    fit,
    evaluate,
    simulate,
)
"""The commands, in the order in which help shows them."""
