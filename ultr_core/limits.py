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
    "write it with the command fit, which has no such bound",
)
"""Unpacked, of a training file for svm_proprank, which grows with the square of a query's clicks.

All else that is made for a visitor is at most a few times as large as what it is made from.
"""
MB = 1 << 20
"""Bytes; uploads are counted in these."""


def in_mb(size: int) -> int:
    """A number of bytes in MB (2^20 bytes), rounded up."""
    return -(-size // MB)


# Uploads, whatever their content.
_MEMORY = "all visitors share the memory of this server"
_FEWER = "remove some files, or run the lab on your own computer"

UPLOADS_KEPT_BY_SESSION = Limit(128, "MB of files", _MEMORY, _FEWER)
"""What one visitor may have brought to the pages at a time."""

UPLOADS_KEPT_BY_SERVER = Limit(512, "MB of files from all visitors", _MEMORY, _FEWER)

UPLOADS_UNDERWAY_OF_SESSION = Limit(64, "MB of uploads underway", _MEMORY, "send them in turn")
"""Sent, or announced by the head of a request, and not yet taken by a page."""

UPLOADS_UNDERWAY_OF_SERVER = Limit(256, "MB of uploads underway", _MEMORY, "try again in a minute")

UPLOAD_ADDRESSES = Limit(
    24, "addresses for uploads", "each is an upload that may follow", "ask again for the next ones"
)
"""Addresses that one visitor has been given and has not used; older ones expire."""

UPLOAD_SECONDS = Limit(120, "seconds", "an upload underway keeps others out", "send a smaller file")
"""From the head of an upload to its end."""

SMALL_UPLOAD = Limit(
    5, "MB", "this page is for small files", "use the page Your data or the command line"
)
"""A file on any page but Your data; there, ``server.maxUploadSize`` is the bound."""
