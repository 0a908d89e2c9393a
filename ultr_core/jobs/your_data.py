"""The page Your data: the work on a reader's own files as command lines and as a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ultr_core.export.notebook import NEEDS, Cell, Notebook, code, notebook, words
from ultr_core.fields import Choice, Switch
from ultr_core.files.log_reading import READING_FIELDS, SHOWN_WHOLE
from ultr_core.jobs.files import COLUMNS
from ultr_core.jobs.job import OWN_WORK, Job, Page, PageState, command_line, setting_fields
from ultr_core.jobs.own_files import CANDIDATES, CLIP, LEARNER, METHOD
from ultr_core.lab.methods import method_of
from ultr_core.learners.limits import COST
from ultr_core.own_data.curves import LOG_ITSELF
from ultr_core.own_data.evaluation import SHOWN_CLIP
from ultr_core.own_data.fitting import DEFAULT_METHOD
from ultr_core.propensity import ESTIMATORS, LOG_METHODS, PROPENSITY_METHODS, log_method
from ultr_core.settings import PARAMETERS
from ultr_core.words import as_argument

ESTIMATED_CURVE = "curve.csv"
TRAINED_RANKER = "ranker.json"
TRAINED_HERE = "the ranker trained here"
FOLD_SCORES = "fold_scores.csv"


@dataclass(frozen=True)
class CurveSource:
    """Where propensities may come from: its name for readers, and how commands and notebooks ask.

    asked: the fields of the commands, by name. code: of a notebook, which makes ``curve``; ``work``
    is filled in. estimates: whether a command of its own writes the curve first. needs_log: whether
    it is taken from the log. assumed: whether no list of numbers stands behind it, which might end
    too early.
    """

    label: str
    asked: Callable[[OwnWork], dict[str, Any]]
    code: str
    estimates: bool = False
    needs_log: bool = False
    assumed: bool = False


def _of_file(name: str, work: OwnWork) -> dict[str, Any]:
    return {"propensities": name, "carry_on": work.carry_on}


CURVE_SOURCES: Mapping[str, CurveSource] = MappingProxyType(
    {
        "power": CurveSource(
            r"A power law $(1/r)^\eta$",
            lambda work: {"eta": work.eta},
            "from ultr_core.users import PowerLaw\n\ncurve = PowerLaw({work.eta})",
            assumed=True,
        ),
        "file": CurveSource(
            "My own curve (CSV)",
            lambda work: _of_file(as_argument(work.curve, LOG_ITSELF), work),
            "from ultr_core.files import read_curve_values\n"
            "from ultr_core.own_data.curves import curve_for_log\n\n"
            "values = read_curve_values({work.curve!r})\n"
            "curve = curve_for_log(values, log, carry_on={work.carry_on})",
        ),
        "estimated": CurveSource(
            "Estimated from the log",
            lambda work: _of_file(ESTIMATED_CURVE, work),
            "from ultr_core.own_data.curves import curve_for_log, estimate_findings\n"
            "from ultr_core.propensity.log_estimates import estimate_from_log\n\n"
            "estimate = estimate_from_log(log, method={work.estimator!r})\n"
            "print(*(found.sentence for found in estimate_findings(estimate)), sep='\\n')\n"
            "print(*estimate.notices, sep='\\n')\n"
            "curve = curve_for_log(estimate.curve.values, log, carry_on={work.carry_on})",
            estimates=True,
            needs_log=True,
        ),
        "log": CurveSource(
            "The log's own column",
            lambda work: _of_file(LOG_ITSELF, work),
            "from ultr_core.own_data.curves import curve_in_log\n\n"
            "curve = curve_in_log(log, carry_on={work.carry_on})",
            needs_log=True,
        ),
    }
)
"""Where propensities of a reader's own log come from; page, commands and notebook read this."""


LOG_READING = tuple(replace(each, key=f"log_{each.key}") for each in READING_FIELDS)
LOG_COLUMNS = replace(COLUMNS, key="log_columns", label="Columns", default={})
"""How the log is read, which a link has for whoever brings a log of the same kind."""


