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
            raise self.exceeded(subject, amount)

    def exceeded(self, subject: str, amount: int | None = None) -> InputError:
        """The error for more than the bound, where the whole ``amount`` may not be known.

        >>> print(Limit(1 << 20, "bytes", "it is kept", "cut it").exceeded("log.csv"))
        log.csv has more than 1 MiB, the most that is accepted, because it is kept; cut it.
        """
        if amount is None:
            has = f"more than {self._words(self.most)}, the most that is accepted"
        else:
            most = self._words(self.most).removesuffix(f" {self.unit}")
            has = f"{self._words(amount)}; at most {most} are accepted"
        return InputError(
            f"{subject} has {has}, because {self.reason}; {self.remedy}.", "too_large"
        )

    def _words(self, amount: int) -> str:
        if self.unit.startswith("bytes") and amount >= 1 << 20:
            return f"{amount / (1 << 20):,.4g} MiB{self.unit.removeprefix('bytes')}"
        return f"{amount:,} {self.unit}"


# Files that are read: corpora, click logs, tables, models.

TEXT_BYTES = Limit(
    1 << 28,
    "bytes",
    "all of it is held in memory",
    "give a smaller file, or only the part you need",
)
"""Of a file that is read as one text: tables, models, scores; corpora and logs come in blocks."""

UNPACKED_RATIO = Limit(
    200, "times its compressed size once it is unpacked",
    "ranking data and click logs never compress that well", "unpack it yourself if you trust it",
)  # fmt: skip
"""How far a packed file may grow; from ``UNPACKED_FROM_BYTES`` on, for small files shrink more."""

UNPACKED_FROM_BYTES = 1 << 26

LINE_BYTES = Limit(
    1 << 23, "bytes", "a whole line is held in memory", "write one document per line"
)
"""Of one line of a corpus."""

ROW_BYTES = Limit(
    1 << 22, "bytes", "a whole row is held in memory",
    "there may be an unclosed quotation mark",
)  # fmt: skip
"""Of one row of a click log as text, and of a curve, scores or weights as a table."""

JSON_LINE_BYTES = Limit(
    1 << 20, "bytes", "nested values take a hundred times as much memory while they are being read",
    "leave out what is not used",
)  # fmt: skip
"""Of one line of a click log as JSON lines."""

CELL_BYTES = Limit(
    1 << 14, "bytes", "it names a query or document, or contains a number",
    "give a shorter id, or only the number",
)  # fmt: skip
"""Of one cell of a click log that is used; the longest addresses of pages have some 8,000."""

COLUMNS = Limit(
    1_000, "columns", "each is checked to find the columns that are needed",
    "remove the columns that are not needed",
)  # fmt: skip
"""Of a table: click logs, curves, scores and weights."""

LOG_PARTS = Limit(
    500,
    "files",
    "each is kept open while the log is being read",
    "join them, or write larger parts",
)
"""Of one click log."""

LOG_ROWS = Limit(
    100_000_000_000, "rows", "counting them would take days",
    "count them where they are stored, and give the lab the counts",
)  # fmt: skip
"""Of one click log."""

LOG_MEMORY = Limit(
    1 << 28, "bytes of memory", "the excess goes to disk, which some layouts do not allow",
    "write Parquet with smaller pages and groups, or CSV with shorter cells",
)  # fmt: skip
"""For counting a click log; what is counted by then goes to spill files."""

TABLE_SECONDS = Limit(
    1_800, "seconds", "a view or a SELECT query may never end",
    "copy the result into a table in that file first, or count the log there with log-query's SQL",
)  # fmt: skip
"""For copying a table, a view or a SELECT out of a DuckDB file; 500 million rows take minutes."""

PAGE_BYTES = Limit(
    1 << 27, "bytes", "a page is unpacked in one piece", "write the file with smaller pages"
)
"""Of one page of a column of a Parquet file, unpacked."""

