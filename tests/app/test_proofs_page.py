"""The proofs page without a browser: what it says is what the core computes."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from streamlit.testing.v1 import AppTest

from pages.app.markdown import mark, plain
from pages.views.proofs.answers import ANSWERS
from pages.views.proofs.view import GAPS
from pages.views.proofs.words import STEPS, amount, headline, number
from tests.meaning import mentions, without_numbers
from ultr_core.figures.proofs import noisy_hinge_curve
from ultr_core.lab import small_world
from ultr_core.proofs import BREAKS, DERIVATIONS, SmallWorld, Walk, Ways, default_world
from ultr_core.proofs.predictions import predicted_failures
from ultr_core.settings import SETTING_FIELDS, Settings

OpenApp = Callable[..., AppTest]
OpenProofs = Callable[..., AppTest]


@pytest.fixture
def open_proofs(open_app: OpenApp) -> OpenProofs:
    settings = {field.key for field in SETTING_FIELDS}

    def open_(**link: str) -> AppTest:
        app = open_app(draws="1", clicks="100", **{k: v for k, v in link.items() if k in settings})
        app.query_params.update(link)
        return app.switch_page("pages/proofs.py").run()

    return open_


def words(app: AppTest) -> str:
    return "\n".join(element.value for element in app.markdown)


def label_of(name: str) -> str:
    return f"{DERIVATIONS[name].section}: {DERIVATIONS[name].title}"


def failing(name: str, world: SmallWorld) -> tuple[int, ...]:
    return _walk(name, world).failing


def _walk(name: str, world: SmallWorld) -> Walk:
    return DERIVATIONS[name].derive(Ways(world))


def marked(app: AppTest) -> list[str]:
    """The verdicts of the lines that fail."""
    return [text.value for text in app.markdown if ":red-background" in text.value]


def fails(app: AppTest) -> list[int]:
    """The numbers of the lines that fail, each in a frame with its mark."""
    found = [re.search(r"\*\*Line (\d+)", line) for line in marked(app)]
    assert all(line.startswith(mark("does not hold")) for line in marked(app))
    return [int(line[1]) for line in found if line]


def equals(value: int) -> str:
    """That the value of all patterns is the one of the formula."""
    return f"= formula **{number(Fraction(value))}**"


def switch(broken: str) -> str:
    return "break_" + broken.replace("-", "_")


def test_untouched_page_makes_its_point(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    assert not app.exception
    assert not app.warning
    assert app.title[0].value.endswith("?")
    assert app.markdown[0].value.startswith(mark("holds"))
    assert mentions(app.markdown[0].value, 8, "5 lines")
    assert len(app.get("vega_lite_chart")) == 3
    assert words(app).count("**Line ") == 5
    assert equals(8) in words(app)
    assert "1,000 users **8.03\N{NO-BREAK SPACE}±" in words(app)


def test_every_derivation_can_be_walked_and_broken(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    for name in DERIVATIONS:
        app.selectbox(key="proof").set_value(label_of(name)).run()
        assert not app.exception, name
        assert not fails(app), name
        assert DERIVATIONS[name].fails_when in words(app)
        walk = _walk(name, default_world())
        assert f"**{ANSWERS[name](walk, default_world())}.**" in app.markdown[0].value
    for broken in BREAKS:
        app.toggle(key=switch(broken)).set_value(True).run()
        for name in ("ips-unbiased", "noise-keeps-order", "clipped-moments", "hinge-chain"):
            app.selectbox(key="proof").set_value(label_of(name)).run()
            assert not app.exception, (name, broken)
            expected = failing(name, default_world().breaking(broken))
            assert fails(app) == list(expected), (name, broken)
            predicted = predicted_failures(default_world(), broken, name)
            assert list(predicted) == list(expected), (name, broken)
            for line, error in predicted.items():
                verdict = app.get_by_key(f"line-{line}").markdown[1].value
                assert verdict.count(amount(error)) == 2, "measured and predicted"
                assert mentions(verdict, "exactly")
        app.button(key="mend").click().run()
        assert not any(app.toggle(key=switch(other)).value for other in BREAKS)


def test_an_edited_query_is_recomputed(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    app.get("button_group")[0].set_value(["A", "C"]).run()
    assert equals(7) in words(app)  # ranks 3 and 4 under S₁
    app.text_input(key="new").set_value("C A B D E F").run()
    assert equals(3) in words(app)
    app.text_input(key="curve").set_value("1, 1/2, 0").run()
    assert any(
        f"{amount(Fraction(1))}**]" in line for line in marked(app)
    )  # C is shown third, where nobody looks
    assert not app.exception


def test_a_wrong_assumed_curve_names_both_exponents(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    app.slider(key="assumed_eta").set_value(2.0).run()
    assert app.markdown[0].value.startswith(mark("does not hold"))
    assert fails(app) == [3]
    assert mentions(app.markdown[0].value, "Line 3")
    assert "η′ = 2" in app.markdown[0].value
    app.slider(key="eta").set_value(0.55).run()
    assert not app.exception


@pytest.mark.parametrize(
    ("key", "text", "named"),
    [
        ("list", "ABCDEE", ("ABCDEE", "letters", "A", "F")),
        ("new", "ABC", ("ranking",)),
        ("list", "A", (2, 16)),
        ("curve", "0 1", (0,)),
        ("curve", "<b>", ("curve",)),
        ("assumed", "1 0", (2,)),
        ("clip", "7", (0, 1)),
        ("gap", "x", ("x",)),
    ],
)
def test_what_cannot_be_used_gives_one_sentence(
    open_proofs: OpenProofs, key: str, text: str, named: tuple[object, ...]
) -> None:
    app = open_proofs()
    app.text_input(key=key).set_value(text).run()
    assert not app.exception
    assert len(app.warning) == 1
    assert mentions(app.warning[0].value, *named)


def test_another_number_of_candidates_starts_the_rankings_anew(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    size = len(app.text_input(key="list").value)
    for key, last in (("candidates-more", 12), ("candidates-fewer", 2)):
        while not app.button(key=key).disabled:
            app.button(key=key).click().run()
            assert not app.exception
            assert not app.warning
            size = len(app.text_input(key="list").value)
            kept = [letter for letter in "BEF" if letter in "ABCDEFGHIJKL"[:size]]
            assert app.session_state["relevant"] == kept
        assert size == last


def test_a_shorter_list_forgets_the_relevance_of_what_is_gone(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    for key, text in (("list", "ABCD"), ("new", "DCBA"), ("other", "BACD")):
        app.text_input(key=key).set_value(text)
    app.run()
    assert not app.exception
    assert app.session_state["relevant"] == ["B"]


def test_more_users_can_be_drawn(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    for users in ("10,000", "100,000", "200,000"):
        app.button(key="draw_more").click().run()
        assert f"{users} users **" in words(app)
    app.number_input(key="users").set_value(1).run()
    assert not app.exception


def test_every_view_opens_whatever_is_broken(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    views = ("Users arrive", "One user at a time", "Naive against weighted", "Noise and the SVM")
    for broken in (None, "cascade", "zero-relevant"):
        if broken:
            app.toggle(key=switch(broken)).set_value(True).run()
        for view in views:
            app.session_state["view"] = view
            app.run()
            assert not app.exception, (broken, view)
    app.session_state["view"] = "Noise and the SVM"
    app.run()
    app.button(key="only_best").click().run()
    assert noisy_hinge_curve(SmallWorld.from_query({"relevant": "E"}), GAPS).alt in words(app)
    app.get("button_group")[0].set_value(["B", "E", "F"])
    app.session_state["view"] = "Naive against weighted"
    app.button(key="mend").click().run()
    assert mentions(words(app), "9 clicks")


def test_one_user_at_a_time(open_proofs: OpenProofs) -> None:
    app = open_proofs()
    app.session_state["view"] = "One user at a time"
    app.run()
    assert "**User 1** searches" in words(app)
    for _ in range(3):
        app.button(key="one_step").click().run()
    assert app.session_state["step"] == 3
    assert mentions(words(app), "rank 3")
    app.button(key="next_user").click().run()
    assert "**User 2** searches" in words(app)
    app.number_input(key="step").set_value(34).run()
    assert mentions(words(app), "4 clicks")
    assert "weight 1/p = **6**" in words(app)
    app.button(key="play").click().run()
    assert app.session_state["playing"]
    app.button(key="first_user").click().run()
    assert not app.session_state["playing"]
    assert app.session_state["step"] == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_things_to_try_break_the_claim_they_are_about(open_proofs: OpenProofs, number: int) -> None:
    app = open_proofs(eps_minus="0", proof="overtaking")
    named = app.markdown[-1 - 2 + number].value
    app.button(key=f"step-{number}").click().run()
    assert f"“{DERIVATIONS[STEPS[number].sets[0]].title}”" in named
    assert app.selectbox(key="proof").value == STEPS[number].sets[0]
    assert not app.exception
    assert fails(app)


@pytest.mark.parametrize("text", ["", "abc", "inf", "-1", "é" * 300, "1e999"])
def test_a_hostile_link_never_breaks_the_page(open_proofs: OpenProofs, text: str) -> None:
    keys = ("list", "new", "relevant", "curve", "clip", "users", "step", "proof", "view",
            "break_cut")  # fmt: skip
    app = open_proofs(**dict.fromkeys(keys, text))
    assert not app.exception
    assert app.title


def test_a_world_without_clicks_says_so(open_proofs: OpenProofs) -> None:
    app = open_proofs(eps_minus="0")
    app.get("button_group")[0].set_value([]).run()
    for view in ("Users arrive", "One user at a time", "Naive against weighted"):
        app.session_state["view"] = view
        app.run()
        assert not app.exception, view
        told = ":material/info: " in words(app)
        assert told is (view != "One user at a time"), view


def test_the_race_is_answered_at_the_top(open_proofs: OpenProofs) -> None:
    app = open_proofs(eps_minus="0", proof="overtaking", view="race")
    assert mentions(app.markdown[0].value, "7 clicks", "8 users")
    race = next(text.value for text in app.markdown if "1,000 repetitions" in text.value)
    assert mentions(race, "7 clicks", "8 users")
    assert mentions(words(app), "6.38 clicks", "0.867 clicks")


@pytest.mark.parametrize("broken", [None, *BREAKS])
@pytest.mark.parametrize("eps", [(1, 0), (Fraction(9, 10), Fraction(1, 10)), (1, Fraction(1, 3))])
def test_answers_can_be_said_in_every_world(
    broken: str | None, eps: tuple[Fraction, Fraction]
) -> None:
    settings = Settings(eps_plus=float(eps[0]), eps_minus=round(float(eps[1]), 2))
    world = small_world(settings, {})
    world = world.breaking(broken) if broken else world
    for name, proof in DERIVATIONS.items():
        walk = _walk(name, world)
        said = headline(proof, walk, world, settings)
        assert "nan" not in said
        assert "inf" not in said
        assert said.startswith(mark("holds" if walk.holds else "does not hold"))
        assert not walk.holds or mentions(said, f"{len(walk.lines)} lines")


@pytest.mark.parametrize("text", ["0.1*2*3", "a*b*c", "_x_", "`x`", "$x$"])
def test_what_was_typed_is_shown_as_it_was_typed(open_proofs: OpenProofs, text: str) -> None:
    app = open_proofs()
    app.text_input(key="curve").set_value(text).run()
    assert plain(repr(text)) in app.warning[0].value or plain(text) in app.warning[0].value


def test_the_error_is_that_of_the_estimate_beside_it(open_proofs: OpenProofs) -> None:
    app = open_proofs(proof="affine-law", break_trust="true")
    told = next(text.value for text in app.markdown if "400 repetitions" in text.value)
    other = open_proofs(proof="ips-unbiased", break_trust="true")
    clean = next(text.value for text in other.markdown if "400 repetitions" in text.value)
    assert without_numbers(told) != without_numbers(clean)
    for said, noisy in ((told, True), (clean, False)):
        assert mentions(said, "noise") is not noisy
        assert ("1/√N" in said) is not noisy
