"""Step 1 of the page Your data: the corpus."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.app.context import PageContext
from pages.app.field_control import control, kept
from pages.app.markdown import NAMES, plain, show_error
from pages.views.your_data.bench import Bench, Brought, bench, reading
from pages.views.your_data.findings import show_inspection
from pages.views.your_data.input import (
    HELP,
    LOOKS_LIKE,
    bring,
    require_kind,
    show_kept,
    source_of,
)
from ultr_core.corpus import Corpus
from ultr_core.errors import InputError
from ultr_core.fields import Field
from ultr_core.files import NameTable, load_corpus, parse_corpus, parse_names
from ultr_core.files.trec_files import parse_qrels
from ultr_core.inspection import Inspection, inspect_corpus, kind_of
from ultr_core.jobs.files import DOCUMENT_IDS
from ultr_core.limits import UPLOADS
from ultr_core.settings import Settings
from ultr_core.words import counted

_LONGEST_LINE = 160


def corpus_step(page: PageContext, settings: Settings) -> Corpus | None:
    """Bring and check a corpus; None where there is none that can be used."""
    st.subheader("1 · Corpus: what is ranked")
    file = bring(page, "corpus", "Corpus", LOOKS_LIKE["corpus"], HELP["corpus"])
    if file is None:
        show_kept("corpus", "corpus")
        return None
    own = bench()
    groups, qrels = own.files.get("groups"), own.files.get("qrels")
    token = corpus_token(own)
    try:
        corpus = own.make("corpus", token, lambda: _read(page, file, groups))
        if qrels is not None:
            corpus = own.make(
                "graded", (token, qrels.token), lambda: parse_qrels(qrels.data, corpus, qrels.name)
            )
        found = own.make(
            "corpus-checks",
            (token, own.token("qrels"), settings.relevant_grade),
            lambda: _checked(corpus, file, settings),
        )
        lines = own.make("corpus-preview", file.token, lambda: _first_lines(file))
    except InputError as error:
        show_error(error)
        _groups(page, wanted="qid:" in str(error) and "no query ids" in str(error))
        if ids_of_corpus(own):
            control(_ids(own), keep=True)
        if any(kind in own.files for kind in _SIDES):
            _more(page)
        return None
    show_inspection(
        found, key="corpus", following="Next: add a click log for these queries, or simulate one."
    )
    _preview(lines, found)
    if ids_of_corpus(own) or corpus.unread_ids:
        control(_ids(own), keep=True)
    _groups(page, wanted=groups is not None)
    _more(page)
    return corpus


def corpus_token(own: Bench) -> tuple[str, str, str | None]:
    """What the corpus as it was read was made of."""
    return own.token("corpus"), own.token("groups"), ids_of_corpus(own)


def ids_of_corpus(own: Bench) -> str | None:
    """The pattern by which comments of the corpus give document ids, None for the usual forms."""
    return str(kept(_ids(own)) or "").strip() or None


def _ids(own: Bench) -> Field:
    return replace(DOCUMENT_IDS, key=f"data-document-ids-{own.token('corpus')}")


_SIDES = {
    "qrels": "Judgements (TREC qrels)",
    "query-texts": "Texts of queries",
    "document-names": "Names of documents",
}


def _more(page: PageContext) -> None:
    """Grades from elsewhere, and the ids of what the log calls by text or by name."""
    own = bench()
    open_ = own.names_wanted or any(kind in own.files for kind in _SIDES)
    with st.expander(NAMES, type="compact", expanded=open_):
        for kind, label in _SIDES.items():
            file = bring(page, kind, label, LOOKS_LIKE[kind], HELP[kind], small=True)
            if file is None or kind == "qrels":
                continue
            try:
                names_of(own, kind)
            except InputError as error:
                show_error(error)


def names_of(own: Bench, kind: str) -> NameTable | None:
    """A table of names that was brought; raises InputError for one that cannot be used."""
    file = own.files.get(kind)
    if file is None:
        return None
    return own.make(kind, file.token, lambda: parse_names(file.data, file.name))


def _read(page: PageContext, file: Brought, groups: Brought | None) -> Corpus:
    with reading(), st.spinner("Reading the corpus …"):
        sides = None if groups is None else source_of(groups)
        ids = ids_of_corpus(bench())
        if file.path is not None:
            return load_corpus(file.path, groups=sides, ids=ids, within=page.launch.paths)
        if sides is None:
            _refuse_others(file)
        return parse_corpus(file.data, file.name, groups=sides, ids=ids, room=UPLOADS)


def _refuse_others(file: Brought) -> None:
    """Say what a file is that is known to be no corpus; the reader explains all the rest."""
    try:
        kind = kind_of(source_of(file))
    except InputError:
        return
    if kind not in ("corpus", "scores", "groups"):
        require_kind(file, "corpus")


def _checked(corpus: Corpus, file: Brought, settings: Settings) -> Inspection:
    return inspect_corpus(corpus, name=file.name, relevant_grade=settings.relevant_grade)


def _groups(page: PageContext, *, wanted: bool) -> None:
    """The file of group sizes, for a corpus without query ids."""
    if wanted or "groups" in bench().files:
        bring(page, "groups", "Group sizes", LOOKS_LIKE["groups"], HELP["groups"])


def _first_lines(file: Brought) -> list[str]:
    lines = source_of(file).beginning().splitlines()[:4]
    return [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …" for line in lines]


def _preview(lines: list[str], found: Inspection) -> None:
    counts = found.counts
    with st.expander(
        f"Preview: {plain(found.format)}, {counted(int(counts['documents']), 'row')}, "
        f"{counted(int(counts['features']), 'feature')}",
        type="compact",
    ):
        st.code("\n".join(lines), language=None)
