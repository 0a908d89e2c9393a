"""Checks of a click log before anything is estimated from it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ultr_core.errors import InputError, Remark, about, quoted
from ultr_core.files.log_columns import SEARCHES, in_words, plain_name
from ultr_core.files.log_rows import (
    CLICK_WITHOUT_POSITION,
    CLICK_WITHOUT_VIEW,
    WITHOUT_PRESENTATION,
)
from ultr_core.inspection.inspection import (
    Check,
    Inspection,
    Seen,
    found_by,
    good,
    graded,
    stop,
    warning,
    worst_context,
)
from ultr_core.limits import CURVE_RANKS
from ultr_core.propensity import PresentationLog
from ultr_core.propensity.identification import document_links
from ultr_core.propensity.presentations import RowFault
from ultr_core.words import counted, part_of

FEW_CLICKS = 100
"""Clicks below which every estimate needs its interval to be read first."""

_OF_CLICKS = (CLICK_WITHOUT_POSITION, CLICK_WITHOUT_VIEW)
_ROUNDED = re.compile(r"[0-9](\.[0-9]+)?E\+[0-9]+")
_MANY_REPEATS = 0.02  # of the rows
_LARGE_SESSION = 0.03  # of lists or clicks; at 5% a program was missed that clicked one rank
_MANY_MOVED = 0.2  # of the lists
_MANY_BEYOND = 0.005  # of the rows; whole lists have none
_MANY_BESIDE = 0.01  # of the lists of sessions, in which documents may have changed
_MANY_MERGED = 0.02  # of the queries
_FEWEST_LISTS = 200
_MEANS_NONE = frozenset(
    {"na", "none", "null", "nil", "unknown", "empty", "blank", "missing", "other", "undefined",
     "not set", "no query"}
)  # fmt: skip
_MANY_WITHOUT = 0.03
"""Share of views or clicks without the id of their presentation from which a log is repaired first:
were those clicks all at rank 1, with about a third of the clicks, it would lose a tenth of them."""
_MANY_LOST = 0.5  # share of rows left out from which the log is not to be trusted


def inspect_log(log: PresentationLog, *, name: str = "the click log") -> Inspection:
    """Check the rows, positions, clicks, rank changes and propensities of a click log."""
    return Inspection("log", name, log.format, found_by(CHECKS, log), log.counts())


def own_curve(log: PresentationLog) -> list[float]:
    """The log's propensities by rank, [last position], if they can be examination probabilities.

    A position that never occurs gets the value of the position above it. Raises InputError if the
    log has no propensities, if they cannot be examination probabilities (see `inspect_log`), or if
    the last position is beyond ``CURVE_RANKS``.
    """
    found = _propensities(log)
    if found is None:
        raise InputError(
            "The log has no propensity column; give a curve or an assumed bias.",
            "propensities",
        )
    if found.severity != "good":
        raise InputError(f"The log's own propensities cannot be used: {found.sentence}")
    assert log.propensity is not None
    CURVE_RANKS.require(int(log.positions[-1]), "The curve in the log, down to its last position,")
    low, _ = _by_position(log, np.isfinite(log.propensity))
    ranks = np.arange(1, int(log.positions[-1]) + 1)
    place = np.maximum(np.searchsorted(log.positions, ranks, side="right") - 1, 0)
    values: list[float] = low[place].tolist()
    return values


def _columns(log: PresentationLog) -> Seen:
    told = ", ".join(f"{meaning} from {column}" for meaning, column in log.columns.items())
    if "query" not in log.columns:
        lists = log.columns.get("presentation", "")
        hint = ""
        if plain_name(lists) in map(plain_name, SEARCHES):
            hint = (
                f" If {quoted(lists)} has the same value whenever a query repeats, say that this "
                "column is the query."
            )
        return warning(
            len(log.columns),
            f"Read {told}. There is no query column, so all rows count as one query and cannot be "
            f"matched with a corpus; clicks by position can still be read.{hint}",
        )
    return good(len(log.columns), f"Read {told}.")


def _columns_not_used(log: PresentationLog) -> Seen | None:
    names = log.not_used
    if not names:
        return None
    told = f"Not used: {in_words(names)}."
    if few := log.perhaps_contexts:
        have, one = ("has", "it") if len(few) == 1 else ("have", "one of them")
        told += (
            f" {in_words(few)} {have} few values; if users examine results differently for "
            f"each value, say that {one} is the context."
        )
    if not log.perhaps_sessions:
        return Seen(len(names), "good", Remark(told, "context" if few else ""))
    asked = log.perhaps_sessions[0]
    return warning(
        len(names),
        f"{told} No column was read as the session; if {quoted(asked)} names the session or user "
        "of each row, say so, since clicks in a session depend on each other.",
        "session",
    )


def _longer(log: PresentationLog) -> Seen | None:
    if not log.longer:
        return None
    return warning(
        log.longer,
        f"{counted(log.longer, 'row has', 'rows have')} more columns than the first line names; "
        "surplus values are not read. Values that contain the separator shift the values after "
        "them; put such values in quotation marks.",
    )


def _copies(log: PresentationLog) -> Seen | None:
    return warning(len(log.copies), log.copied) if log.copies else None


def _events(log: PresentationLog) -> Seen | None:
    return good(int(log.clicks.sum()), " ".join(log.events)) if log.events else None


def _unused(log: PresentationLog) -> Seen | None:
    return warning(1, log.unused) if log.unused else None


def _contradicted(log: PresentationLog) -> Seen | None:
    some, joined = log.contrary
    if not some:
        return None
    return (stop if some == joined else warning)(some, log.contradicted)


def _left_out(log: PresentationLog) -> Seen:
    others = [f for f in log.faults if f.kind not in (*_OF_CLICKS, WITHOUT_PRESENTATION)]
    lost, used = sum(fault.rows for fault in others), log.rows
    if lost:
        noun = "row" if log.format == "Parquet" else "line"
        clicks = sum(fault.clicks for fault in log.faults)
        told = "; ".join(
            f"{f.rows:,} with {f.kind}" + (f" (first {noun} {f.first})" if f.first else "")
            for f in others
        )
        clicks_lost = f"{sum(f.clicks for f in others):,}"
        all_clicks = counted(clicks + int(log.clicks.sum()), "click")
        are = "is" if lost == 1 else "are"
        return graded(
            lost,
            f"{lost:,} of {counted(lost + used, 'row')}, with {clicks_lost} of the {all_clicks}, "
            f"{are} left out: {told}.",
            stop=lost > _MANY_LOST * (lost + used), warning=True,
        )  # fmt: skip
    all_rows = f"All {used:,} rows" if used > 1 else "The one row"
    named = any(fault.kind == WITHOUT_PRESENTATION for fault in log.faults)
    what = "that name a presentation" if named else "with a position"
    return good(0, f"{all_rows} {what} can be used.")


def _without_position(log: PresentationLog) -> Seen:
    lost = [fault for fault in log.faults if fault.kind in _OF_CLICKS]
    clicks = sum(fault.clicks for fault in lost)
    if not clicks:
        return good(0, "Every click has a position.")
    told = " and ".join(
        f"{counted(f.clicks, 'click')} {f.kind.removeprefix('a click ')}" for f in lost
    )
    they = "it is" if clicks == 1 else "they are"
    return warning(clicks, f"{told}; {they} excluded from every estimate.")


def _positions(log: PresentationLog) -> Seen:
    top, last = int(log.positions[0]), int(log.positions[-1])
    if log.first_position == 0:
        return warning(
            0,
            f"Positions start at 0 in this log, so 1 was added: they become ranks 1 to {last:,}, "
            "and rank 1 (position 0 in the log) is the reference. Propensities are matched with "
            "ranks.",
        )
    if top > 1:
        return warning(
            top,
            f"The first position is {top:,}, not 1 or 0. Positions are taken as ranks, so "
            f"{'rank 1 was' if top == 2 else f'ranks 1 to {top - 1:,} were'} never logged; if "
            f"position {top:,} is the top of the list, subtract {top - 1:,}. {log.lost}".rstrip(),
        )
    if log.positions.size == 1:
        return warning(
            1,
            "Only position 1 occurs, so the log does not show how examination falls with rank. "
            f"{log.lost}".rstrip(),
        )
    return good(
        1, f"Positions are counted from 1 and go down to {last:,}; position 1 is the reference."
    )


def _gaps(log: PresentationLog) -> Seen | None:
    missing = int(log.positions[-1] - log.positions[0]) + 1 - log.positions.size
    if not missing:
        return None
    after = int(np.argmax(np.diff(log.positions) > 1))
    return warning(
        missing,
        f"{counted(missing, 'position')} between the first and the last never "
        f"{'occurs' if missing == 1 else 'occur'} (the first is position "
        f"{int(log.positions[after]) + 1:,}); check that the position is the rank in the whole "
        "list, not an offset or a number of pixels.",
    )


def _clicks(log: PresentationLog) -> Seen:
    clicks, shown = int(log.clicks.sum()), int(log.impressions.sum())
    words = f"{counted(clicks, 'click')} in {counted(shown, 'impression')}"
    if clicks == 0:
        return stop(clicks, f"{words}; without clicks, nothing can be learned or estimated.")
    if clicks < FEW_CLICKS:
        return warning(
            clicks,
            f"{words}; with fewer than {FEW_CLICKS} clicks, check the interval for each estimate "
            "before you use it.",
        )
    return good(clicks, f"{words}, a click rate of {clicks / shown:.2%}.")


def _only_clicks(log: PresentationLog) -> Seen | None:
    if not log.clicks_only:
        found = log.presentations
        if found is None or found.unclicked or found.lists < _FEWEST_LISTS:
            return None
        return warning(
            0,
            f"Each of the {found.lists:,} lists has a click, so lists without clicks seem to be "
            "missing, and every click rate is too high; add the lists that got no clicks.",
        )
    return warning(
        0,
        "Every row was clicked, so the log records only clicks. You can train a "
        "ranker, but estimated risks are for clicked presentations only, and examination cannot be "
        "estimated.",
    )


def _repeats(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is None or not found.number:
        return None
    if not found.moved:
        return good(0, f"No presentation shows a document at two positions{found.of_sample}.")
    noun = counted(found.moved, "presentation shows", "presentations show")
    return warning(
        found.moved,
        f"{noun} a document at two positions{found.of_sample}; it remains one document, and each "
        "click is weighted by its own position.",
    )


def _repeated_rows(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is None:
        return _views_as_rows(log)
    if told := log.merged_events:  # a user may click a document twice, but sees it once
        views, clicks = log.repeated_events
        return graded(views + clicks, told, warning=views > 0)
    if found.repeated:
        return warning(
            found.repeated,
            f"{counted(found.repeated, 'row')} repeated a document at the same position in a list, "
            "as in logs with separate rows for the view and the click; each such position "
            "was counted once.",
        )
    if not found.sampled:  # counts, in which a row is none of the log
        return None
    share = found.repeated_in_sessions / max(log.rows * found.share, 1)
    if share > _MANY_REPEATS:
        return warning(
            found.repeated_in_sessions,
            f"{share:.0%} of the rows repeat a document at the same position for the same query in "
            "a session. If each is a separate presentation, you need not change anything; if views "
            "and clicks are separate rows, add a column with the presentation's id.",
        )
    return good(0, f"No row occurs twice{found.of_sample}.")


def _views_as_rows(log: PresentationLog) -> Seen | None:
    """Rows by position that fit a row for each view and another for each click."""
    if log.clicks.max() > 1 and log.impressions.max() > log.clicks.max():
        place = np.searchsorted(log.positions, log.position)
        shown = np.bincount(place, log.impressions)
        clicks = np.bincount(place, log.clicks)
        views = shown - clicks
        if (
            shown.size > 2
            and clicks.sum() >= FEW_CLICKS
            and np.ptp(views) <= 1e-3 * views.max()
            and np.ptp(shown) > 5 * np.sqrt(clicks.max())
        ):
            return warning(
                int(clicks.sum()),
                "Every position has as many rows without a click as with one, so clicks and views "
                "seem to be separate rows. Clicks would then count as impressions: add a column "
                "with the presentation's id, or remove the view rows of clicked documents.",
            )
    return None


def _rows_per_position(log: PresentationLog) -> Seen | None:
    if log.clicks_only or log.positions.size == 1 or not log.impressions.any():
        return None
    if log.has_swaps and np.unique(log.position[log.position != log.swap]).size <= 1:
        return None  # only the two documents that traded places are logged
    share, queries = _rows_beyond(log)
    if share <= _MANY_BEYOND:
        return None
    return warning(
        share,
        f"{part_of(queries, len(log.query_names), 'query', 'queries')} more rows at a position "
        f"than at the position above ({share:.1%} of all rows), which complete lists cannot have: "
        "rows are missing or occur twice. If clicks are separate rows, or rows without a click "
        "were left out, every estimate is wrong.",
    )


def _rows_beyond(log: PresentationLog) -> tuple[float, int]:
    """Rows of a query at a position beyond those at the one above it: their share, and queries."""
    width = log.positions.size
    place = np.searchsorted(log.positions, log.position)
    at, of = np.unique(log.query.astype(np.int64) * width + place, return_inverse=True)
    shown = np.bincount(of, log.impressions)
    above = np.where(np.diff(at, prepend=-2) == 1, np.roll(shown, 1), 0)
    beyond = np.where(at % width > 0, np.maximum(shown - above, 0), 0)
    return float(beyond.sum() / shown.sum()), np.unique(at[beyond > 0] // width).size


def _cut_off(log: PresentationLog) -> Seen | None:
    """Files that end within a list, where all other lists of each query are equally long.

    A file that was cut off has one list of its last query less at each position below its last.
    """
    if not log.ends:
        return None
    width = log.positions.size
    place = np.searchsorted(log.positions, log.position)
    at, of = np.unique(log.query.astype(np.int64) * width + place, return_inverse=True)
    shown = np.bincount(of, log.impressions)
    first = np.flatnonzero(np.diff(at // width, prepend=-1))
    longest = np.maximum.reduceat(shown, first)
    short = at[first[longest > np.minimum.reduceat(shown, first)]] // width
    ends = {query: (file, position) for file, query, position in log.ends}
    if not short.size or not set(short.tolist()) <= ends.keys():
        return None
    for query in short.tolist():
        here = at // width == query
        below = log.positions[at[here] % width] > ends[query][1]
        if (shown[here] != shown[here].max() - below).any():
            return None
    file, position = ends[int(short[0])]
    return warning(
        int(short.size),
        f"The last list of {file} ends at position {position:,}, and all other lists for its query "
        "are longer, so the file may have been cut off; leave that list out.",
    )


def _doubtful_query(log: PresentationLog) -> Seen | None:
    """A name that may mean none, of a query with twice as many documents as any other."""
    doubtful = [
        place for place, name in enumerate(log.query_names)
        if name.casefold().strip("()[]<>#?_-. ").replace("/", "") in _MEANS_NONE
    ]  # fmt: skip
    if not doubtful:
        return None
    documents = np.bincount(log.pairs // max(len(log.document_names), 1))
    largest = int(np.argmax(documents))
    if largest not in doubtful or documents[largest] < 2 * np.delete(documents, largest).max(
        initial=0
    ):
        return None
    return warning(
        int(documents[largest]),
        f"The query {quoted(log.query_names[largest])} has {int(documents[largest]):,} documents, "
        "at least twice as many as any other: it may be a placeholder for lost queries. If so, "
        "remove its rows.",
    )


def _beside(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is None or not found.beside:
        return None
    if not found.number and found.beside <= _MANY_BESIDE * found.sampled:
        return None
    return warning(
        found.beside,
        f"{counted(found.beside, 'list has', 'lists have')} two documents at the "
        f"same position{found.of_sample}. Advertisements beside the results, or positions that "
        "restart, can cause this; remove rows that are not results.",
    )


def _presentations(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is not None and found.partial:
        return warning(
            found.number,
            "Many presentation ids have no row at the top, only positions below those of other "
            "ids, so an id seems to identify a page or an impression. How often a query was shown "
            "is taken from its most frequent position instead; give the id of the whole list, or a "
            "dash if there is none.",
        )
    if found is None or not found.number:
        return None
    none = counted(found.unclicked, "has no click", "have no click")
    return good(found.number, f"{counted(found.number, 'presentation')}, of which {none}.")


def _context_changes(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is None or not found.changes:
        return None
    presentation, one, other = map(quoted, found.changing)
    return warning(
        found.changes,
        f"{counted(found.changes, 'presentation has', 'presentations have')} rows in different "
        f"contexts{found.of_sample}, such as {presentation} ({one} and {other}). Each row uses the "
        "propensities of its own context; if a presentation has only one context, correct the "
        "column.",
    )


def _sessions(log: PresentationLog) -> Seen | None:
    found = log.presentations
    if found is None or not found.sessions:
        return None
    of_lists, of_clicks = found.largest_share, found.largest_clicks
    if found.sessions > 1 and max(of_lists, of_clicks) <= _LARGE_SESSION:
        return good(
            max(of_lists, of_clicks),
            f"{counted(found.sessions, 'session')}; the largest has {of_lists:.2%} of the lists "
            f"and {of_clicks:.2%} of the clicks.",
        )
    return warning(
        max(of_lists, of_clicks),
        f"The largest of {counted(found.sessions, 'session')} has {found.largest:,} lists, "
        f"{of_lists:.1%} of all, and {of_clicks:.1%} of the clicks, so estimates depend "
        "strongly on that session. If it is a bot's, remove sessions with that many presentations.",
        "most_presentations",
    )


def _ids(log: PresentationLog) -> Seen | None:
    """Ids that a spreadsheet rounded, or that are written in two ways."""
    names = [*log.query_names, *log.document_names]
    rounded = next((name for name in names if _ROUNDED.fullmatch(name)), None)
    if rounded is not None:
        return stop(
            1,
            f"Ids such as {rounded} are numbers that a spreadsheet rounded, so different ids have "
            "become the same; export them as text.",
        )
    merged = _shown_beyond(log)
    if merged > _MANY_MERGED * len(log.query_names) and not _rows_beyond(log)[0] > _MANY_BEYOND:
        return warning(
            merged,
            f"{part_of(merged, len(log.query_names), 'query', 'queries')} a document "
            "with more impressions than its query has lists: different documents may share an id, "
            "for example after rounding in a spreadsheet.",
        )
    found = log.presentations
    if found is not None and found.moved > _MANY_MOVED * max(found.sampled, 1):
        return warning(
            found.moved,
            f"{found.moved / found.sampled:.0%} of the lists show a document at two positions, "
            "but no ranker lists a document twice: different documents may share an id, for "
            "example after rounding in a spreadsheet.",
        )
    composed = [unicodedata.normalize("NFC", name) for name in names if not name.isascii()]
    twice = (
        len(composed)
        - len(set(composed))
        - (len([n for n in names if not n.isascii()]) - len({n for n in names if not n.isascii()}))
    )
    if twice:
        return warning(
            twice,
            f"{counted(twice, 'name differs', 'names differ')} from another name only in how "
            "letters are encoded (composed or decomposed); they count as different names.",
        )
    return None


def _shown_beyond(log: PresentationLog) -> int:
    """Queries of which a document has more impressions than any of their positions."""
    by_document = _most_by_query(log, log.document // max(len(log.document_names), 1), log.document)
    width = int(log.position.max()) + 1
    by_position = _most_by_query(log, log.query, log.query.astype(np.int64) * width + log.position)
    return int(np.count_nonzero(by_document > by_position))


def _most_by_query(
    log: PresentationLog, query: NDArray[np.integer], key: NDArray[np.integer]
) -> NDArray[np.float64]:
    """The most impressions that one key of a query has, [queries]."""
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    most = np.zeros(len(log.query_names))
    np.maximum.at(most, query[first], np.bincount(of, log.impressions))
    return most


def _shown_once(log: PresentationLog) -> Seen | None:
    if not log.repeating:
        return None
    names = ", ".join(quoted(name) for name in log.repeating[:3])
    return warning(
        len(log.repeating),
        f"Each query in the column {quoted(log.columns['query'])} was shown once, so no document "
        f"ever moves, while values in {names} repeat; if such a column contains the query, say so.",
        "columns",
    )


def _without_id(log: PresentationLog) -> Seen | None:
    lost = next((fault for fault in log.faults if fault.kind == WITHOUT_PRESENTATION), None)
    if lost is not None:
        return _not_joined(log, lost)
    found = log.presentations
    if found is None or not found.without:
        return None
    return warning(
        found.without,
        f"{part_of(found.without, log.rows, 'row', does='has', do='have')} no presentation or "
        "session id; each such row counts separately.",
    )


def _not_joined(log: PresentationLog, lost: RowFault) -> Seen:
    """Views and clicks that name no presentation."""
    clicks = int(log.clicks.sum()) + sum(fault.clicks for fault in log.faults)
    views = lost.rows - lost.clicks
    shares = views / (views + log.rows), lost.clicks / max(clicks, 1)
    told = (
        f"{views:,} of {counted(views + log.rows, 'view')} ({shares[0]:.1%}) and "
        f"{lost.clicks:,} of {counted(clicks, 'click')} ({shares[1]:.1%}) have no presentation id, "
        "so they cannot be joined and are left out"
    )
    stop = max(shares) > _MANY_WITHOUT
    return graded(
        lost.rows,
        f"{told}. Unless ids are lost at random, equally at every position, estimates are wrong: "
        "find out where ids are lost."
        if stop
        else f"{told}.",
        stop=stop, warning=True,
    )  # fmt: skip


def _rank_changes(log: PresentationLog) -> Seen:
    pairs, moved = int(log.pairs.size), log.moved_pairs
    seen = part_of(moved, pairs, "(query, document) pair", does="was", do="were")
    words = f"{seen} seen at more than one position"
    if log.clicks_only:
        return warning(
            moved,
            f"{words}, but examination cannot be estimated from them, because the log contains "
            "only clicks.",
        )
    if log.has_swaps:
        swapped = int(log.impressions[log.swap > 0].sum())
        return graded(
            moved,
            f"The log records a swap experiment with {counted(swapped, 'presentation')}, and "
            f"{words}.",
            warning=not swapped,
        )
    if moved == 0:
        return warning(
            0,
            f"{words}, so examination cannot be estimated from this log; use a curve from swaps or "
            "from another log, or assume one.",
        )
    links = document_links(log.displays(), min(int(log.positions[-1]), CURVE_RANKS.most))
    try:
        links.require(1)
    except InputError as error:
        return warning(
            moved, f"{words}, but examination relative to rank 1 cannot be harvested: {error}"
        )
    apart = [gap.sentence for gap in links.gaps(1) if gap.cause == "other_part"]
    return graded(
        moved,
        " ".join([f"{words}; examination can be harvested from them.", *apart]),
        warning=bool(apart),
    )


def _propensities(log: PresentationLog) -> Seen | None:
    """What the log's own column of propensities can be, in the worst case over contexts."""
    if log.propensity is None:
        return None
    if log.context_names:
        each = ((name, _propensities(log.in_contexts([name]))) for name in log.context_names)
        sentence, worst = worst_context({name: seen for name, seen in each if seen is not None})
        return worst._replace(sentence=sentence)
    column = log.columns["propensity"]
    usable = np.isfinite(log.propensity)
    outside = usable & ((log.propensity < 0) | (log.propensity > 1))
    zero = usable & (log.propensity == 0)
    beyond = int(log.impressions[outside].sum())
    none = int(log.impressions[zero].sum())
    low, high = _by_position(log, usable)
    varies = high > low * (1 + 1e-9)
    if not usable.any():
        return stop(0, f"The column {column} does not contain any numbers.")
    if outside.any():
        row = int(np.argmax(outside))
        return stop(
            beyond,
            f"{counted(beyond, 'impression has', 'impressions have')} a propensity "
            f"outside the range 0 to 1; the first is {log.propensity[row]:g} at position "
            f"{int(log.position[row]):,}.",
        )
    if varies.any():
        place = int(np.argmax(varies))
        return warning(
            int(np.count_nonzero(varies)),
            f"The column {column} varies within a position ({low[place]:g} to {high[place]:g} at "
            f"position {int(log.positions[place]):,}), so it contains probabilities that an item "
            "was chosen, not that a position was examined; it is not used.",
        )
    if log.positions.size > 1 and float(high.max()) <= float(low.min()) * (1 + 1e-9):
        return warning(
            float(high.max()),
            f"The column {column} is {high.max():g} at every position. As an examination "
            "probability it would mean no position bias; it looks like the probability that an "
            "item was chosen, so it is not used.",
        )
    if zero.any():
        place = int(log.position[int(np.argmax(zero))])
        return stop(
            none,
            f"The propensity of position {place:,} is 0, so a click there has an infinite weight; "
            "clip, or remove the position.",
        )
    return good(
        float(low.min()),
        f"The column {column} has one value for each position, from {high.max():g} down to "
        f"{low.min():g}, so it may contain examination probabilities.",
    )


