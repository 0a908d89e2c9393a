"""Step 3 of the page Your data: how likely each position is to be examined."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from pages.app.context import PageContext
from pages.app.field_control import control, keep_choice, kept
from pages.app.frame import show_figure
from pages.app.markdown import mark, plain, show_error, told
from pages.views.your_data.bench import Bench, Brought, bench
from pages.views.your_data.findings import show_inspection, show_rows
from pages.views.your_data.input import HELP, LOOKS_LIKE, bring, download, require_kind
from ultr_core.content import read
from ultr_core.errors import InputError
from ultr_core.figures import estimate_figure
from ultr_core.files import curve_text, parse_curve_values, parse_trust_bias
from ultr_core.files.disk import read_text, text_of
from ultr_core.inspection import inspect_curve, trust_bias_found
from ultr_core.jobs.your_data import CARRY_ON, CURVE_SOURCES, ESTIMATOR, ETA, SOURCE
from ultr_core.own_data.curves import (
    click_weights,
    curve_for_log,
    curve_in_log,
    last_position,
    shown_first,
)
from ultr_core.propensity import (
    PROPENSITY_METHODS,
    LogEstimate,
    PresentationLog,
    default_method,
    estimate_from_log,
    ratio_text,
)
from ultr_core.users import ExaminationCurve, PowerLaw
from ultr_core.words import counted

_SHOWN = (1, 2, 3, 5, 10, 20, 50, 100)
_WORDS = read(__file__, "your_data").part("curve")


@dataclass(frozen=True, eq=False)
class Propensities:
    """The curve, what tells it from another, and in words where it comes from.

    biased: why it is not that of examination, as in `Judge`.
    """

    curve: ExaminationCurve
    token: Hashable
    about: str
    biased: str = ""


def propensities_step(page: PageContext, log: PresentationLog | None) -> Propensities | None:
    """Choose and check propensities; None where they cannot be used."""
    st.subheader("3 · Propensities: how far down users look")
    keep_choice(SOURCE)
    source = str(kept(SOURCE))
    if CURVE_SOURCES[source].needs_log and log is None:
        st.markdown(":material/info: This source needs a click log (step 2).")
        return None
    try:
        found = _PANELS[source](page, bench(), log)
    except InputError as error:
        show_error(error)
        return None
    st.markdown(f":small[{other_users()}]")
    return found


def other_users() -> str:
    """Which commands know users that this page does not."""
    return _WORDS.text("elsewhere")


def carries_on() -> bool:
    """Whether the last value is used below the end of a curve."""
    return bool(kept(CARRY_ON)) and not CURVE_SOURCES[kept(SOURCE)].assumed


def _power(page: PageContext, own: Bench, log: PresentationLog | None) -> Propensities:
    eta = float(control(ETA, keep=True))
    curve = PowerLaw(eta)
    st.markdown(
        f"Assumed, not measured: at ranks 1, 2, 5 and 10 the curve is {_at(curve, 1, 2, 5, 10)}. "
        "If it is wrong, so are the weights; a curve measured on your own users is better."
    )
    return Propensities(curve, ("power", eta), f"power law, η = {eta:g}")


def _at(curve: ExaminationCurve, *ranks: int) -> str:
    return ", ".join(f"{value:.3g}" for value in curve.at(ranks).tolist())


def _from_file(page: PageContext, own: Bench, log: PresentationLog | None) -> Propensities | None:
    file = bring(page, "curve", "Propensity curve", LOOKS_LIKE["curve"], HELP["curve"])
    if file is None:
        return None
    values, trust = own.make("curve-values", file.token, lambda: _values(file))
    found = own.make(
        "curve-checks", file.token,
        lambda: inspect_curve(values, name=file.name, trust_bias=trust),
    )  # fmt: skip
    show_inspection(found, key="curve", following=_NEXT)
    _table(values, "curve")
    carry_on = _carry_on(log, len(values))
    return Propensities(
        curve_for_log(values, log, carry_on=carry_on),
        ("file", file.token, carry_on),
        f"{file.name}, {counted(len(values), 'rank')}",
        trust_bias_found(found.findings),
    )


_NEXT = "Next: train a ranker with these weights."


def _values(file: Brought) -> tuple[list[float], str]:
    """The numbers of the curve, and what its file says of trust bias."""
    if file.path is None:
        require_kind(file, "curve")
        text = text_of(file.data, file.name)
    else:
        text = read_text(file.path, "The curve")
    return parse_curve_values(text, file.name), parse_trust_bias(text, file.name).get("", "")


def _carry_on(log: PresentationLog | None, ranks: int) -> bool:
    last = last_position(log)
    if last <= ranks:
        return False
    why = (
        f"The log goes down to position {last:,}. Unless the last value is used there, clicks "
        f"below rank {ranks:,} have no propensity and training is refused."
    )
    label = f"Use the value at rank {ranks:,} for all positions below it"
    return bool(control(replace(CARRY_ON, help=why), label=label, keep=True))


def _estimated(page: PageContext, own: Bench, log: PresentationLog | None) -> Propensities:
    assert log is not None
    method = str(control(replace(ESTIMATOR, default=default_method(log)), keep=True))
    about = PROPENSITY_METHODS[method]
    st.markdown(f"Assumes that {about.assumes}. *{about.source}.*")
    token = (id_of_log(own), method)
    found = own.make("estimate", token, lambda: estimate_from_log(log, method=method))
    show_trust(found)
    _picture(found)
    with st.expander("Numbers by rank, and notes", type="compact"):
        show_rows(
            [_rank_row(found, place) for place in range(len(found.curve.values))],
            key="estimate", alt="Estimated examination by rank", saved=found.as_dict()["ranks"],
        )  # fmt: skip
        said = {one.sentence for one in shown_first(found)}
        for notice in found.notices:
            if notice not in said:
                st.markdown(f"- {told(notice)}")
    download(
        "Save curve",
        lambda: curve_text(found.curve.values, found.trust_bias).encode(),
        "curve.csv",
        key="data-save-curve",
    )
    carry_on = _carry_on(log, len(found.curve.values))
    return Propensities(
        curve_for_log(found.curve.values, log, carry_on=carry_on),
        ("estimated", *token, carry_on),
        f"estimated: {about.label.lower()}",
        trust_bias_found(inspect_curve(found.curve.values, trust_bias=found.trust_bias).findings),
    )


def show_trust(found: LogEstimate) -> None:
    """How many ranks are known well, trust bias, and clicks at ranks that nothing links with 1."""
    for one in shown_first(found):
        if one.severity == "good":
            st.markdown(f"{mark('good')} {plain(one.sentence)}")
        else:
            st.warning(plain(one.sentence), icon=":material/warning:")


def id_of_log(own: Bench) -> Hashable:
    """What tells this session's log, as it was read, from another."""
    from pages.views.your_data.log import chosen

    return chosen(own).token


