"""How often 95% intervals from a log of sessions contain the truth, with and without sessions.

    python -m scripts.session_intervals --logs 1000

World: 100 queries with six documents each, and users of the position model with p_r = 1 / r; each
presentation is part of a landmark swap experiment with landmark 1, so one log serves every
estimator. A strong session has one query and one swap; each later presentation repeats, with
probability 0.8, what the user examined and liked at first. One session in fifty has 30
presentations, and the others have a geometric number with mean 3. Without sessions, each
presentation is a separate session.

Users examine everything down to some depth, so clicks in one presentation are also dependent, which
intervals by presentation neglect: those of a risk have too little coverage even without sessions.

Share of intervals that contain the truth: without sessions (swaps by presentation, harvesting by
query), and by session. Ratios are pooled over ranks 2 to 6; the share that has an interval is in
brackets if it is below 1. With 500 logs, a share of 0.95 has a standard error of 0.010. The few
logs for harvesting only show that nothing is badly wrong. More logs for risks and differences by
session are in ``docs/intervals.md``:

    sessions  clicks  estimate    logs  without     by session
    none         500  risk         400  0.920       0.975
    none         500  difference   400  0.988       0.968
    none         500  swap         500  0.961       0.974
    none         500  harvest       60  0.960       0.980
    none       2,000  risk         400  0.910       0.978
    none       2,000  difference   400  0.975       0.968
    none       2,000  swap         500  0.954       0.954
    none       2,000  harvest       60  0.943       0.950
    none      20,000  risk         150  0.900       0.973
    none      20,000  difference   150  0.940       0.940
    none      20,000  swap         400  0.942       0.943
    none      20,000  harvest       60  0.960       0.960
    strong       500  risk         400  0.528       0.965
    strong       500  difference   400  0.643       0.978
    strong       500  swap         800  0.652       0.963 (0.87)
    strong       500  harvest       80  0.927 (0.96) 0.982 (0.96)
    strong     2,000  risk         400  0.478       0.958
    strong     2,000  difference   400  0.588       0.968
    strong     2,000  swap         800  0.561       0.943
    strong     2,000  harvest       60  0.943       0.970
    strong    20,000  risk         150  0.460       0.980
    strong    20,000  difference   150  0.547       0.980
    strong    20,000  swap         700  0.535       0.948
    strong    20,000  harvest       60  0.950       0.947

Harvesting by query also has the right coverage, because a session here has one query, so that
leaving out queries leaves out whole sessions.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ultr_core.corpus import Corpus
from ultr_core.files import parse_corpus
from ultr_core.inspection import join_log
from ultr_core.propensity import PresentationLog, estimate_from_log
from ultr_core.propensity.presentations import GROUPS, Presentations
from ultr_core.risk import Estimate, estimate_by_group, estimate_difference, estimate_risk
from ultr_core.users import GroupedLog, PowerLaw

QUERIES, DOCUMENTS = 100, 6
SIZES = (500, 2_000, 20_000)
REPEATS = 0.8
HEAVY, HEAVY_SHARE, USUAL = 30, 0.02, 3.0
METHODS = {"swap": "swap", "harvest": "all-pairs"}

_rng = np.random.default_rng(11)
LIKED = np.where(_rng.random((QUERIES, DOCUMENTS)) < 0.3, 0.9, 0.1)
FIRST, SECOND = (
    np.argsort(_rng.random((QUERIES, DOCUMENTS)), axis=1).astype(np.float64) + 1 for _ in range(2)
)
CURVE = 1.0 / np.arange(1, DOCUMENTS + 1)


def corpus() -> Corpus:
    """The queries, whose documents are 1 to 6 in the log."""
    rows = [f"0 qid:q{query:03} 1:{d}" for query in range(QUERIES) for d in range(DOCUMENTS)]
    return parse_corpus("\n".join([*rows, ""]).encode(), "corpus.txt")


def simulated(seed: int, clicks: int, *, strong: bool) -> PresentationLog:
    """A log with about this many clicks, with strong sessions or without sessions."""
    rng = np.random.default_rng([seed, clicks, strong])
    mean = HEAVY_SHARE * HEAVY + (1 - HEAVY_SHARE) * USUAL if strong else 1.0
    sessions = round(clicks / (LIKED.mean() * CURVE.sum() * mean))
    size = np.ones(sessions, dtype=np.int64)
    if strong:
        size = rng.geometric(1 / USUAL, sessions)
        size[rng.random(sessions) < HEAVY_SHARE] = HEAVY
    session = np.repeat(np.arange(sessions), size)
    query, swap = rng.integers(QUERIES, size=sessions), rng.integers(DOCUMENTS, size=sessions)
    # Whose state a presentation shows: that of the first one of its session, or its own.
    first = np.repeat(np.cumsum(size) - size, size)
    own = np.arange(session.size)
    state = np.where(rng.random(own.size) < REPEATS, first, own)
    reach, taste = rng.random(own.size)[state], rng.random((own.size, DOCUMENTS))[state]
    place = np.broadcast_to(np.arange(DOCUMENTS), (own.size, DOCUMENTS)).copy()
    place[own, swap[session]] = 0
    place[:, 0] = swap[session]
    clicked = (reach[:, None] < CURVE[place]) & (taste < LIKED[query[session]])
    return _counted(session, query[session], swap[session], place, clicked)


def _counted(
    session: NDArray[np.int64],
    query: NDArray[np.int64],
    swap: NDArray[np.int64],
    place: NDArray[np.int64],
    clicked: NDArray[np.bool_],
) -> PresentationLog:
    """The log as it would be read from a file."""
    group = session % GROUPS
    document = np.arange(DOCUMENTS)
    code = ((query * DOCUMENTS + swap) * GROUPS + group)[:, None] * DOCUMENTS + document
    cells = QUERIES * DOCUMENTS * GROUPS * DOCUMENTS
    shown = np.bincount(code.ravel(), minlength=cells)
    clicks = np.bincount(code.ravel(), weights=clicked.ravel(), minlength=cells).astype(np.int64)
    position = np.zeros(cells, dtype=np.int64)
    position[code] = place + 1
    used = np.flatnonzero(shown)
    rest, name = np.divmod(used, DOCUMENTS)
    rest, group = np.divmod(rest, GROUPS)
    query_of, swapped = np.divmod(rest, DOCUMENTS)
    presentations = Presentations(
        number=session.size, lists=session.size, unclicked=0,
        draws=np.bincount(query, minlength=QUERIES), without=0,
        sessions=int(session[-1]) + 1, largest=0, largest_share=0.0, largest_clicks=0.0, share=1.0,
        sampled=0, beside=0, moved=0, repeated=0, repeated_in_sessions=0, groups=GROUPS, left_out=0,
    )  # fmt: skip
    return PresentationLog(
        query=query_of, document=query_of * DOCUMENTS + name, position=position[used],
        impressions=shown[used], clicks=clicks[used], swap=swapped + 1,
        ranker=np.zeros(used.size, dtype=np.int64), context=np.zeros(used.size, dtype=np.int64),
        context_names=(), propensity=None, group=group, above=None,
        rows=int(shown.sum()), presentations=presentations, repeating=(),
        query_names=tuple(f"q{number:03}" for number in range(QUERIES)),
        document_names=tuple(str(number + 1) for number in range(DOCUMENTS)),
        has_swaps=True, first_position=1, format="", columns={}, faults=(), notices=(),
        grouped_by="session",
    )  # fmt: skip


Ends = tuple[float | None, float | None, float]


def risk_intervals(log: PresentationLog, of: Corpus) -> dict[str, tuple[list[Ends], list[Ends]]]:
    """Ends and truth of a risk's and a difference's intervals, without sessions and by session."""
    plain, grouped = (join_log(each, of).clicks for each in (replace(log, group=None), log))
    assert isinstance(grouped, GroupedLog)
    numbers = PowerLaw(1.0).at(plain.rank)
    difference = (FIRST - SECOND).ravel()
    risks = float((FIRST * LIKED).sum()) / QUERIES
    margin = float(((FIRST - SECOND) * LIKED).sum()) / QUERIES
    return {
        "risk": (
            [_ends(estimate_risk(plain, FIRST.ravel(), numbers), risks)],
            [_ends(estimate_by_group(grouped, FIRST.ravel(), numbers), risks)],
        ),
        "difference": (
            [_ends(estimate_difference(plain, difference, numbers), margin)],
            [_ends(estimate_by_group(grouped, difference, numbers), margin)],
        ),
    }


def _ends(found: Estimate, truth: float) -> Ends:
    if found.no_interval:
        return None, None, truth
    return found.low, found.high, truth


def ratio_intervals(log: PresentationLog, method: str) -> tuple[list[Ends], list[Ends]]:
    """Ends and truth of the intervals of p_r / p_1 for ranks 2 to 6, like `risk_intervals`."""
    both = []
    for each in (replace(log, group=None), log):
        points = estimate_from_log(each, method=method).estimate.points[1:]
        both.append([(p.low, p.high, CURVE[p.rank - 1]) for p in points])
    return both[0], both[1]


def share(ends: list[Ends]) -> tuple[float, float]:
    """Share of the intervals that contain the truth, and share of cases that have an interval."""
    known = [
        (low, high, truth) for low, high, truth in ends if low is not None and high is not None
    ]
    held = sum(low <= truth <= high for low, high, truth in known)
    return held / max(len(known), 1), len(known) / len(ends)


def coverage(
    clicks: int, seeds: range, *, strong: bool, methods: dict[str, str] = METHODS
) -> dict[str, tuple[tuple[float, float], tuple[float, float]]]:
    """`share` for each estimator, without sessions and by session."""
    of = corpus()
    found: dict[str, tuple[list[Ends], list[Ends]]] = {}
    for seed in seeds:
        log = simulated(seed, clicks, strong=strong)
        each = risk_intervals(log, of)
        each |= {name: ratio_intervals(log, method) for name, method in methods.items()}
        for name, (today, by_session) in each.items():
            sums = found.setdefault(name, ([], []))
            sums[0].extend(today)
            sums[1].extend(by_session)
    return {name: (share(today), share(grouped)) for name, (today, grouped) in found.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--logs", type=int, default=1_000)
    parser.add_argument("--clicks", type=int, nargs="*", default=SIZES)
    given = parser.parse_args()
    for strong in (False, True):
        for clicks in given.clicks:
            for name, both in coverage(clicks, range(given.logs), strong=strong).items():
                today, grouped = (
                    f"{held:.3f}" + (f" ({known:.2f})" if known < 1 else "") for held, known in both
                )
                sessions = "strong" if strong else "none"
                print(f"{sessions:8}{clicks:8,}  {name:11} {today:14} {grouped}", flush=True)


if __name__ == "__main__":
    main()
