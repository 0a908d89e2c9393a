"""``convert``: a corpus, weights, scores, a ranker or a curve from one format into another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from ultr_core.corpus import Corpus, propose_relevance_threshold
from ultr_core.corpus.model import LARGEST_GRADE
from ultr_core.corpus.splits import PAPER_THRESHOLD
from ultr_core.errors import InputError, named
from ultr_core.fields import Choice
from ultr_core.files import (
    load_corpus,
    parse_curve,
    parse_trust_bias,
    read_proprank,
    read_ranker,
    read_weights,
    write_curve,
    write_letor,
    write_proprank,
    write_ranker,
    write_svm_light_model,
    write_weights,
)
from ultr_core.files.disk import read_text
from ultr_core.files.kinds import KINDS, NOT_ALONE, UNREAD, kind_beyond_doubt
from ultr_core.files.letor_lines import Progress, Source
from ultr_core.files.ranker_files import FIRST_LINE, read_training_record
from ultr_core.files.score_files import ScoreForm, is_score_table, read_score_file, write_scores
from ultr_core.files.trec_files import is_run, write_qrels
from ultr_core.files.weight_files import is_weights_table
from ultr_core.inspection.of_file import kind_of
from ultr_core.jobs.files import File
from ultr_core.jobs.job import Given, Job
from ultr_core.jobs.output import print_notes, share_line
from ultr_core.learners import LinearModel
from ultr_core.propensity import Weights, full_information_weights
from ultr_core.settings import PARAMETERS
from ultr_core.words import counted

_SCORE_FORMS: Mapping[str, ScoreForm] = {"scores": "lines", "score-table": "table", "run": "run"}
_KINDS = {"corpus": "letor", "training": "proprank", "curve": "curve"}


def run(given: Given) -> None:
    """Read, write and say what was done."""
    source = vars(given)["from"] or _detect(given.input)
    target = given.to or _target(source, given)
    if target not in FORMATS[source].targets:
        raise InputError(
            f"{named(given.input)} ({source}) cannot be converted to {target}; from {source}, "
            f"choose {' or '.join(FORMATS[source].targets)}.",
            "no_conversion",
        )
    if given.relevant_grade is not None and (
        (source, target) != ("letor", "proprank") or given.weights is not None
    ):
        raise InputError(
            "--relevant-grade is for a corpus that becomes a training file (proprank) without "
            f"--weights; from {source} to {target} it has no effect, so leave it out.",
            "changes_nothing",
        )
    convert = FORMATS[source].convert
    assert convert is not None  # it has targets
    done = convert(_Work(given, share_line("reading")), target)
    print(f"{named(given.input)} ({source}): {done}.")
    print(f"Written to {named(given.output)} ({target}: {FORMATS[target].words}).")


def _detect(path: str) -> str:
    """The format of a file by its content."""
    source = Source.file(path, "IN")
    if is_weights_table(source):
        return "weights"
    found = kind_beyond_doubt(source)
    kind = found if found in (*NOT_ALONE, *UNREAD) else kind_of(source)
    if kind == "scores":
        first = _first_line(source)
        if is_run(first):
            return "run"
        return "score-table" if is_score_table(first) else "scores"
    if kind == "ranker":
        return "svmlight" if _first_line(source).startswith(FIRST_LINE) else "json"
    if kind not in _KINDS:
        raise InputError(
            f"{named(path)} looks like {KINDS[kind]}, which cannot be converted; corpora, training "
            "files, weights, scores, linear rankers and curves can be.",
            "not_convertible",
        )
    return _KINDS[kind]


def _first_line(source: Source) -> str:
    return source.beginning().lstrip().partition("\n")[0]


def _target(source: str, given: Given) -> str:
    """What the name of OUT asks for; without an ending, the first that IN can become.

    Raises InputError for an ending that none of them has.
    """
    targets = FORMATS[source].targets
    if source == "letor":
        targets = ("proprank",) if given.weights else ("letor", "qrels")
    # A name may be nothing but an ending.
    ending = Path("x" + Path(given.output).name.lower().removesuffix(".gz")).suffix
    found = next((name for name in targets if not ending or ending in FORMATS[name].endings), None)
    if found is None:
        ways = " or ".join(f"{' or '.join(FORMATS[name].endings)} for {name}" for name in targets)
        raise InputError(
            f"{named(given.output)} has an extension that does not determine the format to write; "
            f"to convert from {source}, use {ways}, or name the format with --to.",
            "no_target_format",
        )
    return found


@dataclass(frozen=True)
class _Work:
    """What a conversion was given and where its progress goes."""

    given: Given
    progress: Progress | None

    def corpus_of(self, path: str) -> Corpus:
        corpus = load_corpus(path, groups=self.given.groups, progress=self.progress)
        print_notes(corpus.notices)
        return corpus

    def own_corpus(self, what: str) -> Corpus:
        """The corpus that weights or scores are of."""
        if self.given.corpus is None:
            raise InputError(f"{what} need a corpus; give its file with --corpus.", "corpus_needed")
        return self.corpus_of(self.given.corpus)


def _from_letor(work: _Work, target: str) -> str:
    corpus = work.corpus_of(work.given.input)
    if target == "letor":
        write_letor(corpus, work.given.output)
        return _counted(corpus)
    if target == "qrels":
        write_qrels(work.given.output, corpus)
        return _counted(corpus)
    return f"{_counted(corpus)}; {_write_training(work, corpus, _weights(work, corpus))}"


def _weights(work: _Work, corpus: Corpus) -> Weights:
    """The weights to train with: those given, or 1 for each relevant document."""
    if work.given.weights is not None:
        return read_weights(work.given.weights, corpus)
    grade, notice = propose_relevance_threshold(
        (corpus,), work.given.relevant_grade or PAPER_THRESHOLD
    )
    print_notes(() if notice is None else (notice,))
    print_notes((f"no --weights given, so each document with grade {grade} or more has weight 1.",))
    return full_information_weights(corpus.relevance(grade))


def _write_training(work: _Work, corpus: Corpus, weights: Weights) -> str:
    lines = write_proprank(work.given.output, corpus, weights)
    rankings = int((weights.values > 0).sum())
    return (
        f"{counted(rankings, 'ranking')} in {counted(lines, 'line')}; training examples: "
        f"{weights.clicks:,.10g}"
    )


def _from_proprank(work: _Work, target: str) -> str:
    corpus, weights = read_proprank(work.given.input, progress=work.progress)
    print_notes(corpus.notices)
    if target == "letor":
        write_letor(corpus, work.given.output)
        return f"{_counted(corpus)}; the grades are 1 for documents with a training example"
    if target == "weights":
        write_weights(work.given.output, corpus, weights)
        return f"{_counted(corpus)}, {counted(int((weights.values > 0).sum()), 'weight')}"
    return f"{_counted(corpus)}; {_write_training(work, corpus, weights)}"


def _from_weights(work: _Work, target: str) -> str:
    corpus = work.own_corpus("Weights")
    weights = read_weights(work.given.input, corpus)
    if target == "proprank":
        return _write_training(work, corpus, weights)
    write_weights(work.given.output, corpus, weights)
    return counted(int((weights.values > 0).sum()), "weight")


def _from_ranker(work: _Work, target: str) -> str:
    ranker: LinearModel = read_ranker(work.given.input)
    if target == "json":
        write_ranker(ranker, work.given.output, trained=_record(work.given.input))
    else:
        write_svm_light_model(ranker, work.given.output)
    return f"linear ranker of {counted(len(ranker.feature_ids), 'feature')}"


def _record(path: str) -> Mapping[str, object]:
    """How a ranker was trained, if its file says so."""
    if _first_line(Source.file(path, "IN")).startswith(FIRST_LINE):
        return {"converted_from": "svm_light model text"}
    return read_training_record(path)


def _from_scores(work: _Work, target: str) -> str:
    corpus = work.own_corpus("Scores")
    scores, notices = read_score_file(work.given.input, corpus)
    print_notes(notices)
    write_scores(work.given.output, corpus, scores, form=_SCORE_FORMS[target])
    return counted(len(scores), "score")


def _from_curve(work: _Work, target: str) -> str:
    text, name = read_text(work.given.input, "The curve"), named(work.given.input)
    curve = parse_curve(text, name)
    write_curve(work.given.output, curve.values, parse_trust_bias(text, name).get("", ""))
    return curve.describe()


def _counted(corpus: Corpus) -> str:
    return (
        f"{counted(corpus.n_queries, 'query', 'queries')}, "
        f"{counted(corpus.n_documents, 'document')}, {counted(corpus.n_features, 'feature')}"
    )


@dataclass(frozen=True)
class Format:
    """A format: what it is, which it can become, and what reads it.

    targets: names of formats, the usual one first. endings: of file names that ask for it.
    convert: reads the file of the work and writes it as a target; says what was done. None for a
    format that is only written.
    """

    words: str
    targets: tuple[str, ...]
    endings: tuple[str, ...]
    convert: Callable[[_Work, str], str] | None = None


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "letor": Format(
            "corpus, one document per line: grade qid:ID id:value ...",
            ("letor", "proprank", "qrels"), (".txt", ".dat", ".letor"), _from_letor,
        ),
        "proprank": Format(
            "training file for svm_proprank: one ranking per weighted document",
            ("letor", "proprank", "weights"), (".dat", ".txt"), _from_proprank,
        ),
        "weights": Format(
            "table of document weights (CSV)", ("proprank", "weights"), (".csv",), _from_weights
        ),
        "json": Format(
            "ranker with all its details (JSON)",
            ("svmlight", "json"), (".json",), _from_ranker,
        ),
        "svmlight": Format(
            "ranker as an svm_light model file, for svm_rank_classify",
            ("json", "svmlight"), (".dat", ".txt", ".model"), _from_ranker,
        ),
        "scores": Format(
            "one score per line, in the order of the corpus's rows",
            ("score-table", "scores", "run"), (".txt", ".scores"), _from_scores,
        ),
        "score-table": Format(
            "table of scores (CSV)", ("scores", "score-table", "run"), (".csv",), _from_scores
        ),
        "run": Format(
            "scores as a TREC run: query Q0 document rank score tag",
            ("score-table", "scores", "run"), (".run", ".trec"), _from_scores,
        ),
        "qrels": Format("grades as TREC judgements: query 0 document grade", (), (".qrels",)),
        "curve": Format(
            "propensity curve (CSV), made relative to rank 1", ("curve",), (".csv",), _from_curve
        ),
    }
)  # fmt: skip
"""By name on the command line."""

_NAMED = {name: each.words for name, each in FORMATS.items()}
_READ = {name: each for name, each in FORMATS.items() if each.targets}

_NOTES = "\n".join(
    [
        "formats:",
        *(f"  {name:12} {text}" for name, text in _NAMED.items()),
        "",
        "conversions:",
        *(f"  {source:12} to {', '.join(each.targets)}" for source, each in _READ.items()),
        "",
        "extensions of OUT, before .gz, that select a format:",
        *(f"  {name:12} {', '.join(each.endings)}" for name, each in FORMATS.items()),
        "",
        "Ids in tables are unchanged, so that a table can be read back. Import tables into",
        "a spreadsheet as text: an id that begins with = is a formula there.",
        "",
        "examples (after python -m ultr_core):",
        "  convert train.txt train.txt.gz                    tidy and pack a corpus",
        "  convert train.txt train.dat --weights w.csv       training file for svm_proprank",
        "  convert train.dat weights.csv                     the weights in such a file",
        "  convert ranker.json model.dat                     model for svm_rank_classify",
        "  convert scores.txt scores.csv --corpus test.txt   scores with query and document",
    ]
)


JOB = Job(
    run,
    arguments=(
        File("input", "", metavar="IN", help="file to read, plain or gzipped"),
        File(
            "output", "", metavar="OUT", use="write",
            help="file to write, compressed if it ends in .gz",
        ),
    ),
    options=(
        Choice(
            "from", "", {name: each.words for name, each in _READ.items()}, default="",
            help="format of IN; default: recognised by its content",
        ),
        Choice(
            "to", "", _NAMED, default="",
            help="format of OUT; default: chosen from IN and the extension of OUT",
        ),
        File(
            "weights", "", metavar="FILE.csv",
            help="table of weights, for converting a corpus to proprank; without it every "
            "relevant document has weight 1",
        ),
        replace(
            PARAMETERS["relevant_grade"], high=LARGEST_GRADE, default=None,
            help="lowest relevant grade; default 3, if the grades go that high",
        ),
        File("corpus", "", help="corpus that the weights or scores in IN belong to"),
        File("groups", "", help="number of documents per query, for rows without qid:"),
    ),
    notes=_NOTES,
    as_typed=True,
)  # fmt: skip
