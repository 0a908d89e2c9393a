"""One page of HTML on a run, complete in itself: pictures, verdicts, settings, time, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from ultr_core.export.origin import versions
from ultr_core.export.study_files import PACKAGES, study_svg
from ultr_core.figures.studies import cut_words, study_figure
from ultr_core.findings import Finding, Outcome
from ultr_core.risk import FOR_ONE_WORLD
from ultr_core.studies import LOSSES, STUDY_METHODS, Claim, Rule, StudyResult, judge, read_study
from ultr_core.words import counted, part_of, section_words

_MARKS: Mapping[Outcome, str] = {
    "holds": "✓",
    "does not hold": "✗",
    "open": "?",
    "not checkable": "–",
}

_STYLE = """
body{font:17px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;
color:#1b1f24;background:#fff}
figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;height:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;
padding:.45rem .6rem;border-bottom:1px solid #d3d8de}
.verdict{color:#565f69;white-space:nowrap;font-weight:600}
.holds{color:#00664b}.does-not-hold{color:#a63d00}
.wide{overflow-x:auto}code{background:#eef0f3;padding:.1rem .3rem;overflow-wrap:anywhere}
"""


@dataclass(frozen=True)
class RunFacts:
    """How a run went: the command, wall seconds, summed seconds of cells, memory, workers.

    ``peak_mib`` is the largest memory of one process; ``new_cells`` of ``all_cells`` were run now,
    and the others were taken from an earlier run.
    """

    command: str
    where: str
    wall_seconds: float
    cell_seconds: float
    peak_mib: float
    new_cells: int
    all_cells: int


def report_html(results: Sequence[StudyResult], facts: RunFacts) -> str:
    """The report on one or more studies of the same corpus; opens without a network."""
    first = results[0]
    title = "Unbiased learning-to-rank: " + ", ".join(r.plan.study.title for r in results)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_corpus_sentence(first))}</p>",
        *(f"<p>{escape(notice)}</p>" for notice in first.world.notices),
        *(_study_section(result) for result in results),
        _rankers_section(results),
        _run_section(first, facts),
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _corpus_sentence(result: StudyResult) -> str:
    counts = result.world.counts
    sizes = ", ".join(
        f"{counted(counts[part]['queries'], f'{name} query', f'{name} queries')} with "
        f"{counted(counts[part]['documents'], 'document')}"
        for part, name in (("train", "training"), ("validation", "validation"), ("test", "test"))
    )
    return (
        f"Corpus: {counts['name']}, {sizes}, {counted(counts['features'], 'feature')}, relevant: "
        f"grade {counts['relevant_grade']} or more; production ranker trained on "
        f"{counted(counts['production_queries'], 'query', 'queries')}. The paper's corpus (Yahoo) "
        "may not be redistributed, so compare the shapes of the curves, not their levels, with the "
        "paper's."
    )


def _study_section(result: StudyResult) -> str:
    study = result.plan.study
    figure = study_figure(result)
    svg = study_svg(result).decode()
    own = "The lab's own map" if study.is_map else "The lab's own curve"
    origin = f"Figure {study.figure} of the paper" if study.figure else own
    return "\n".join(
        [
            f"<h2>{escape(study.title)}</h2>",
            f"<p><strong>{escape(read_study(result))}</strong></p>",
            f'<figure role="img" aria-label="{escape(figure.alt, quote=True)}">{svg}</figure>',
            f"<p>{origin}, {escape(section_words(study.section))}; scale {result.plan.scale}, "
            f"{counted(result.plan.base.draws, 'click log')} per point; bars are 95% intervals "
            f"over the click logs {FOR_ONE_WORLD}. "
            f"{escape(_loss_sentence(result))} {escape(cut_words(figure, result))}</p>",
            _claims_table(judge(result)),
        ]
    )


def _loss_sentence(result: StudyResult) -> str:
    counts = result.world.counts["test"]
    return (
        f"{result.loss.label}: {result.loss.definition} "
        f"{part_of(result.world.empty_queries, counts['queries'], 'test query', 'test queries')} "
        "no relevant document."
    )


def _claims_table(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rows = "\n".join(_claim_row(claim.rule, claim.finding) for claim in claims)
    return (
        '<div class="wide"><table><thead><tr><th>Verdict</th><th>Claim, test and numbers</th></tr>'
        f"</thead><tbody>\n{rows}\n</tbody></table></div>"
    )


def _claim_row(rule: Rule, found: Finding) -> str:
    where = section_words(rule.section)
    return (
        f'<tr><td class="verdict {found.outcome.replace(" ", "-")}">{_MARKS[found.outcome]} '
        f"{found.outcome}</td><td>{escape(rule.said)} ({where})<br>"
        f"<small>Test: {escape(rule.test)}<br>{escape(found.sentence)}</small></td></tr>"
    )


def _rankers_section(results: Sequence[StudyResult]) -> str:
    keys = dict.fromkeys(key for result in results for key in result.plan.study.methods)
    items = "".join(
        f"<li><strong>{escape(STUDY_METHODS[key].label)}</strong>: "
        f"{escape(STUDY_METHODS[key].description)}</li>"
        for key in keys
    )
    losses = ", ".join(loss.label for loss in LOSSES.values())
    return (
        f"<h2>Rankers</h2><ul>{items}</ul><p>C, and τ for clipping, are chosen on validation "
        "clicks (15 for every 100 training clicks) by the unclipped weighted estimate; for the "
        "naive ranker, by the naive estimate. "
        f"Results files contain every loss: {escape(losses)}.</p>"
    )


def _run_section(result: StudyResult, facts: RunFacts) -> str:
    base = result.plan.base
    settings = (
        f"{counted(base.draws, 'click log')} per point, seed {base.seed}, ε₊ = {base.eps_plus:g}, "
        f"relevant: grade {base.relevant_grade} or more, corpus seed {base.corpus_seed}"
    )
    found = versions(*PACKAGES)
    packages = ", ".join(f"{name} {number}" for name, number in found.items())
    return (
        "<h2>This run</h2>"
        f"<p>Made by <code>{escape(facts.command)}</code>, {escape(facts.where)}: "
        f"{facts.new_cells:,} of {counted(facts.all_cells, 'ranker')} trained in "
        f"{_duration(facts.wall_seconds)}; training all of them took "
        f"{_duration(facts.cell_seconds)} on one core. Peak memory per process: "
        f"{facts.peak_mib:,.0f} MiB.</p>"
        f"<p>Settings that the studies do not vary: {escape(settings)}.</p>"
        f"<p>Versions: {escape(packages)}. Corpus fingerprint {result.world.fingerprint}.</p>"
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min"
