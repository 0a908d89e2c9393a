"""The simulated users, in one place: how each kind clicks, and which settings act on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ultr_core.errors import InputError, quoted
from ultr_core.users.click_models import PositionModel, TrustBiasModel
from ultr_core.users.examination import ExaminationCurve
from ultr_core.users.leaving import LeavingUsers

AffineUsers = PositionModel | TrustBiasModel | LeavingUsers
"""Click models that have a curve of examination, and are affine in the relevance."""


@dataclass(frozen=True)
class Users:
    """One kind of users.

    key, label: its stable name, and the name that readers see. words: how they click, in a sentence
    or two. model: of an examination curve, eps_plus, eps_minus and the lambda of users who leave.
    own: whether curve and noise are its own, so that those of the settings do not act, and what
    divides by a propensity divides by its theta. source: where it comes from.
    """

    key: str
    label: str
    words: str
    model: Callable[[ExaminationCurve, float, float, float], AffineUsers]
    source: str
    own: bool = False


_OWN = (
    "The curve and the noise are fixed: η, η′, ε₊, ε₋ and given curves have no effect, and IPS "
    "divides by θ."
)

USERS: Mapping[str, Users] = MappingProxyType(
    {
        users.key: users
        for users in (
            Users(
                "position",
                "Position bias",
                "Users examine rank r with probability p_r, and click on an examined document "
                "with probability ε₊ if it is relevant and ε₋ if not. The users' curve is set by η "
                "or given; IPS divides by the curve for η′ or the learner's curve.",
                lambda curve, plus, minus, _: PositionModel(curve, plus, minus),
                "sections 5.1 and 5.2 of Joachims, Swaminathan and Schnabel (2017)",
            ),
            Users(
                "trust-mild",
                "Trust bias, mild",
                "Users click on irrelevant documents more often the higher up these are shown: "
                "θ = 0.35/k + 0.65/(1 + 0.05(k − 1)), ε₊ = 1/(1 + 0.005(k − 1)) and ε₋ = 0.65/k at "
                f"rank k. {_OWN}",
                lambda *_: TrustBiasModel.published(200),
                "Oosterhuis (2021 and 2022)",
                own=True,
            ),
            Users(
                "trust-steep",
                "Trust bias, steep",
                "Users click on irrelevant documents more often the higher up these are shown: "
                "θ = 1/k, "
                f"ε₊ = 0.98 − (k − 1)/100, at least 0.5, and ε₋ = 0.65/k at rank k. {_OWN}",
                lambda *_: TrustBiasModel.steep(200),
                "Vardasbi, Oosterhuis and de Rijke (CIKM 2020)",
                own=True,
            ),
            Users(
                "leaving",
                "Leaving after a click",
                "Users examine ranks and click as with position bias, but after each click they "
                "continue with probability λ and otherwise leave. The users' curve is set by η or "
                "given; their noise is set by ε₊ and ε₋. IPS divides by the curve for η′ or the "
                "learner's curve, and does not know λ; hindsight divides by λʰ as well.",
                LeavingUsers,
                "Guo, Liu and Wang (WSDM 2009), with examination by rank",
            ),
        )
    }
)
"""All users by key, for settings, simulation, the command line and tests."""


def users_named(key: str) -> Users:
    """The users with that key; raises InputError for an unknown key."""
    if key not in USERS:
        raise InputError(f"{quoted(key)} is not a kind of user; choose from {', '.join(USERS)}.")
    return USERS[key]