FOOTER_BYTES = Limit(
    1 << 24, "bytes", "all of it is read before any row", "write the file with larger groups"
)
"""Of the footer of a Parquet file, which names each column of each group of rows."""

PAGES = Limit(
    500_000, "pages in the columns that are used", "each is checked before it is unpacked",
    "write the file with larger pages",
)  # fmt: skip
"""Of the columns of a Parquet file that are used."""

JSON_PARTS = Limit(
    10_000, "objects and lists", "a ranker needs a few", "give the file that the lab wrote"
)
"""Of a ranker as JSON; each takes many times its text."""

RANKER_NUMBERS = Limit(
    2_000_000, "numbers", "each is checked on its own", "leave out features whose value is 0"
)
"""Of a ranker, as JSON or as model text."""

TREE_NUMBERS = Limit(
    4_000_000, "numbers", "each is checked on its own", "grow fewer or smaller trees"
)
"""Of a LightGBM model, its settings and lines included."""

MODEL_FEATURES = Limit(
    1_000_000, "features", "each name is checked on its own",
    "leave out features that no tree splits on",
)  # fmt: skip
"""Of a LightGBM model."""

TREES = Limit(
    20_000, "trees", "each takes a few kilobytes and needs a separate step", "grow fewer trees"
)
"""Of a LightGBM model; rankers have hundreds."""

ROWS_WITHOUT_FEATURES = Limit(
    1_000_000,
    "rows without features",
    "millions of them fit into a small compressed file, and nothing can be learned from them",
    "remove them",
)
"""Of a corpus or a training file."""

BLANK_LINES = Limit(100_000, "lines without content", "each is checked on its own", "remove them")
"""Of a table, scores or model text."""

GROUPS = Limit(
    10_000_000, "group sizes", "each is checked on its own", "give only part of the corpus"
)
"""Of a file with the number of documents in each query."""

CURVE_RANKS = Limit(
    10_000, "ranks", "a curve needs a number for each rank down to the last",
    "leave out the ranks below this limit",
)  # fmt: skip
"""Of every curve: read from a file, estimated from a log, in a log's own column, carried on."""

CONTEXTS = Limit(100, "contexts", "each has a curve of its own", "group them")
"""Of a click log or a file of curves; what has more different values is no context."""


@dataclass(frozen=True)
class Room:
    """What may come of one corpus or click log; None where only the machine is a bound.

    rows: of a click log. documents: of a corpus. features: their bytes in memory, counted as they
    are read. unpacked: bytes of a packed file.
    """

    rows: Limit
    documents: Limit | None = None
    features: Limit | None = None
    unpacked: Limit | None = None


OWN_FILES = Room(LOG_ROWS)
"""For whoever reads their own files."""


# Files that are made for a visitor of a page.

LARGEST_TRAINING_FILE = Limit(
    128_000_000,
    "bytes",
    "the page builds it in the server's memory",
    "write it with the command fit, which has no such limit",
)
"""Unpacked, of a training file for svm_proprank, which grows with the square of a query's clicks.

All else that is made for a visitor is at most a few times as large as what it is made from.
"""

REGRESSED_FEATURES = Limit(
    4_000,
    "features",
    "fitting relevance needs a table of all pairs of features",
    "leave some out, or choose a method without fitted relevance",
)
"""Of a corpus on which relevance is regressed; the table takes 128 MB."""

VISITORS_PAIRS = Limit(
    5_000_000,
    "pairs of a document to learn from and another document for the same query",
    "the page trains the ranker in the server's memory, where a pair takes up to 25 bytes",
    "use the command line, which has no such limit",
)
"""What a ranker is trained on for a visitor; pairs grow with the square of a query."""

VISITORS_TRAINING_SECONDS = Limit(
    600, "seconds", "visitors take turns training on their own data",
    "set C and the threshold, so that one fit is enough, or use the command fit, which has no "
    "such limit",
)  # fmt: skip
"""For a visitor who trains on the page Your data; ``VISITORS_PAIRS`` pairs took 8 s, all fits."""

