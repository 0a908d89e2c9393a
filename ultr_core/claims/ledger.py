"""The ledger of claims: what a line of it is, the registry of all, and measuring one by one."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from ultr_core.claims import (
    common,
    contexts,
    estimation,
    figures,
    foundations,
    later,
    leaving,
    live,
    noise,
    runs,
    svm,
    towers,
)
from ultr_core.claims.common import (
    MANY_LOGS,
    MANY_SWAPS,
    REACH,
    SWEEPS,
    Measure,
    Sizes,
    from_proof,
    judged,
    sizes_of,
)
from ultr_core.claims.gate_runs import CANDIDATES
from ultr_core.claims.long_runs import CORPORA
from ultr_core.claims.mutations import MUTATIONS
from ultr_core.claims.readings import READINGS
from ultr_core.content import Content, read
from ultr_core.errors import InputError
from ultr_core.files.tables import table_text
from ultr_core.findings import Finding, Outcome, count_outcomes
from ultr_core.lab import Cell, Lab
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.studies import RULES, STUDIES
from ultr_core.studies.claims import FLAT, ORIGINS, Origin

NOT_MEASURED = "not measured"

MISSED = (
    "The interval just misses that value, as 1 in 20 intervals do by chance; the claim is not "
    "refuted."
)
"""What a number says whose interval does not contain the true value though it is close to it."""


@dataclass(frozen=True)
class Entry:
    """One claim in the ledger.

    Attributes:
        ids: the claim's numbers in the lab's own list (``COVERED``).
        section: the paper's section.
        where: "text", or the equation, figure or table.
        claim: the claim, in our words.
        check: how the lab checks it.
        measure: the function that measures it.
        link: the page of the app that shows it, with the values in its address.
        origin: the paper, its set-up, this lab, or later work.
        sizes: numbers of clicks, queries and seeds it is measured with.
        mutation: what breaks it, a key of ``MUTATIONS``; "" if the claim does not hold anyway or
            nothing is measured.
    """

    ids: tuple[str, ...]
    section: str
    where: str
    claim: str
    check: str
    measure: Measure
    link: str
    origin: Origin = "paper"
    sizes: Callable[[Lab], Sizes] = common.SIZES["nothing"]
    mutation: str = ""

    @property
    def key(self) -> str:
        """The entry's first number, which is unique."""
        return self.ids[0]

    @property
    def page(self) -> str:
        """The page that shows the claim."""
        return self.link.partition("?")[0]

    @property
    def query(self) -> str:
        """The values in its link."""
        return self.link.partition("?")[2]


@dataclass(frozen=True)
class LedgerLine:
    """An entry with its finding."""

    entry: Entry
    finding: Finding
    sizes: Sizes = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        """The finding's outcome."""
        return self.finding.outcome

    @property
    def decided(self) -> bool:
        """Whether the outcome is "holds" or "does not hold"."""
        return self.outcome in ("holds", "does not hold")

    @property
    def shown(self) -> str:
        """The numbers in words, with the interval and, if they are not decisive, the reason."""
        found = self.finding
        parts = [] if found.sentence == NOT_MEASURED else [found.sentence]
        if found.interval is not None and "95" not in found.sentence:
            low, high = found.interval
            parts.append(f"95% interval {low:.3g} to {high:.3g}.")
        if not self.decided:
            first = found.reason.partition(". ")[0].rstrip(".") + "."
            missed = self.outcome == "open" and found.decided is None and found.relation == "="
            parts.append(MISSED if missed else first if found.decided == "open" else found.reason)
        return " ".join(filter(None, parts))

    @property
    def limit(self) -> str | None:
        """The limit the value is compared with, in words; None if nothing is measured."""
        found = self.finding
        if self.outcome == "not checkable":
            return None
        if found.value is None or found.limit is None:
            return self.entry.check
        within = f" ± {found.tolerance:.3g}" if found.tolerance else ""
        return f"{found.relation} {found.limit:.6g}{within}"

    @property
    def decides(self) -> str:
        """The deciding number, what it is and what is required of it; "" if nothing is measured."""
        found = self.finding
        if self.outcome == "not checkable" or found.value is None:
            return ""
        what = f"{found.quantity}: " if found.quantity else ""
        ends = f" [{found.interval[0]:.4g}, {found.interval[1]:.4g}]" if found.interval else ""
        return f"{what}{found.value:.4g}{ends}; required: {self.limit}"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as exported and as printed by ``--json``."""
        entry, found = self.entry, self.finding
        return {
            "id": entry.key,
            "ids": list(entry.ids),
            "section": entry.section,
            "where": entry.where,
            "origin": entry.origin,
            "claim": entry.claim,
            "printed": entry.origin in ("paper", "set-up"),
            "check": entry.check,
            "measured": found.sentence,
            "value": found.value,
            "interval": found.interval and dict(zip(("low", "high"), found.interval, strict=True)),
            "limit": self.limit,
            "outcome": self.outcome,
            "verdict": self.outcome,
            "sizes": {
                name: list(size) if isinstance(size, tuple) else size
                for name, size in self.sizes.items()
            },
            "mutation": MUTATIONS[entry.mutation].words if entry.mutation else None,
            "reason": found.reason,
            "page": entry.page,
            "query": entry.query,
        }


SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "Abstract": "Abstract",
        "1": "1 Why clicks lie",
        "2": "2 Related work",
        "3": "3 With all labels",
        "4": "4 Weighting",
        "5.1": "5.1 Position bias",
        "5.2": "5.2 Click noise",
        "5.3": "5.3 Swaps",
        "5.4": "5.4 Other users",
        "6": "6 The ranking SVM",
        "7.1": "7.1 Set-up",
        "7.2": "7.2 Figure 1",
        "7.3": "7.3 Figure 2",
        "7.4": "7.4 Figure 3",
        "7.5": "7.5 Figure 4",
        "7.6": "7.6 Live experiment",
        "8": "8 Conclusions",
        "9": "9 Future research",
    }
)
"""The paper's sections that have claims, each with a title."""

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        key: measure
        for part in (
            foundations,
            noise,
            estimation,
            svm,
            figures,
            live,
            runs,
            later,
            leaving,
            contexts,
            towers,
        )
        for key, measure in part.MEASURES.items()
    }
)
"""How claims are measured that neither a proof nor a study checks, by key."""

