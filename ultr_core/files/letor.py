"""Corpora in LETOR/SVMlight files: one document a line, ``grade qid:ID id:value ... # comment``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from ultr_core.corpus.feature_matrix import (
    MISSING_ZERO,
    FeatureMatrix,
    scale_notice,
    some_ids,
)
from ultr_core.corpus.model import Corpus
from ultr_core.corpus.splits import CorpusSplits
from ultr_core.errors import InputError, checked_path, named
from ultr_core.files.disk import directory_fault, fault_of
from ultr_core.files.kinds import expecting
from ultr_core.files.letor_cache import CacheLookup
from ultr_core.files.letor_lines import Progress, Source
from ultr_core.files.letor_table import (
    DENSE_FROM_SHARE,
    count_filled,
    read_table,
    side_file,
    table_corpus,
)
from ultr_core.limits import OWN_FILES, Room
from ultr_core.words import counted

# LETOR 4.0, MSLR and Istella; LETOR 3.0 (OHSUMED); Yahoo C14, whose first set is the paper's.
_PARTS = {
    "training": ("train.txt", "trainingset.txt", "set1.train.txt"),
    "validation": (
        "vali.txt", "valid.txt", "validation.txt", "validationset.txt", "set1.valid.txt",
    ),
    "test": ("test.txt", "testset.txt", "set1.test.txt"),
}  # fmt: skip
_MOST_NAMES_SHOWN = 8


def load_corpus(
    path: str | Path,
    *,
    groups: str | Path | Source | None = None,
    ids: str | None = None,
    progress: Progress | None = None,
    cache: bool = True,
    within: str | Path | None = None,
) -> Corpus:
    """Read a corpus from one LETOR file, plain or gzipped.

    A query's rows need not be adjacent: they are grouped in the order in which the queries
    first occur (``Corpus.source_rows`` keeps their places in the file). Features are the ids that
    occur anywhere in the file; missing features are 0, and so are values marked as missing, as in
    Istella's files, and values too small for float32; ``Corpus.notices`` reports both. Document
    ids are taken from comments if each row has one (see `comment_ids`).

    Args:
        path: the file.
        groups: a file, or an upload, with the number of documents in each query, one per line, for
            rows without ``qid:``; by default, a file beside the corpus with the same name plus
            .query or .group.
        progress: called with the share of the file read so far, after each block.
        ids: pattern for the document ids in comments, see `id_pattern`; None for the usual forms.
        cache: keep the parsed form of a large file in the user's cache directory, and use it as
            long as the file's content does not change (see ``letor_cache``).
        within: a directory that must contain the file and its group sizes after links are resolved;
            for servers that read on behalf of others.

    Raises:
        InputError: the file or a row cannot be used; the error names the file, line and column.

    """
    source = Source.file(path, within=None if within is None else Path(within))
    given = groups.path if isinstance(groups, Source) else groups
    beside = Path(given) if given is not None else side_file(source)
    uploaded = groups is not None and given is None  # nothing would tell it from the next one
    # The cache knows files by their content, and not by what else was asked.
    usual = ids is None and not uploaded
    lookup = CacheLookup.of(source.path, beside) if cache and usual else None
    corpus = None if lookup is None else lookup.corpus()
    if corpus is not None:
        if progress is not None:
            progress(1.0)
        return corpus
    with expecting("corpus", source):
        corpus = table_corpus(read_table(source, groups=groups, progress=progress, ids=ids))
    if lookup is not None:
        lookup.keep(corpus)
    return corpus


def parse_corpus(
    data: bytes,
    name: str,
    *,
    groups: str | Path | Source | None = None,
    ids: str | None = None,
    room: Room = OWN_FILES,
) -> Corpus:
    """Read a corpus from the bytes of an upload called ``name``; nothing touches the disk.

    groups: a file, or an upload, with the number of documents per query, for rows without ``qid:``.
    ids: as for `load_corpus`.
    room: limits on the result; a server gives visitors less room than their own machine would.
    Raises InputError if `load_corpus` does.

    >>> corpus = parse_corpus(b"4 qid:7 1:0.5 3:1 # first\\n0 qid:7 2:0.25\\n", "example")
    >>> corpus.grades.tolist(), corpus.query_offsets.tolist(), corpus.feature_ids.tolist()
    ([4, 0], [0, 2], [1, 2, 3])
    """
    source = Source.upload(data, name, room)
    with expecting("corpus", source):
        return table_corpus(read_table(source, groups=groups, ids=ids))


def directory_files(path: str | Path) -> tuple[Path, list[Path]]:
    """The directory of a corpus and its three files, unread.

    Raises InputError: no such directory, or a file missing, there twice, or no file.
    """
    directory = checked_path(path, "The corpus")
    if fault := directory_fault(directory):
        raise InputError(
            f"{named(directory)} {fault}; give a directory with train.txt, vali.txt and test.txt.",
            "no_corpus_directory",
        )
    return directory, _find_parts(directory)


def load_directory(
    path: str | Path,
    *,
    ids: str | None = None,
    missing_zero: bool = False,
    progress: Progress | None = None,
    cache: bool = True,
) -> CorpusSplits:
    """Read training, validation and test queries from a directory.

    The files are ``train.txt``, ``vali.txt`` (or ``valid.txt``, ``validation.txt``) and
    ``test.txt``, or have the names used in OHSUMED or Yahoo's set 1, each optionally with ``.gz``.
    All three have a feature column for each id that occurs in any of them. ids: as for
    `load_corpus`. missing_zero: a feature missing from a file is 0 there; otherwise such files are
    refused, unless all three are sparse and omit most features.

    Raises:
        InputError: the directory does not exist; a file is missing, duplicated or not usable; or
            the files have different features.

    """
    directory, files = directory_files(path)
    train, validation, test = _on_equal_columns(
        [
            load_corpus(file, ids=ids, progress=_third(progress, number), cache=cache)
            for number, file in enumerate(files)
        ],
        missing_zero,
    )
    return CorpusSplits(
        name=named(directory.name or directory),
        train=train,
        validation=validation,
        test=test,
        source="files",
        notices=_notices(train, validation, test),
    )


def _third(progress: Progress | None, number: int) -> Progress | None:
    """Progress over three files out of that over one of them."""
    return None if progress is None else lambda share: progress((number + share) / 3)


def _on_equal_columns(parts: list[Corpus], missing_zero: bool) -> list[Corpus]:
    """Bring corpora to the features that occur in any of them, all dense or all sparse."""
    ids = np.unique(np.concatenate([part.feature_ids for part in parts]))
    if not missing_zero:
        _require_equal_features(parts, ids)
    cells = sum(part.n_documents for part in parts) * len(ids)
    dense = sum(count_filled(part.features) for part in parts) > DENSE_FROM_SHARE * cells
    done = []
    while parts:
        part = parts.pop(0)
        if part.is_sparse == dense or not np.array_equal(part.feature_ids, ids):
            part = _with_columns(part, ids, dense)
        done.append(part)
    return done


def _require_equal_features(parts: list[Corpus], ids: NDArray[np.int64]) -> None:
    """Raise InputError for parts of different features that are written in full."""
    if all(part.is_sparse for part in parts):
        return
    for part, name in zip(parts, _PARTS, strict=True):
        missing = np.setdiff1d(ids, part.feature_ids)
        if missing.size:
            raise InputError(
                f"The {name} file has {counted(part.n_features, 'feature')} and lacks "
                f"{some_ids(missing)}, which the other files have; give files with the same "
                "features, or say that missing features are 0.",
                MISSING_ZERO,
            )


def _with_columns(corpus: Corpus, ids: NDArray[np.int64], dense: bool) -> Corpus:
    """The same corpus over more feature columns."""
    columns = np.searchsorted(ids, corpus.feature_ids)
    shape = (corpus.n_documents, len(ids))
    features: FeatureMatrix
    if dense:
        features = np.zeros(shape, np.float32)
        if isinstance(corpus.features, sparse.csr_array):
            entries = corpus.features.tocoo()
            features[entries.row, columns[entries.col]] = entries.data
        else:
            features[:, columns] = corpus.features
    else:
        part = sparse.csr_array(corpus.features)
        features = sparse.csr_array((part.data, columns[part.indices], part.indptr), shape=shape)
    return Corpus(
        features=features,
        grades=corpus.grades,
        query_offsets=corpus.query_offsets,
        query_ids=corpus.query_ids,
        document_ids=corpus.document_ids,
        feature_ids=ids,
        source_rows=corpus.source_rows,
        notices=corpus.notices,
        unread_ids=corpus.unread_ids,
    )


def _find_parts(directory: Path) -> list[Path]:
    """Find the three files of a directory."""
    found = []
    for part, names in _PARTS.items():
        wanted = [name + ending for name in names for ending in ("", ".gz")]
        present = [name for name in wanted if os.path.lexists(directory / name)]
        faults = {name: fault_of(directory / name) for name in present}
        files = [directory / name for name, fault in faults.items() if fault is None]
        if len(files) > 1:
            raise InputError(
                f"{named(directory)} contains both {files[0].name} and {files[1].name} for the "
                f"{part} queries; keep one of them.",
                "part_twice",
            )
        if not files and present:
            raise InputError(
                f"{named(directory / present[0])} {faults[present[0]]}; "
                f"give a regular file with the {part} queries.",
                "part_not_a_file",
            )
        if not files:
            raise InputError(
                f"{named(directory)} has no {part} file ({' or '.join(names)}, plain or with "
                f".gz added); it contains {_listing(directory)}.",
                "part_missing",
            )
        found.append(files[0])
    return found


def training_file_of(directory: Path) -> Path:
    """The file with the training queries of a directory, as `load_directory` would read it."""
    return _find_parts(directory)[0]


def _listing(directory: Path) -> str:
    """Name what a directory holds, shortened."""
    with os.scandir(directory) as entries:
        names = sorted(named(entry.name) + "/" * os.path.isdir(entry) for entry in entries)
    shown = ", ".join(names[:_MOST_NAMES_SHOWN]) or "nothing"
    more = len(names) - _MOST_NAMES_SHOWN
    return shown + (f" and {more} more" if more > 0 else "")


def _notices(train: Corpus, validation: Corpus, test: Corpus) -> tuple[str, ...]:
    """What each reader said, and where two parts are the same documents, which would mislead."""
    pairs = (
        ("training", train, "validation", validation),
        ("training", train, "test", test),
        ("validation", validation, "test", test),
    )
    own = [
        f"The {part} file: {text}"
        for part, corpus in (("training", train), ("validation", validation), ("test", test))
        for text in (*corpus.notices, *scale_notice(corpus.features, corpus.feature_ids))
    ]
    return (
        *own,
        *(
            f"The {one} and {other} files contain the same documents and grades; "
            "results on them are not independent."
            for one, first, other, second in pairs
            if _same_documents(first, second)
        ),
    )


def _same_documents(first: Corpus, second: Corpus) -> bool:
    """Tell whether two corpora have the same lists, features and grades in the same order."""
    if not np.array_equal(first.query_offsets, second.query_offsets):
        return False
    if not np.array_equal(first.grades, second.grades):
        return False
    return all(
        np.array_equal(one, other)
        for one, other in zip(_stored(first.features), _stored(second.features), strict=True)
    )


def _stored(features: FeatureMatrix) -> Sequence[NDArray[Any]]:
    """Return the arrays that make up a feature matrix."""
    if isinstance(features, sparse.csr_array):
        return features.data, features.indices, features.indptr
    return (features,)