SOURCE = Choice(
    "data-curve-from", "Where they come from",
    {key: source.label for key, source in CURVE_SOURCES.items()}, name="propensities",
)  # fmt: skip
ETA = replace(
    PARAMETERS["eta"], key="data-eta", label="Assumed exponent η",
    help="0: users examine every rank equally often. 1: they examine rank 10 a tenth as often as "
    "rank 1.",
)  # fmt: skip
ESTIMATOR = Choice(
    "data-estimator", "Method", {key: PROPENSITY_METHODS[key].label for key in LOG_METHODS},
    default="all-pairs", name="estimator",
)  # fmt: skip
CARRY_ON = Switch(
    "data-carry-on", "Use the last value of the curve for all positions below it", name="carry_on"
)
_HANDS_OVER = (
    "Policy-aware weights replace IPS if lists leave out candidates that other lists for the query "
    "show, unless too many candidates were never shown."
)
WEIGHTS = replace(
    METHOD, key="data-method", label="Click weights",
    options={
        key: f"{method_of(ESTIMATORS[key]).label}: {ESTIMATORS[key].counts}"
        for key in METHOD.options
    },
    help=_HANDS_OVER,
)  # fmt: skip
TRAINED = replace(LEARNER, key="data-learner", help="")
BY_VALIDATION = Switch(
    "data-validation", "Choose C on held-out clicks", default=True,
    help="The paper's C trades off training errors against simplicity. 15% of the clicked queries "
    "are held out to choose C and the threshold τ; then the ranker is trained on all clicks.",
)  # fmt: skip
CHOSEN_COST = replace(COST, key="data-cost", label="C", low=1e-6, default=1.0)
_POSITIVE = replace(CLIP, low=0.001, above=False, default=SHOWN_CLIP)
CHOSEN_CLIP = replace(_POSITIVE, key="data-clip", label="τ")
JUDGE = Choice(
    "data-judge", "Judge by",
    {key: ESTIMATORS[key].label for key in ("ips", "clipped", "policy-aware")},
    help=_HANDS_OVER,
)  # fmt: skip
JUDGED_AT = replace(
    _POSITIVE, key="data-judging-clip", label="τ for the clipped estimate", name="judging_clip"
)
JUDGED_WHOLE = replace(SHOWN_WHOLE, key="data-shown-whole", help="")
"""The values of the page, which the session keeps; a link has none of these, as it has no files."""

COMPARED = replace(CANDIDATES, key="candidates", label="Rankers compared on these clicks", help="")
"""How many rankers the gate counts; a link has it, for whoever tries more rankers on such a log."""


@dataclass(frozen=True)
class OwnWork:
    """What was done: names of the files, and every choice.

    corpus, log, clicks: names of files, None or empty where there is none; clicks: those in files
    of their own. columns: meaning to column of the log, where names had to be mapped. reading: of
    ``READING_FIELDS`` what was chosen, by name. propensities: key in ``CURVE_SOURCES``, with
    ``eta``, ``curve``, ``estimator`` and ``carry_on`` for those that use them. method, learner,
    cost, clip: of training, None chooses by validation. judged: file of the ranker that was
    evaluated, None for the trained one; scores: whether that file holds scores. folds: whether the
    trained one was judged by `fold_scores`. logger_scores: file of the logging ranker's scores.
    judge: key of the estimator of the verdict; judging_clip: the threshold tau of the clipped
    estimate where that judges. candidates: how many rankers the gate counts. shown_whole:
    whether only queries judge whose candidates were all shown. ids: pattern of the corpus's
    document ids. qrels, query_texts, document_names: names of those files. missing_zero: of the
    ranker's features. steps: which of "propensities", "fit" and "evaluate" were done.
    """

    corpus: str | None = None
    log: tuple[str, ...] = ()
    clicks: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    propensities: str = SOURCE.default
    eta: float = ETA.default
    curve: str = ESTIMATED_CURVE
    estimator: str = ESTIMATOR.default
    carry_on: bool = CARRY_ON.default
    method: str = WEIGHTS.default
    learner: str = TRAINED.default
    cost: float | None = None
    clip: float | None = None
    seed: int = 0
    relevant_grade: int = 3
    judged: str | None = None
    scores: bool = False
    folds: bool = True
    logger_scores: str | None = None
    judge: str = JUDGE.default
    judging_clip: float | None = None
    candidates: int = COMPARED.default
    shown_whole: bool = False
    ids: str | None = None
    qrels: str | None = None
    query_texts: str | None = None
    document_names: str | None = None
    missing_zero: bool = False
    steps: tuple[str, ...] = ()


