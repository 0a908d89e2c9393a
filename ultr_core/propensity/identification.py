"""Which ranks can be compared with a reference rank at all, and what would link the others.

A method compares ranks through items: documents that were shown at several ranks, or pairs of
ranks. It knows p_r / p_k inside the part of ranks that such items join with the reference k, and
nothing outside it: there every factor on p, with its inverse on relevance, explains the clicks
equally well.

    links = document_links(displays, 5)
    links.identified(1)      # bool [5]
    links.gaps(1)            # why the other ranks have no estimate
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from ultr_core.errors import InputError
from ultr_core.propensity.displays import DisplayCounts
from ultr_core.propensity.points import Cause, Gap
from ultr_core.words import counted

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

Comparisons = Literal["another rank", "the reference rank", "a neighbouring rank"]
"""Where else a document must be shown for a method to compare a rank."""

_PARTS_NAMED = 5
# Rank 1 is shown in nearly every list: less than this share of rank 2 means another first place.
_SHIFTED = 0.1


def linked_parts(source: IntArray, target: IntArray, nodes: int, *, strong: bool) -> IntArray:
    """Number of the part that each node belongs to, int64 [nodes].

    source, target: ends of the links, from 0. strong: nodes share a part only if links lead both
    ways between them.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import

    graph = coo_array((np.ones(source.size, dtype=bool), (source, target)), shape=(nodes, nodes))
    _, part = connected_components(
        graph.tocsr(), directed=True, connection="strong" if strong else "weak"
    )
    found: IntArray = part.astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class Links:
    """Items at the ranks where a method compares them.

    rank: int64 [rows] from 1. item: int64 [rows] from 0. clicked: bool [rows], whether the item
    was clicked there. shown: bool [K], whether anything was logged at each of the ranks 1..K.
    compares: where else an item is needed for a rank to be compared.
    """

    rank: IntArray
    item: IntArray
    clicked: BoolArray
    shown: BoolArray
    compares: Comparisons = "another rank"

    def _parts(self, *, strong: bool) -> IntArray:
        ranks = self.shown.size
        items = int(self.item.max(initial=-1)) + 1
        place, node = self.rank - 1, ranks + self.item
        won = self.clicked if strong else np.ones(place.size, dtype=bool)
        source, target = np.append(place[won], node), np.append(node[won], place)
        return linked_parts(source, target, ranks + items, strong=strong)[:ranks]

    @cached_property
    def by_display(self) -> IntArray:
        """Part of each rank [K], joined by items that were shown at several ranks."""
        return self._parts(strong=False)

    @cached_property
    def by_clicks(self) -> IntArray:
        """Part of each rank [K] inside which all ratios are known.

        A click at r on an item that was also shown at s leads from r to s; a part is what such
        steps join both ways. This is Ford's (1957) condition for finite, unique strengths of the
        model of Bradley and Terry, and with documents as items that of a choice among all ranks of
        a document (Hunter, 2004): where nothing leads back, any larger ratio fits better still.
        """
        return self._parts(strong=True)

    def identified(self, reference: int) -> BoolArray:
        """The ranks whose ratio to the reference is known, the reference itself included, [K]."""
        known: BoolArray = self.by_clicks == self.by_clicks[reference - 1]
        return known

    def gaps(self, reference: int) -> tuple[Gap, ...]:
        """The ranks outside that part, by cause; at most ``_PARTS_NAMED`` parts one by one."""
        known, part = self.identified(reference), self.by_display
        size = np.bincount(part)[part]
        inside = (part == part[reference - 1]) & ~known
        alone = self.shown & (size == 1) & ~known & ~inside
        other = (size > 1) & ~known & ~inside
        found = [
            self._gap("not_logged", ~self.shown & ~known, reference),
            self._gap("not_linked", alone, reference),
        ]
        others = list(dict.fromkeys(part[other].tolist()))
        if len(others) <= _PARTS_NAMED:
            found += [self._gap("other_part", part == number, reference) for number in others]
        else:
            found.append(self._gap("other_part", other, reference))
        found.append(self._gap("no_click", inside & self.shown, reference))
        return tuple(gap for gap in found if gap.ranks)

    def _gap(self, cause: Cause, rows: BoolArray, reference: int) -> Gap:
        ranks = tuple((np.flatnonzero(rows) + 1).tolist())
        if not ranks:
            return Gap(cause, (), "", "")
        near = self._nearest(ranks[0], reference)
        show = (
            f"show some documents at both rank {near} and rank {ranks[0]}"
            if len(ranks) == 1 or cause == "other_part"
            else f"show some documents at both ranks of each neighbouring pair from {near} "
            f"to {ranks[-1]}"
            if self.compares == "a neighbouring rank"
            else f"show some documents both there and at rank {near}"
        )
        where = {"the reference rank": f"rank {reference}"}.get(self.compares, self.compares)
        reason, remedy = {
            "not_logged": ("nothing was logged there", "log what is shown there"),
            "not_linked": (f"no document was shown both there and at {where}", show),
            "other_part": (
                f"documents link them only with each other, not with rank {reference}",
                show,
            ),
            "no_click": (
                f"no document that links {_it(ranks)} with rank {reference} was clicked at both "
                "ranks",
                f"collect more presentations of documents shown both there and at rank {near}",
            ),
        }[cause]
        return Gap(cause, ranks, reason, remedy)

    def _nearest(self, rank: int, reference: int) -> int:
        """The rank nearest to this one at which a document should be shown as well."""
        if self.compares == "the reference rank":
            return reference
        known = np.flatnonzero(self.identified(reference)) + 1
        return int(known[np.argmin(np.abs(known - rank))])

    def require(self, reference: int) -> None:
        """Raise InputError, with the cause, if the reference can be compared with no other rank.

        About "reference_not_logged", "reference_not_linked" or "reference_no_click".
        """
        if np.count_nonzero(self.identified(reference)) > 1 or self.shown.size == 1:
            return
        require_logged(self.shown, reference)
        other = self._better_reference()
        instead = "" if other is None else f", or compare with rank {other} instead"
        together = int(np.count_nonzero(self.by_display == self.by_display[reference - 1]))
        if together == 1:
            others = (np.flatnonzero(self.shown) + 1).tolist()
            near = min(others, key=lambda rank: (rank == reference, abs(rank - reference)))
            where = {"the reference rank": "another rank"}.get(self.compares, self.compares)
            raise InputError(
                f"No document was shown both at rank {reference} and at {where}, so no rank can "
                f"be compared with rank {reference}; show some documents at both rank {reference} "
                f"and rank {near}{instead}.",
                "reference_not_linked",
            )
        raise InputError(
            f"Documents link rank {reference} with {counted(together - 1, 'other rank')}, but none "
            "was clicked at both ranks, so there is no ratio; collect more "
            f"presentations{instead}.",
            "reference_no_click",
        )

    def _better_reference(self) -> int | None:
        """The first rank of the largest part of two ranks or more; None if there is none."""
        size = np.bincount(self.by_clicks)[self.by_clicks]
        return int(np.argmax(size)) + 1 if size.max() > 1 else None


