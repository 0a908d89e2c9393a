"""Where in the app a claim is shown: the page, and the values of its link."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from ultr_core.proofs import DERIVATIONS
from ultr_core.settings import Settings


class Place(NamedTuple):
    """A page of the app and the query string of its address."""

    page: str
    query: str = ""


def lab(**changes: float) -> Place:
    """The main page with some settings changed."""
    return Place("lab", Settings(**changes).to_query())  # type: ignore[arg-type]


def derivation(name: str, *broken: str) -> Place:
    """A derivation, line by line, with some assumptions broken."""
    first = next(iter(DERIVATIONS))
    chosen = {} if name == first else {"proof": name}
    switches = {f"break_{key.replace('-', '_')}": "true" for key in broken}
    return Place("proofs", urlencode({**chosen, **switches}))


def robustness(study: str) -> Place:
    """One of the figures 2 to 4; "bias" is what the page starts with."""
    return Place("robustness", "" if study == "bias" else urlencode({"study": study}))


LEARNING_CURVES = Place("learning_curves")
PROPENSITIES = Place("propensities")
TRUST_BIAS = Place("propensities", urlencode({"swap_users": "trust"}))
LIVE = Place("live")
LIVE_ENGINE = Place("live", Settings(eta=0.7, assumed_eta=0.7).to_query())
ABOUT = Place("about")