def command_lines(work: OwnWork) -> tuple[str, ...]:
    """The command lines that do the same and print the same numbers, in their order."""
    # Four jobs and their readers, which nobody waits for who only opens the page.
    from ultr_core.jobs import check, evaluate, fit, propensities

    lines = []
    asked: dict[str, Any]
    own = [] if work.corpus is None else [work.corpus]
    if len(work.log) == 1 and not work.clicks:
        asked = {"files": [*own, *work.log], **_log(work), "log": None}
    else:
        asked = {"files": own, **_log(work)}
    asked["document_ids"] = work.ids
    if own and work.log:
        asked |= {each: value for each, value in _files(work).items() if each in _JOINING}
    if own or work.log:
        lines.append(command_line("check", check.JOB, asked))
    if "propensities" in work.steps and CURVE_SOURCES[work.propensities].estimates and work.log:
        asked = {
            **_log(work),
            "method": log_method(work.estimator).name,
            "out": ESTIMATED_CURVE,
        }
        lines.append(command_line("propensities", propensities.JOB, asked))
    if "fit" in work.steps:
        lines.append(command_line("fit", fit.JOB, {**_files(work), **_training(work)}))
    if "evaluate" in work.steps:
        lines.append(command_line("evaluate", evaluate.JOB, {**_files(work), **_judging(work)}))
    return tuple(lines)


_JOINING = ("corpus", "qrels", "query_texts", "document_names")


def _log(work: OwnWork) -> dict[str, Any]:
    """The log and how it is read, by field."""
    return {
        "log": list(work.log) or None,
        "clicks": list(work.clicks) or None,
        "columns": work.columns or None,
        **work.reading,
    }


def _files(work: OwnWork) -> dict[str, Any]:
    """What training and judging begin with, by field."""
    return {
        "corpus": work.corpus,
        "document_ids": work.ids,
        "qrels": work.qrels,
        **_log(work),
        "query_texts": work.query_texts,
        "document_names": work.document_names,
        **CURVE_SOURCES[work.propensities].asked(work),
    }


def _training(work: OwnWork) -> dict[str, Any]:
    return {
        "method": asked_method(work.method) or None,
        "learner": None if work.learner == TRAINED.default else work.learner,
        "cost": work.cost,
        "clip": work.clip,
        "seed": work.seed,
        "logger_scores": work.logger_scores,
        "out": TRAINED_RANKER,
        "fold_scores_out": FOLD_SCORES if work.folds else None,
    }


def _judging(work: OwnWork) -> dict[str, Any]:
    by_scores = work.scores if work.judged is not None else work.folds
    ranker = work.judged or (FOLD_SCORES if work.folds else TRAINED_RANKER)
    return {
        "scores" if by_scores else "model": ranker,
        "method": asked_method(work.judge, judges=True) or None,
        "clip": work.judging_clip,
        "shown_whole": work.shown_whole or None,
        "missing_zero": work.missing_zero or None,
        "relevant_grade": work.relevant_grade,
        "gate": True,
        "candidates": work.candidates,
    }


def asked_method(key: str, *, judges: bool = False) -> str:
    """The method asked for by name; "" for IPS, which may hand over to policy-aware weights.

    judges: as the judge of a verdict, where also clipped is "", because its clip asks for it.
    """
    return "" if key == DEFAULT_METHOD or (judges and key == "clipped") else key


def _by_path(work: OwnWork) -> OwnWork:
    """The same with names that no reader takes for anything but a file."""
    return replace(
        work,
        corpus=None if work.corpus is None else as_argument(work.corpus),
        log=tuple(map(as_argument, work.log)),
        clicks=tuple(map(as_argument, work.clicks)),
        curve=as_argument(work.curve, LOG_ITSELF),
        judged=None if work.judged is None else as_argument(work.judged),
        logger_scores=None if work.logger_scores is None else as_argument(work.logger_scores),
        qrels=None if work.qrels is None else as_argument(work.qrels),
        query_texts=None if work.query_texts is None else as_argument(work.query_texts),
        document_names=None if work.document_names is None else as_argument(work.document_names),
    )


def own_notebook(work: OwnWork) -> Notebook:
    """A notebook that does the same with ``ultr_core`` alone, beside the files."""
    return notebook("your-data", list(_cells(_by_path(work))))


def _cells(work: OwnWork) -> Iterator[Cell]:
    yield words(
        f"""
        # Your data: from corpus and clicks to a ranker and evidence

        The numbers from the *Your data* page of the Unbiased LTR Lab. {NEEDS}

        The notebook reads your files by name: put them in its folder.
        """
    )
    yield from _reading_cells(work)
    if "fit" in work.steps or "evaluate" in work.steps:
        yield code(_joining(work))
    if "fit" in work.steps:
        yield words("## Ranker")
        yield _fit_cell(work)
        if ESTIMATORS[work.method].fits_relevance:
            yield code(
                "from ultr_core.figures import rank_test_figure\n\n"
                "rank_test_figure({fit.label: fit.by_rank})"
            )
    if "evaluate" in work.steps:
        yield words("## Evidence")
        yield code(_ranker_code(work))
        if work.shown_whole:
            yield code(f"joined = {_join(work, ', shown_whole=True')}\nprint(joined.notices[-1])")
        yield _evidence_cell(work)
        yield words("## Gate")
        yield _gate_cell(work)


