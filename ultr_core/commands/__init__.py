"""One module for each command of ``python -m ultr_core``.

A command is a module with ``NAME``, ``SUMMARY``, ``add_options(parser)`` and
``run(options) -> exit code``, listed in :data:`COMMANDS`.
"""

from types import ModuleType

from ultr_core.commands import compare, live, proofs, propensities, reproduce, sign_test

COMMANDS: tuple[ModuleType, ...] = (compare, proofs, reproduce, propensities, live, sign_test)
"""The commands, in the order in which help shows them."""