def document_links(displays: DisplayCounts, last_rank: int) -> Links:
    """Documents as items: what EM and harvesting from all pairs can compare among ranks 1..K."""
    kept = (displays.rank <= last_rank) & (displays.impressions > 0)
    rank = displays.rank[kept]
    # Rows are sorted by document.
    document = displays.document[kept]
    item = np.cumsum(np.diff(document, prepend=document[:1] - 1) != 0) - 1
    shown = np.bincount(rank - 1, minlength=last_rank) > 0
    return Links(rank, item.astype(np.int64), displays.clicks[kept] > 0, shown)


def pair_links(
    pairs: IntArray, clicks: NDArray[Any], shown: BoolArray, compares: Comparisons
) -> Links:
    """Pairs of ranks as items.

    pairs: int64 [pairs, 2], ranks from 1. clicks: [K, K], clicks at k of what was also shown at k'.
    """
    first, second = pairs.T
    number = np.arange(len(pairs))
    won = np.append(clicks[first - 1, second - 1], clicks[second - 1, first - 1]) > 0
    return Links(np.append(first, second), np.append(number, number), won, shown, compares)


def require_logged(shown: BoolArray, reference: int) -> None:
    """Raise InputError about "reference_not_logged" if nothing was logged at the reference rank.

    About "ranks" if nothing was logged at any.
    """
    if shown[reference - 1]:
        return
    logged = np.flatnonzero(shown) + 1
    if not logged.size:
        raise InputError(
            f"None of the ranks 1 to {shown.size} was logged, so nothing can be compared; include "
            "more ranks.",
            "ranks",
        )
    first = int(logged[0])
    shifted = (
        f"; if rank {first} is the top of the list, positions are shifted: subtract {first - 1}"
        if first > reference else ""
    )  # fmt: skip
    raise InputError(
        f"Rank {reference} was never logged, so no rank can be compared with it; compare with "
        f"another rank, such as {first}{shifted}.",
        "reference_not_logged",
    )


def shifted_by_one(impressions: NDArray[Any]) -> str:
    """A sentence where rank 1 is shown far less often than rank 2, as in no list; else "".

    impressions: of the ranks 1..K, whatever was shown there.
    """
    if impressions.size < 2 or not 0 < impressions[0] < _SHIFTED * impressions[1]:
        return ""
    return (
        f"Rank 1 was shown {counted(int(impressions[0]), 'time')} and rank 2 "
        f"{counted(int(impressions[1]), 'time')}: positions look shifted by one."
    )


def _it(ranks: Sequence[int]) -> str:
    return "it" if len(ranks) == 1 else "them"
