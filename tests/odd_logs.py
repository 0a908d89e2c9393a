"""Click logs with what real ones have: repeats, sessions, odd names, faults."""

from __future__ import annotations

import csv
import io

import numpy as np

from ultr_core.propensity.presentations import PresentationLog

HEADER = ("query", "document", "position", "click", "page view", "who", "moved", "by", "p")
COLUMNS = {
    "presentation": "page view", "session": "who", "swap": "moved", "ranker": "by",
    "propensity": "p",
}  # fmt: skip
"""What the columns of `rows` mean that are not called by their meaning."""

_QUERIES = ["shoes", " red  shoes ", "Schuhe, größe 40", "NULL", "", "naïve", 'say "hi"', "日本"]
_SWAPS = ["", "", "1", "3", "3.0"]


def rows(seed: int, presentations: int = 400) -> list[tuple[str, ...]]:
    """Rows as text in the order of ``HEADER``, some with a fault, some repeated."""
    rng = np.random.default_rng(seed)
    found: list[tuple[str, ...]] = []

    def one(texts: list[str]) -> str:
        return texts[rng.integers(len(texts))]

    for number in range(presentations):
        view = "" if rng.random() < 0.05 else f" view-{number}"
        who = "" if rng.random() < 0.05 else f"user {rng.integers(60)}"
        query, swap, by = one(_QUERIES), one(_SWAPS), one(["a", "b"])
        documents = rng.permutation(8)[:5]
        for place, document in enumerate(documents, 1):
            click = one(["0", "0", "1", "false", "TRUE", " 1 ", "1.0", "0e0"])
            row = [
                query,
                f"d{document}",
                str(place),
                click,
                view,
                who,
                swap,
                by,
                one(["0.5", ".25"]),
            ]
            if rng.random() < 0.05:
                column = rng.integers(4)
                row[column] = one(["", "nan", "many", "-1", "1.5", "1e9", "99999999999"])
            found += [tuple(row)] * (1 if rng.random() < 0.9 else 2)
            if rng.random() < 0.05:
                found.append((*row[:3], "0", *row[4:]))
    return found


def as_csv(header: tuple[str, ...], body: list[tuple[str, ...]]) -> bytes:
    """The rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([header, *body])
    return out.getvalue().encode()


def same_counts(counts: PresentationLog, raw: PresentationLog) -> None:
    """Assert that two logs have the same entries, digit for digit."""
    for name in ("query_names", "document_names", "first_position", "has_swaps"):
        assert getattr(counts, name) == getattr(raw, name), name
    for name in (
        "query", "document", "position", "swap", "ranker", "propensity", "group", "impressions",
        "clicks",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(counts, name), getattr(raw, name), err_msg=name)