SIZES = {
    key: sizes
    for part in (common, foundations, noise, estimation, svm, figures, live, runs, later, towers)
    for key, sizes in part.SIZES.items()
}
"""Sizes of what a claim is measured on, by the word that its entry has for it."""

_LINKS = {
    "learning-curve": "learning_curves",
    "bias": "robustness",
    "noise": "robustness?study=noise",
    "misspecification": "robustness?study=misspecification",
}
_ELSEWHERE = (
    "skip-above-reverses",  # a claim of section 1, on the same study
    "same-without-bias",  # both are one identity, which 6g checks
    "zero-is-naive",
)
_ORIGINS: Mapping[str, Origin] = MappingProxyType(
    {"ours": "lab", "later work": "later", "set-up": "set-up"}
)
"""By place, or by the origin of a claim that the paper prints."""


def _written(words: Content) -> Entry:
    """An entry of ``content/claims.toml``."""
    ids, where = words.texts("ids"), words.text("where")
    if "proof" in words.entries:
        measure = from_proof(words.text("proof"))
    elif "not_checkable" in words.entries:
        measure = partial(_undecided, words.text("not_checkable"))
    else:
        measure = MEASURES[ids[0]]
    section, claim, check, link = map(words.text, ("section", "claim", "check", "link"))
    on, mutation, whose = (
        words.text(name) if name in words.entries else other
        for name, other in (("on", "nothing"), ("mutation", ""), ("origin", where))
    )
    origin = _ORIGINS.get(whose, "paper")
    return Entry(ids, section, where, claim, check, measure, link, origin, SIZES[on], mutation)


def _undecided(reason: str, _: Lab) -> Finding:
    return Finding(NOT_MEASURED, decided="not checkable", reason=reason)


def _on_figures(mutations: Mapping[str, str]) -> Iterator[Entry]:
    """The claims that the studies judge, each with what breaks it."""
    for study, link in _LINKS.items():
        number = STUDIES[study].figure
        for rule in RULES[study]:
            if rule.key not in _ELSEWHERE:
                key = f"F{number}.{rule.key}"
                yield Entry(
                    (key,),
                    rule.section,
                    f"figure {number}",
                    rule.statement,
                    f"Paper-scale study. {rule.test}",
                    partial(judged, study, rule.key),
                    link,
                    rule.origin,
                    SIZES[f"{study} {rule.key}"],
                    mutations.get(key, ""),
                )


