"""The notebook cells of the page on proofs: a small query, its users, and a derivation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from ultr_core import lab
from ultr_core.export.notebook import Cell, code, words
from ultr_core.links.page_links import PROOF, RELEVANT, TEXTS, USERS, switch_key
from ultr_core.proofs import BREAKS, DERIVATIONS, SmallWorld
from ultr_core.settings import Settings


def small_world(settings: Settings, values: Mapping[str, Any]) -> SmallWorld:
    """The small query of the page's values, its users following ``settings``.

    Raises InputError for values that describe none.
    """
    texts = {line.key: str(values.get(line.key, line.default)) for line in TEXTS}
    texts["relevant"] = RELEVANT.write(values.get(RELEVANT.key, RELEVANT.default))
    broken = (name for name in BREAKS if values.get(switch_key(name), False))
    return lab.small_world(settings, {**texts, "broken": " ".join(broken)})


def proof_cells(settings: Settings, values: Mapping[str, Any]) -> list[Cell]:
    """Cells that walk through the chosen derivation in the small world of the page.

    Raises InputError for values that describe no small world.
    """
    world = small_world(settings, values)
    name = values.get(PROOF.key, PROOF.default)
    users = values.get(USERS.key, USERS.default)
    described = "\n".join(
        f"                {key!r}: {text!r},"
        for key, text in parse_qsl(world.to_query(), keep_blank_values=True)
    )
    query = f"{{\n{described}\n            }}" if described else "{}"
    return [
        words(
            """
            ## A query small enough to check everything

            Six candidates or so, some of them relevant, shown in a ranking; two other rankings,
            S₁ and S₂, are to be judged from clicks. All numbers are fractions, so that
            nothing is rounded. What is not named here is as in the lab's default query.
            """
        ),
        code(
            f"""
            from ultr_core.proofs import SmallWorld

            world = SmallWorld.from_query({query})
            print(world.query)
            print("examination by rank:", *world.examination)
            """
        ),
        words(
            f"""
            ## {DERIVATIONS[name].title}

            Each line of the derivation has a formula and a value. “Holds” means that the step from
            the line above is right, exactly. Simulated users stand beside it, with a 95% interval.
            """
        ),
        code(
            f"""
            from ultr_core.proofs import DERIVATIONS, Ways, draw_users

            proof = DERIVATIONS["{name}"]
            walk = proof.derive(Ways(world, draw_users(world, users={users}, seed=settings.seed)))
            print(proof.statement)
            for number, line in enumerate(walk.lines, start=1):
                verdict = "holds" if line.holds else f"fails by {{line.error}}"
                print(f"{{number}}. {{line.words}}")
                print(f"   value {{line.value.closed}}, {{verdict}}")
                seen = line.value.estimate
                if seen is not None:
                    print(f"   users: {{seen.value:.4g}} ({{seen.low:.4g}} to {{seen.high:.4g}})")
            """
        ),
    ]
