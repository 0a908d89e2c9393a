"""How numbers are written in sentences."""

from __future__ import annotations


def percent(share: float, decimals: int = 0) -> str:
    """A share in percent, with the space that the sentences around it have.

    >>> percent(0.95), percent(0.5822, 1)
    ('95 %', '58.2 %')
    """
    return f"{100 * share:.{decimals}f} %"


def unbroken(text: str) -> str:
    """A sentence for the screen, in which no line ends between a number and its percent sign.

    >>> unbroken("95 % of 3") == "95\\N{NO-BREAK SPACE}% of 3"
    True
    """
    return text.replace(" %", "\N{NO-BREAK SPACE}%")
