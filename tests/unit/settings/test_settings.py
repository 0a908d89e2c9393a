from __future__ import annotations

import math
from urllib.parse import parse_qs

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.meaning import mentions, refused
from ultr_core.errors import about
from ultr_core.settings import CLICK_STOPS, PARAMETERS, PRESETS, Settings


def valid_settings() -> st.SearchStrategy[Settings]:
    values = {
        name: st.integers(int(p.low), int(p.high))
        if p.decimals == 0
        else st.floats(p.low, p.high, allow_nan=False)
        for name, p in PARAMETERS.items()
    }

    def build(drawn: dict[str, float]) -> Settings:
        if round(drawn["eps_plus"], 2) <= round(drawn["eps_minus"], 2):
            drawn["eps_plus"], drawn["eps_minus"] = 1.0, drawn["eps_minus"] / 2
        return Settings(**drawn)

    return st.fixed_dictionaries(values).map(build)


@given(valid_settings())
def test_url_and_back_is_identity(settings: Settings) -> None:
    assert Settings.from_query(parse_qs(settings.to_query())) == (settings, ())


@given(valid_settings())
def test_constructing_again_changes_nothing(settings: Settings) -> None:
    assert Settings(**settings.as_dict()) == settings


def test_defaults_have_an_empty_query() -> None:
    assert Settings().to_query() == ""


def test_every_preset_survives_its_own_link() -> None:
    assert len(PRESETS) >= 6
    for preset in PRESETS:
        assert Settings.from_query(parse_qs(preset.settings.to_query()), on_stops=True) == (
            preset.settings,
            (),
        )


def test_presets_differ() -> None:
    assert len({preset.settings for preset in PRESETS}) == len(PRESETS)


def test_every_default_and_stop_is_in_range_and_quantised() -> None:
    for parameter in PARAMETERS.values():
        for value in (parameter.default, parameter.low, parameter.high, *parameter.stops):
            assert parameter.checked(value) == value


@given(st.dictionaries(st.sampled_from(sorted(PARAMETERS)), st.text(max_size=12)))
def test_no_query_raises_and_every_correction_is_said(query: dict[str, str]) -> None:
    settings, notices = Settings.from_query(query)
    for name, text in query.items():
        try:
            same = float(text) == getattr(settings, name)
        except ValueError:
            same = False
        assert same or notices
        assert math.isfinite(getattr(settings, name))


@pytest.mark.parametrize(
    "text", ["", "abc", "nan", "inf", "-inf", "1e400", "-0.1", "2.01", "0x10", "1,5", "None"]
)
def test_hostile_eta_falls_back_to_the_default_with_one_sentence(text: str) -> None:
    settings, notices = Settings.from_query({"eta": text})
    assert settings == Settings()
    assert len(notices) == 1
    assert mentions(notices[0], PARAMETERS["eta"].label)


def test_in_between_values_are_rounded_and_said() -> None:
    settings, notices = Settings.from_query({"eta": ["1.234"]})
    assert settings.eta == 1.23
    assert len(notices) == 1


def test_off_stop_clicks_move_to_the_nearest_slider_position_only_on_request() -> None:
    assert Settings.from_query({"clicks": "30000"})[0].clicks == 30_000
    settings, notices = Settings.from_query({"clicks": "30000"}, on_stops=True)
    assert settings.clicks == 20_000 or settings.clicks == 45_000
    assert len(notices) == 1


def test_a_repeated_key_takes_its_last_value() -> None:
    settings, notices = Settings.from_query({"eta": ["0.5", "0.7"], "p": ["1,0.5", "1,0.2"]})
    assert (settings.eta, settings.curve) == (0.7, (1, 0.2))
    assert len(notices) == 2
    assert Settings.from_query({"eta": ["0.7", "0.7"]}) == (Settings(eta=0.7), ())
    assert Settings.from_query({"eta": []})[0].eta == 1.0


