"""The one kind of error that a reader is meant to see."""

from __future__ import annotations


class InputError(ValueError):
    """Something given from outside cannot be used.

    The message is one sentence: what is wrong, where (file, line, column or
    parameter), and what would be right. Pages show it as it is; the command
    line prints it and exits with code 2.
    """
