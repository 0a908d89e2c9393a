"""The small query of a proof, with the users and the belief of the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from ultr_core.proofs import SmallWorld
from ultr_core.proofs.small_query import ranking_from_letters
from ultr_core.proofs.small_world import DEFAULTS, power_law_fractions, spelled
from ultr_core.settings import Settings


def small_world(settings: Settings, texts: Mapping[str, str] = MappingProxyType({})) -> SmallWorld:
    """The small query in ``texts`` (keys as in a link), with curves and noise from ``settings``.

    A curve or noise named in ``texts`` takes precedence; if the assumed curve is empty and an
    examination curve is given, the learner assumes that curve. Raises InputError as
    `SmallWorld.from_query` does.
    """
    content = {key: text for key, text in texts.items() if text.strip()}
    size = len(ranking_from_letters(content.get("list", DEFAULTS["list"]), "presented"))
    if "curve" not in content:
        belief = _fractions(settings.assumed_curve, settings.assumed_eta, size)
        content.setdefault("assumed", spelled(belief))
        content["curve"] = spelled(_fractions(settings.curve, settings.eta, size))
    # The decimals that were asked for, not the binary number next to them.
    content.setdefault("eps_plus", str(Fraction(str(settings.eps_plus))))
    content.setdefault("eps_minus", str(Fraction(str(settings.eps_minus))))
    return SmallWorld.from_query(content)


def _fractions(values: Sequence[float], eta: float, size: int) -> tuple[Fraction, ...]:
    """The first ``size`` ranks of a given curve as rational numbers, or of (1/r)^eta without one.

    The nearest fraction of a small denominator: 0.333 is 333/1000, 1/3 stays 1/3.
    """
    if not values:
        return power_law_fractions(eta, size)
    ratios = (values[min(rank, len(values) - 1)] for rank in range(size))
    return tuple(
        Fraction(ratio).limit_denominator(1_000 if ratio >= 0.01 else 1_000_000) for ratio in ratios
    )
