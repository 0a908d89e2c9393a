"""Bounds on what is taken from outside: each with its number, its reason and its sentence.

Every reader of files and every server that takes requests asks here, so that a reader who meets
a bound learns what it is, why it is there and what would be right.
"""

from __future__ import annotations

from dataclasses import dataclass

from ultr_core.errors import InputError


@dataclass(frozen=True)
class Limit:
    """The most of something that is taken from outside.

    most: the largest amount that is accepted. unit: what is counted, in the plural. reason: why
    there is a bound, as the end of "..., because". remedy: what would be right, as a clause of
    its own.
    """

    most: int
    unit: str
    reason: str
    remedy: str

    def require(self, amount: int, subject: str) -> None:
        """Raise InputError if ``amount`` exceeds the bound; ``subject`` is who has too many.

        >>> Limit(2, "columns", "each is looked at", "leave some out").require(2, "log.csv")
        """
        if amount > self.most:
            raise InputError(
                f"{subject} has {amount:,} {self.unit}; at most {self.most:,} are accepted, "
                f"because {self.reason}; {self.remedy}."
            )


# Files that are made for a visitor of a page.
LARGEST_TRAINING_FILE = Limit(
    128_000_000,
    "bytes",
    "a page makes it in the memory of the server",
    "write it with the command fit and its option --proprank-out, which has no bound",
)
"""Unpacked, of a training file for svm_proprank, which grows with the square of a query's clicks.

All else that is made for a visitor is at most a few times as large as what it is made from.
"""
