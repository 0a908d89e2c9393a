"""One module for each command of ``python -m ultr_core``.

A command is a module with ``NAME``, ``SUMMARY``, ``add_options(parser)`` and
``run(options) -> exit code``, listed in :data:`COMMANDS`.
"""

from types import ModuleType

from ultr_core.commands import compare, proofs

COMMANDS: tuple[ModuleType, ...] = (compare, proofs)
"""The commands, in the order in which help shows them."""