VISITORS_SCORING_SECONDS = Limit(
    30, "seconds", "the page computes scores while all other visitors wait",
    "use the command evaluate, which has no such limit, or upload scores instead",
)  # fmt: skip
"""For scoring a visitor's corpus by a ranker from a file; 1,000 trees take about 1 s."""

SERVER_TRAINING_SECONDS = Limit(
    1_800, "seconds", "rankers on this server's corpus are trained one at a time",
    "change a setting, or use the command line, which has no such limit",
)  # fmt: skip
"""For one ranker, or all of a world, that a server trains in its own process."""

MB = 1 << 20
"""Bytes; uploads are counted in these."""


def in_mb(size: int) -> int:
    """A number of bytes in MB (2^20 bytes), rounded up."""
    return -(-size // MB)


# Uploads, whatever their content.

_MEMORY = "all visitors share this server's memory"
_FEWER = "remove some files, or run the lab on your own computer"

UPLOADS_KEPT_BY_SESSION = Limit(128, "MB of files", _MEMORY, _FEWER)
"""What one visitor may have brought to the pages at a time."""

UPLOADS_KEPT_BY_SERVER = Limit(512, "MB of files from all visitors", _MEMORY, _FEWER)

UPLOADS_UNDERWAY_OF_SESSION = Limit(
    64, "MB of uploads in progress", _MEMORY, "send them one after the other"
)
"""Sent, or announced by the head of a request, and not yet taken by a page."""

UPLOADS_UNDERWAY_OF_SERVER = Limit(
    256, "MB of uploads in progress", _MEMORY, "try again in a minute"
)

UPLOAD_ADDRESSES = Limit(
    24, "addresses for uploads", "each allows one upload", "request more after using these"
)
"""Addresses that one visitor has been given and has not used; older ones expire."""

UPLOAD_SECONDS = Limit(
    120, "seconds", "an upload in progress blocks other uploads", "send a smaller file"
)
"""From the head of an upload to its end."""

_KEPT = "the data read from it stays in this server's memory"
_BY_COMMAND = "upload part of it, or use the command line, which has no such limit"

UPLOADED_LOG_ROWS = Limit(
    2_000_000, "rows", _KEPT,
    "add up the rows for each query, document and position as impressions and clicks, or run the "
    "lab on your own computer",
)  # fmt: skip
"""Of a click log that a visitor uploads: a row takes some 90 bytes while it is being read."""

UPLOADED_DOCUMENTS = Limit(500_000, "documents", _KEPT, _BY_COMMAND)
"""Of a corpus that a visitor uploads; each takes some 240 bytes besides its features."""

UPLOADED_FEATURES = Limit(96 << 20, "bytes of features", _KEPT, _BY_COMMAND)
"""Of such a corpus: 4 bytes for each number, 12 where most are 0 and are left out."""

UPLOADED_TEXT = Limit(32 << 20, "bytes", "all of it is held in the server's memory", _BY_COMMAND)
"""Of an upload that is read as one text, once it is unpacked: rankers and scores."""

UPLOADED_SMALL_TEXT = Limit(
    16 << 20, "bytes", "all of it is held in the server's memory", _BY_COMMAND
)
"""Of a smaller one: curves, judgements, and names, each of which takes many times its text."""

UPLOADED_UNPACKED = Limit(200 << 20, "bytes", _KEPT, _BY_COMMAND)
"""Of an upload once it is unpacked."""

UPLOADS = Room(UPLOADED_LOG_ROWS, UPLOADED_DOCUMENTS, UPLOADED_FEATURES, UPLOADED_UNPACKED)
"""For what visitors upload."""

READ_KEPT_BY_SERVER = Limit(
    2_048, "MB of memory for the data read from all visitors' files", _MEMORY, _FEWER
)

SMALL_UPLOAD = Limit(
    5, "MB", "this page is for small files", "use the Your data page or the command line"
)
"""A file on any page but Your data; there, ``server.maxUploadSize`` is the bound."""