def _reading_cells(work: OwnWork) -> Iterator[Cell]:
    """Corpus and log with their checks, and the propensities."""
    if work.corpus is not None:
        yield words("## Corpus")
        graded = (
            ""
            if work.qrels is None
            else (
                "from ultr_core.files.trec_files import read_qrels\n\n"
                f"            corpus = read_qrels({work.qrels!r}, corpus)\n            "
            )
        )
        ids = "" if work.ids is None else f", ids={work.ids!r}"
        yield code(
            f"""
            from ultr_core.files import load_corpus
            from ultr_core.inspection import inspect_corpus

            corpus = load_corpus({work.corpus!r}{ids})
            {graded}found = inspect_corpus(corpus, relevant_grade={work.relevant_grade})
            for finding in found.findings:
                print(finding.severity, "-", finding.sentence)
            """
        )
    if work.log:
        yield words("## Click log")
        needs = "\n            from ultr_core.files.log_reading import Reading" * bool(work.reading)
        yield code(
            f"""
            from ultr_core.inspection import inspect_log
            from ultr_core.files import read_log{needs}

            log = read_log({_reading(work)})
            for finding in inspect_log(log).findings:
                print(finding.severity, "-", finding.sentence)
            """
        )
        if "propensities" in work.steps:
            yield words("## Propensities")
            yield code(CURVE_SOURCES[work.propensities].code.format(work=work))


def _reading(work: OwnWork) -> str:
    """The arguments of ``read_log``, as Python."""
    log, clicks = (
        repr(names[0] if len(names) == 1 else list(names))
        for names in (work.log, work.clicks or ((),))
    )
    parts = [log, *([f"clicks={clicks}"] if work.clicks else [])]
    parts.append(f"columns={dict(work.columns) or None!r}")
    if work.reading:
        parts.append(f"how=Reading.of({dict(work.reading)!r})")
    return ", ".join(parts)


def _fit_cell(work: OwnWork) -> Cell:
    scores, needs, method = "", "", asked_method(work.method)
    if work.logger_scores is not None:
        scores = f"\n            logger_scores=read_scores({work.logger_scores!r}, corpus),"
        needs = "from ultr_core.files import read_scores\n        "
    return code(
        f"""
        {needs}from ultr_core.own_data.fitting import fit_from_log
        from ultr_core.files.ranker_files import write_ranker
        from ultr_core.learners import LEARNERS

        fit = fit_from_log(
            corpus, joined.clicks, curve, method={method!r}, learner={work.learner!r},
            cost={work.cost!r}, clip={work.clip!r}, seed={work.seed},{scores}
        )
        print(fit.sentence)
        found = inspect_together(
            joined, corpus, curve, estimator=fit.estimator, clip=fit.clip,
            from_pairs=LEARNERS[fit.learner].from_pairs,
        )
        for finding in found.findings:
            print(finding.severity, "-", finding.sentence)
        write_ranker(fit.ranker, {TRAINED_RANKER!r})
        """
    )


def _evidence_cell(work: OwnWork) -> Cell:
    clip = "" if work.judging_clip is None else f", clip={work.judging_clip}"
    judge = asked_method(work.judge, judges=True)
    needs, trust, biased = _trust(work)
    return code(
        f"""
        {needs}from ultr_core.own_data.evaluation import evaluate_ranker, judge_by

        name = {work.judged or TRAINED_HERE!r}
        {trust}judge = judge_by({judge!r}, corpus, joined.clicks, curve{clip}{biased})
        found = evaluate_ranker(
            corpus, joined.clicks, scores, curve{clip},
            relevant_grade={work.relevant_grade}, name=name, judge=judge,
        )
        checks = inspect_together(joined, corpus, curve{clip}, sees=judge.sees)
        for finding in checks.findings:
            print(finding.severity, "-", finding.sentence)
        print(found.sentence)
        for report in found.reports.values():
            print(report.label, report.estimate or report.words)
        print(found.true)
        """
    )


