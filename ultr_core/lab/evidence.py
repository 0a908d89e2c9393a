"""What the proofs look at: the evidence from one world, and a small query with its users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from ultr_core.lab import assumed_curve
from ultr_core.lab.logs import Logs, simulate_logs, user_model
from ultr_core.lab.picture import RankerFamily
from ultr_core.lab.training import TrainedMethod, train_method
from ultr_core.lab.world import World
from ultr_core.learners.blas_threads import one_blas_thread
from ultr_core.learners.selection import FINAL_TOLERANCE
from ultr_core.proofs import Check, Evidence, SmallWorld, run_checks
from ultr_core.proofs.small_query import ranking_from_letters
from ultr_core.proofs.small_world import DEFAULTS, power_law_fractions, spelled
from ultr_core.settings import Settings


@one_blas_thread()
def proof_checks(
    world: World,
    family: RankerFamily,
    settings: Settings,
    *,
    logs: Logs | None = None,
    trained: TrainedMethod | None = None,
) -> tuple[Check, ...]:
    """Evaluate all proofs on the first draw of clicks.

    ``logs`` and ``trained`` (the propensity-weighted ranker of draw 0) are made here where they
    are not at hand.

    Raises:
        InputError: the clicks give no pair to learn from.
    """
    logs = logs if logs is not None else simulate_logs(world, settings, 0)
    if trained is None:
        trained = train_method(world, settings, 0, "propensity", logs)
    corpus = world.train.corpus
    return run_checks(
        Evidence(
            users=user_model(settings),
            assumed_curve=assumed_curve(settings),
            query_offsets=corpus.query_offsets,
            relevance=world.train.relevance,
            presented_ranks=world.train.presented_ranks,
            family_ranks=family.ranks,
            true_risk=family.true_risk,
            log=logs.train,
            scores={
                "production": world.production.ranker.score(corpus),
                "propensity-weighted": corpus.features @ trained.coefficients,
                "skyline": world.skyline.score(corpus),
            },
            gap=trained.gap,
            gap_tolerance=FINAL_TOLERANCE,
        )
    )


def small_world(settings: Settings, texts: Mapping[str, str] = MappingProxyType({})) -> SmallWorld:
    """The small query of ``texts``, keys as in a link, with curves and noise of ``settings``.

    A curve or noise that ``texts`` name themselves goes before; an assumed curve that is left
    empty beside an own examination curve is that curve. Raises InputError as
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