def test_noise_above_click_probability_is_refused_and_corrected_in_links() -> None:
    with refused("click_probabilities", "0.4", "0.5"):
        Settings(eps_plus=0.4, eps_minus=0.5)
    settings, notices = Settings.from_query({"eps_plus": "0.4", "eps_minus": "0.5", "eta": "0.5"})
    assert (settings.eps_plus, settings.eps_minus, settings.eta) == (1.0, 0.1, 0.5)
    assert len(notices) == 1


@pytest.mark.parametrize("value", [True, None, "x", float("nan"), float("inf"), [1], -0.01, 3])
def test_constructor_refuses_what_is_no_number_in_range(value: object) -> None:
    with refused("eta") as caught:
        Settings(eta=value)  # type: ignore[arg-type]
    assert caught.value.about == "eta"


@pytest.mark.parametrize("value", [1.5, "1.5", 9, 6_000_000])
def test_clicks_are_whole_numbers_in_range(value: object) -> None:
    with refused("clicks"):
        Settings(clicks=value)  # type: ignore[arg-type]


def test_options_are_validated_and_rounding_is_said() -> None:
    settings, notices = Settings.from_options({"eta": "0.701", "clicks": "45000"})
    assert settings == Settings(eta=0.7, clicks=45_000)
    assert mentions(notices[0], PARAMETERS["eta"].label, "0.701", "0.7")
    assert [about(notice) for notice in notices] == ["eta"]
    with refused("unknown_setting"):
        Settings.from_options({"etta": "1"})


def test_negative_zero_is_zero() -> None:
    assert Settings(eta=-0.0).to_query() == Settings(eta=0.0).to_query() == "eta=0"


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("on_stops", [False, True])
@pytest.mark.parametrize("name", sorted(PARAMETERS))
@pytest.mark.parametrize(
    "value",
    [
        None, True, 1j, object(), b"x", b"\xff", {}, {"a": 1}, [None], [[1]], [[]], (), set(),
        float("nan"), float("inf"), -1, 10**400, 10**5000, "9" * 99_999, nested(100_000),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_no_type_of_value_raises_in_a_link(name: str, value: object, on_stops: bool) -> None:
    settings, notices = Settings.from_query({name: value}, on_stops=on_stops)
    assert settings == Settings()
    assert len(notices) == 1
    assert len(notices[0]) < 300


def test_numbers_and_bytes_in_a_link_are_read_as_numbers() -> None:
    query = {"eta": np.array(0.5), "clicks": b"20000", "seed": ["1", 7]}
    assert Settings.from_query(query) == (Settings(eta=0.5, clicks=20_000, seed=7), ())


def test_notices_name_the_slider_positions_and_group_thousands() -> None:
    _, notices = Settings.from_query({"clicks": "9999999"}, on_stops=True)
    (notice,) = notices
    stops = [f"{stop:,}" for stop in CLICK_STOPS]
    assert (stops[0], stops[-1]) == ("100", "850,000")
    assert mentions(notice, PARAMETERS["clicks"].label, "9,999,999", *stops)
    _, (notice,) = Settings.from_query({"clicks": "9999999"})
    assert mentions(notice, "9,999,999", 10, "5,000,000", "170,000")
    _, (notice,) = Settings.from_query({"clicks": "21000"}, on_stops=True)
    assert mentions(notice, PARAMETERS["clicks"].label, "21,000", "20,000")


def test_a_link_is_written_as_the_sliders_write_the_address() -> None:
    assert Settings(clicks=9_000).to_query() == "clicks=9,000"
    for text in ("9000", "9,000"):
        assert Settings.from_query({"clicks": text}, on_stops=True) == (Settings(clicks=9_000), ())


@pytest.mark.parametrize("text", ["٣", "1_0"])
def test_what_is_no_number_here_is_quoted_as_it_stands(text: str) -> None:
    _, (notice,) = Settings.from_query({"corpus_seed": text})
    assert mentions(notice, PARAMETERS["corpus_seed"].label, repr(text))