def _all() -> Iterator[Entry]:
    words = read(__file__, "claims").filled(
        samples=foundations.SAMPLES,
        users=noise.USERS,
        summed=MANY_LOGS,
        many_swaps=MANY_SWAPS,
        experiments=estimation.EXPERIMENTS,
        sweeps=SWEEPS,
        reach=REACH,
        few=figures.FEW,
        many=figures.MANY,
        flat=f"{FLAT:.0%}",
        corpora=len(CORPORA),
        logs=live.LOGS,
    )
    yield from map(_written, words.parts("claims"))
    yield from _on_figures(words.entries["studies"])
    yield from map(_written, words.parts("on_figures"))
    later_words = read(__file__, "later").filled(
        missed=runs.MOST_MISSED, near=CANDIDATES, corpora=len(CORPORA)
    )
    yield from map(_written, later_words.parts("claims"))


CLAIMS: Mapping[str, Entry] = MappingProxyType(
    {
        entry.key: entry
        for entry in sorted(_all(), key=lambda entry: list(SECTIONS).index(entry.section))
    }
)
"""All claims by key, in the order of the paper's sections."""


def measure_entry(lab: Lab, entry: Entry) -> Finding:
    """Check one claim, once; it is "not checkable" if the corpus in use does not allow a check."""
    cell = Cell("claim", lab.settings, (entry,), lab.corpus)
    return lab.remember(cell, partial(_measured, entry))


@one_blas_thread()
def _measured(entry: Entry, lab: Lab) -> Finding:
    with lab.store.turn("claim"):  # since claims share costly parts
        try:
            return entry.measure(lab)
        except InputError as error:
            return _undecided(f"This corpus does not allow the check: {error}", lab)


def measure(
    lab: Lab,
    entries: Iterable[Entry] | None = None,
    progress: Callable[[int, Entry], None] | None = None,
) -> tuple[LedgerLine, ...]:
    """Measure the claims in a lab.

    entries: the claims to measure, all by default. progress: called with the number done and the
    next claim.
    """
    lines = []
    for done, entry in enumerate(CLAIMS.values() if entries is None else entries):
        if progress is not None:
            progress(done, entry)
        lines.append(LedgerLine(entry, measure_entry(lab, entry), _sizes(lab, entry)))
    return tuple(lines)


def _sizes(lab: Lab, entry: Entry) -> Sizes:
    """What an entry was measured with; nothing where the corpus does not allow it."""
    try:
        return entry.sizes(lab)
    except InputError:
        return sizes_of()


def counts_by_origin(lines: Iterable[LedgerLine]) -> dict[Origin, dict[Outcome, int]]:
    """How often each outcome occurs among claims of one origin."""
    outcomes = defaultdict[Origin, list[Outcome]](list)
    for line in lines:
        outcomes[line.entry.origin].append(line.outcome)
    return {origin: count_outcomes(outcomes[origin]) for origin in ORIGINS}


def headline(lines: Iterable[LedgerLine]) -> str:
    """How many of the paper's claims hold, and how many of the others."""
    counts = counts_by_origin(lines)
    paper, others = counts.pop("paper"), Counter[Outcome]()
    for found in counts.values():
        others.update(found)
    added = f", and {others['holds']:,} of {others.total():,} others" if others.total() else ""
    hold = "holds" if paper["holds"] == 1 else "hold"
    return f"{paper['holds']:,} of the paper's {sum(paper.values()):,} claims {hold}{added}."


COLUMNS = (
    "id", "section", "where", "origin", "claim", "printed", "check", "measured", "value", "low",
    "high", "limit", "verdict", "clicks", "queries", "seeds", "mutation", "reason", "page", "query",
)  # fmt: skip


def content(lines: Sequence[LedgerLine], world: Mapping[str, Any]) -> dict[str, Any]:
    """The ledger as plain values; ``world`` are the counts of the corpus it was measured on."""
    return {
        "headline": headline(lines),
        "counts": count_outcomes(line.outcome for line in lines),
        "counts_by_origin": counts_by_origin(lines),
        "corpus": dict(world),
        "claims": [line.as_dict() for line in lines],
        "readings": [reading.as_dict() for reading in READINGS],
    }


def to_json(lines: Sequence[LedgerLine], world: Mapping[str, Any]) -> bytes:
    """Claims and readings as JSON, UTF-8; NaN and infinities are refused."""
    text = json.dumps(content(lines, world), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def to_csv(lines: Iterable[LedgerLine]) -> bytes:
    """One row a claim, UTF-8 with a mark that spreadsheets recognise."""
    rows = [line.as_dict() for line in lines]
    rows = [{**row, **(row["interval"] or {}), **row["sizes"]} for row in rows]
    return table_text(rows, COLUMNS).encode("utf-8-sig")
