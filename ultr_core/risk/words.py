"""How numbers are written in sentences."""

from __future__ import annotations


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent, with the space that the sentences around it have.

    >>> percent(0.95), percent(0.5822, 1)
    ('95 %', '58.2 %')
    """
    return f"{100 * share:.{decimals}f} %"