def _trust(work: OwnWork) -> tuple[str, str, str]:
    """Imports, lines and an argument that tell the judge of trust bias in the curve's log."""
    from_file = f"read_curves({work.curve!r})"
    values, told = {
        "file": ("values", f"{from_file}[1].get('', '')"),
        "estimated": ("estimate.curve.values", "estimate.trust_bias"),
    }.get(work.propensities, ("", ""))
    if not told:
        return "", "", ""
    needs = "from ultr_core.inspection import inspect_curve, trust_bias_found\n        "
    if work.propensities == "file":
        needs = f"from ultr_core.files.curve_files import read_curves\n        {needs}"
    lines = f"found = inspect_curve({values}, trust_bias={told})\n        "
    return needs, lines, ", biased=trust_bias_found(found.findings)"


def _gate_cell(work: OwnWork) -> Cell:
    """The gate, with what is known of the clicks that trained the ranker."""
    trained, needs = f"{not work.folds}", ""
    if work.judged is not None:
        trained = "None"  # nobody knows, of scores
        if not work.scores:
            needs = (
                "from ultr_core.files.tree_files import read_model_record\n"
                "        from ultr_core.own_data.provenance import trained_on\n        "
            )
            record = f"read_model_record({work.judged!r})"
            trained = f"trained_on(corpus, joined.clicks, {record}).trained"
    return code(
        f"""
        {needs}from ultr_core.own_data.deployment import gate, reason_against

        stops = [*checks.findings, *inspect_log(log).warnings]
        passing = gate(
            joined.clicks, scores, curve, name=name, judge=judge, candidates={work.candidates},
            declined=reason_against(stops, copies=log.copies), trained={trained},
        )
        print(passing.difference.sentence, passing.sentence, sep="\\n")
        """
    )


def _joining(work: OwnWork) -> str:
    """Code that joins log and corpus, with the tables of names that were brought."""
    named = work.query_texts or work.document_names
    needs = "from ultr_core.files import read_names\n" if named else ""
    return (
        f"{needs}from ultr_core.inspection import inspect_together, join_log\n\n"
        f"joined = {_join(work)}"
    )


def _join(work: OwnWork, more: str = "") -> str:
    tables = {"queries": work.query_texts, "documents": work.document_names}
    given = "".join(f", {k}=read_names({path!r})" for k, path in tables.items() if path)
    return f"join_log(log, corpus{given}{more})"


def _ranker_code(work: OwnWork) -> str:
    if work.judged is None:
        if not work.folds:
            return "scores = fit.ranker.score(corpus)"
        return (
            "from ultr_core.own_data.fitting import fold_scores\n\n"
            f"scores = fold_scores(corpus, joined.clicks, fit, seed={work.seed})"
        )
    if work.scores:
        return (
            "from ultr_core.files import read_scores\n\n"
            f"scores = read_scores({work.judged!r}, corpus)"
        )
    missing = ", missing_zero=True" if work.missing_zero else ""
    return (
        "from ultr_core.files.tree_files import read_model, score_model\n\n"
        f"scores, notices = score_model(read_model({work.judged!r}), corpus{missing})\n"
        "print(*notices)"
    )


_OWN_FILES = OwnWork("corpus.txt", ("clicks.csv",), steps=("propensities", "fit", "evaluate"))
"""The whole way, with names to be replaced."""


def chosen_reading(values: Mapping[str, Any]) -> dict[str, Any]:
    """Of the values of ``LOG_READING`` by key, those that are not the defaults, by name."""
    found = {each.name: (values.get(each.key), each.default) for each in LOG_READING}
    return {name: value for name, (value, usual) in found.items() if value not in (None, usual)}


def cells(state: PageState) -> tuple[Cell, ...]:
    """What was done, or the whole way where nothing is done yet."""
    work: OwnWork | None = state.values.get(OWN_WORK)
    if work is None or not (work.corpus or work.log or work.steps):
        work = replace(
            _OWN_FILES, seed=state.settings.seed, relevant_grade=state.settings.relevant_grade,
            columns=state.values.get(LOG_COLUMNS.key, {}), reading=chosen_reading(state.values),
            candidates=state.values.get(COMPARED.key, COMPARED.default),
        )  # fmt: skip
    return own_notebook(work).cells


JOB = Job(
    pages={
        "your_data": Page(
            "What can a ranker learn from your own clicks, and what do they prove?", cells,
            (LOG_COLUMNS, *LOG_READING, COMPARED),
            settings=setting_fields("relevant_grade", "seed"), begins=lambda _: "nothing",
        )
    }
)  # fmt: skip