def _or_lost(
    look: Callable[[PresentationLog], Seen | None],
) -> Callable[[PresentationLog], Seen | None]:
    """A check of what a log lacks, which adds that it may be in rows that cannot be used."""

    def looked(log: PresentationLog) -> Seen | None:
        seen = look(log)
        if seen is None or seen.severity == "good" or not log.lost:
            return seen
        return seen._replace(sentence=Remark(f"{seen.sentence} {log.lost}", about(seen.sentence)))

    return looked


CHECKS = (
    Check("columns", "Columns", _columns),
    Check("columns_not_used", "Columns that are not used", _columns_not_used),
    Check("longer", "Rows with surplus values", _longer),
    Check("copies", "Files with the same content", _copies),
    Check("unused", "What was not used", _unused),
    Check("events", "Views and clicks", _events),
    Check("contradicted", "Clicks that contradict their views", _contradicted),
    Check("rows_left_out", "Rows that cannot be used", _left_out),
    Check("clicks_without_position", "Clicks on documents never shown", _without_position),
    Check("positions", "What position means", _positions),
    Check("position_gaps", "Positions that never occur", _or_lost(_gaps)),
    Check("clicks", "Clicks", _or_lost(_clicks)),
    Check("only_clicks", "Rows that were not clicked", _or_lost(_only_clicks)),
    Check("repeated_rows", "Rows that occur twice", _repeated_rows),
    Check("rows_per_position", "Rows at each position", _or_lost(_rows_per_position)),
    Check("cut_off", "A file that ends within a list", _cut_off),
    Check("without_id", "Rows without a presentation", _without_id),
    Check("beside", "Documents sharing a position", _beside),
    Check("presentations", "Presentations", _presentations),
    Check("context_changes", "Contexts that change within a list", _context_changes),
    Check("sessions", "Sessions", _sessions),
    Check("ids", "Ids", _ids),
    Check("doubtful_query", "A query that may be a placeholder", _doubtful_query),
    Check("queries_shown_once", "Queries that never repeat", _shown_once),
    Check("repeated_on_page", "One document twice on a page", _repeats),
    Check("rank_changes", "Rank changes", _or_lost(_rank_changes)),
    Check("propensities", "The log's own propensities", _propensities),
)
"""The checks of a click log, in the order in which they are read."""


def _by_position(
    log: PresentationLog, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest propensity at each position that has one."""
    assert log.propensity is not None
    place = np.searchsorted(log.positions, log.position[usable])
    low = np.full(log.positions.size, np.inf)
    high = np.full(log.positions.size, -np.inf)
    np.minimum.at(low, place, log.propensity[usable])
    np.maximum.at(high, place, log.propensity[usable])
    # A position without a value must not count as one that varies.
    empty = ~np.isfinite(low)
    if empty.any() and not empty.all():
        low[empty] = high[empty] = low[~empty][0]
    return low, high