def _picture(found: LogEstimate) -> None:
    show_figure(partial(estimate_figure, found), key="-own")


def _rank_row(found: LogEstimate, place: int) -> dict[str, str]:
    point = found.estimate.points[place]
    return {
        "Rank": str(point.rank),
        "Compared impressions": f"{point.impressions:,}",
        "Clicks": f"{point.clicks:,}",
        "Ratio": point.value_text,
        "95% interval": point.interval_text,
        "Curve": ratio_text(found.curve.values[place]),
        "Curve is": found.curve.made_by(point.rank),
    }


def _in_log(page: PageContext, own: Bench, log: PresentationLog | None) -> Propensities:
    assert log is not None
    column = log.columns.get("propensity", "")
    curve = own.make("log-curve", id_of_log(own), lambda: curve_in_log(log))
    st.markdown(
        f"From the column {plain(column)} in the log: at positions 1, 2 and 3 the curve is "
        f"{_at(curve, 1, 2, 3)}."
    )
    return Propensities(curve, ("log", id_of_log(own)), f"column {column} in the log")


_PANELS: Mapping[
    str, Callable[[PageContext, Bench, PresentationLog | None], Propensities | None]
] = {"power": _power, "file": _from_file, "estimated": _estimated, "log": _in_log}
"""What the page shows for each of ``CURVE_SOURCES``."""


def _table(values: list[float], key: str) -> None:
    ranks = [rank for rank in _SHOWN if rank <= len(values)]
    weights = click_weights(values)
    with st.expander("The curve in numbers", type="compact"):
        show_rows(
            [
                {
                    "Rank": str(rank),
                    "Propensity": f"{values[rank - 1]:.4g}",
                    "Weight of a click": "none" if weight is None else f"{weight:.3g}",
                }
                for rank, weight in zip(ranks, (weights[rank - 1] for rank in ranks), strict=True)
            ],
            key=f"{key}-table",
            alt="Propensity and weight by rank",
            saved=[{"rank": r, "propensity": v} for r, v in enumerate(values, 1)],
        )
