"""A page's link: state to text and back is the identity, and no text can raise."""

from __future__ import annotations

import random
import re
import string
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from pages.app.registry import PAGES as EVERY_PAGE
from tests.meaning import mentions, refused
from ultr_core.errors import InputError
from ultr_core.fields import Choice, Field, Letters, Number, Switch, Text
from ultr_core.files.log_columns import MEANINGS
from ultr_core.jobs.compare import MOST_PINS, Pins
from ultr_core.jobs.files import Columns
from ultr_core.jobs.job import PageState
from ultr_core.jobs.links import (
    near_misses,
    page_query,
    page_values,
    read_page_query,
    value_of,
    values_of,
)
from ultr_core.jobs.repairs import BREAK, CLICKS
from ultr_core.jobs.repairs import possible as possible_values
from ultr_core.lessons import LESSONS
from ultr_core.settings import PARAMETERS, PRESETS, Settings

PAGES = [*page_values(), "about"]


def possible(value: Field) -> SearchStrategy[object]:
    if isinstance(value, Choice):
        return st.sampled_from(list(value.options))
    if isinstance(value, Number) and value.stops:
        return st.sampled_from(value.stops)
    if isinstance(value, Number) and value.decimals == 0:
        return st.integers(int(value.low), int(value.high))
    if isinstance(value, Number):
        steps = round((value.high - value.low) / value.step)
        return st.integers(0, steps).map(lambda n: round(value.low + n * value.step, 2))
    if isinstance(value, Switch):
        return st.booleans()
    if isinstance(value, Letters):
        chosen = st.sets(st.sampled_from(value.offered))
        return chosen.map(lambda letters: tuple(sorted(letters)))
    if isinstance(value, Pins):
        return st.lists(worlds(), max_size=MOST_PINS, unique=True).map(tuple)
    if isinstance(value, Columns):
        names = st.text(string.ascii_letters + ' ,"=-é', min_size=1).map(str.strip).filter(len)
        return st.dictionaries(st.sampled_from(list(MEANINGS)), names)
    assert isinstance(value, Text)
    return st.text(string.printable[:95] + "½ε", max_size=value.longest)


def worlds() -> SearchStrategy[Settings]:
    numbers = {
        name: st.integers(round(p.low / p.step), round(p.high / p.step)).map(
            lambda n, step=p.step: n * step
        )
        for name, p in PARAMETERS.items()
        if name not in ("eps_plus", "eps_minus")
    }
    noise = st.tuples(st.integers(0, 98), st.integers(1, 100)).filter(
        lambda pair: pair[0] < pair[1]
    )
    curve = st.lists(st.floats(0.001, 1), max_size=8).map(tuple)
    return st.builds(
        lambda pair, curve, assumed, **values: Settings(
            eps_minus=pair[0] / 100, eps_plus=pair[1] / 100, curve=curve, assumed_curve=assumed,
            **values,
        ),
        noise, curve, curve, **numbers,
    )  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_state_to_link_and_back_is_the_identity(page: str, data: st.DataObject) -> None:
    world = data.draw(worlds())
    values = {value.key: data.draw(possible(value)) for value in values_of(page)}
    query = page_query(page, world, values)
    assert read_page_query(page, query) == (world, values, ())


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_every_preset_comes_back_on_every_page(page: str, preset: object) -> None:
    world = preset.settings  # type: ignore[attr-defined]
    defaults = {value.key: value.default for value in values_of(page)}
    query = page_query(page, world, defaults)
    assert query == world.to_query()
    assert read_page_query(page, query) == (world, defaults, ())


def hostile(random_: random.Random) -> str:
    kind = random_.randrange(6)
    if kind == 0:
        return random_.choice(["", "NaN", "inf", "-inf", "1e999", "-1", "0x10", "1_0", "١", "None"])
    if kind == 1:
        return str(random_.randint(-(10**40), 10**40))
    if kind == 2:
        return "".join(chr(random_.choice([*range(1, 0xD7FF, 7)])) for _ in range(20))
    if kind == 3:
        return "A" * random_.randint(1, 500)
    if kind == 4:
        return str(random_.uniform(-3, 3))
    return "".join(random_.choices(string.printable, k=12))


def test_a_thousand_hostile_links_never_raise_and_give_possible_values() -> None:
    random_ = random.Random(20)
    for number in range(1_000):
        page = PAGES[number % len(PAGES)]
        keys = [*PARAMETERS, "p", "assumed_p", *(value.key for value in values_of(page))]
        asked = {key: hostile(random_) for key in random_.sample(keys, min(3, len(keys)))}
        query = "&".join(f"{key}={quote(text)}" for key, text in asked.items())
        world, values, notices = read_page_query(page, query)
        assert all(len(notice) < 2_000 and "\n" not in notice for notice in notices)
        # What was taken instead is itself a state that a link can hold without a word.
        assert read_page_query(page, page_query(page, world, values)) == (world, values, ())


@pytest.mark.parametrize("page", page_values())
def test_a_bad_value_is_said(page: str) -> None:
    for value in values_of(page):
        text = "A" * 9_000 if isinstance(value, Text) else "no such thing"
        _, found, notices = read_page_query(page, f"{value.key}={quote(text)}")
        assert found[value.key] == value.default
        assert len(notices) == 1
        assert value.label in notices[0]


@pytest.mark.parametrize("breaks", BREAK.options)
def test_a_bad_number_of_clicks_names_the_one_that_is_shown(breaks: str) -> None:
    _, found, notices = read_page_query("repairs", f"breaks={breaks}&repair_clicks=banana")
    shown = possible_values(PageState("repairs", values=found))[CLICKS.key][0]
    assert found[CLICKS.key] == CLICKS.default
    assert len(notices) == 1
    assert re.findall(r"[0-9]+,[0-9]+", notices[0])[-1] == CLICKS.shown(shown)


@pytest.mark.parametrize("page", page_values())
def test_titles_of_older_links_are_still_understood(page: str) -> None:
    for value in values_of(page):
        if isinstance(value, Choice):
            for key, title in value.options.items():
                assert value.read(title) == (key, None)
                assert key.isascii() and key == quote(key, safe="")


def test_numbers_between_stops_are_moved_with_a_sentence() -> None:
    _, values, notices = read_page_query("live", "live_queries=1,900&live_smoothing=0.52")
    assert values["live_queries"] == 2_000
    assert values["live_smoothing"] == 0.5
    assert len(notices) == 2


def test_grouped_numbers_as_the_address_bar_has_them_are_read() -> None:
    world, values, notices = read_page_query("propensities", "clicks=45,000&swap_precision=20%25")
    assert (world.clicks, values["swap_precision"], notices) == (45_000, 0.2, ())


@pytest.mark.parametrize(
    ("page", "query", "key", "value"),
    [
        ("proofs", "users=1,500", "users", 1_500),
        ("propensities", "swap_traffic=10000", "swap_traffic", 10_000),
        ("propensities", "swap_precision=0.2", "swap_precision", 0.2),
        ("live", "live_swap_days=3&live_swap_days=3", "live_swap_days", 3),
    ],
)
def test_a_number_is_read_in_every_way_it_is_written(
    page: str, query: str, key: str, value: float
) -> None:
    _, values, notices = read_page_query(page, query)
    assert (values[key], notices) == (value, ())


NUMBERS = [
    (page, field)
    for page, values in page_values().items()
    for field in (*(PARAMETERS.values() if page == "lab" else ()), *values)
    if isinstance(field, Number)
]


SPELLED = {
    **{f"1{mark}000": 1_000 for mark in ", '’_\u00a0\u202f"},
    "1,000,000": 1_000_000, "20%": 0.2, "5 %": 0.05, "1,00": None, "0,5": None,
}  # fmt: skip


@pytest.mark.parametrize(("page", "field"), NUMBERS, ids=lambda one: getattr(one, "key", one))
def test_separators_and_percent_are_read_or_named(page: str, field: Number) -> None:
    for text, number in SPELLED.items():
        world, values, notices = read_page_query(page, f"{field.key}={quote(text)}")
        found = values.get(field.key, getattr(world, field.name, None))
        try:
            exact = number is not None and field.checked(number) == number == found
        except InputError:
            exact = False
        assert len(notices) == (0 if exact else 1), text
        assert exact or mentions(notices[0], field.label)


@pytest.mark.parametrize("text", ["0", "-5", "1e12", "nan", "inf"])
def test_a_number_out_of_range_gives_the_default_on_stops_too(text: str) -> None:
    _, values, notices = read_page_query("propensities", f"swap_traffic={text}")
    assert values["swap_traffic"] == 50_000
    assert len(notices) == 1


def test_unknown_key_of_a_page_is_an_error_of_the_caller() -> None:
    with refused("not_a_page_value", "'swap_at'", "lab"):
        value_of("lab", "swap_at")


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("eps-minus", "eps_minus"), ("EPS_MINUS", "eps_minus"), ("assumed-eta", "assumed_eta"),
        ("click", "clicks"), (" eta", "eta"), ("assumed-p", "assumed_p"),
        ("swap-smoothing", "swap_smoothing"),
    ],
)  # fmt: skip
def test_a_key_that_is_nearly_one_is_said_with_the_right_one(key: str, right: str) -> None:
    world, _, notices = read_page_query("propensities", f"{quote(key)}=0.2&seed=3")
    assert world == Settings(seed=3)
    assert len(notices) == 1
    assert repr(key) in notices[0]
    assert f" {right}." in notices[0]


def test_a_setting_that_only_a_command_has_is_said_to_have_no_effect() -> None:
    query = "click_model=leaving&continuation=0.2&logger=nope"
    for page in ("lab", "robustness"):
        world, _, notices = read_page_query(page, query)
        assert world == Settings()
        options = [re.findall(r"--[a-z]+", told) for told in notices]
        assert options == [["--users"], ["--continuation"], ["--logger"]]


def test_keys_of_others_are_left_alone() -> None:
    query = "utm_source=mail&fbclid=x&embed=true&mode=lecture&controls=eta&q=1&lang=en"
    assert read_page_query("lab", query)[2] == ()
    assert near_misses(["Mode"], ("mode", "controls")) != ()
    assert near_misses([f"eta{'-' * 90_000}", *(f"x{n}" for n in range(9_000))]) == ()


@pytest.mark.parametrize("page", PAGES)
def test_keys_of_other_pages_are_named_in_one_sentence(page: str) -> None:
    every = dict.fromkeys(value.key for values in page_values().values() for value in values)
    foreign = [key for key in every if key not in [value.key for value in values_of(page)]]
    for keys in ([foreign[0]], foreign[:2], foreign):
        told = read_page_query(page, "&".join(f"{key}=1" for key in (*keys, "utm_source")))[2]
        assert len(told) == 1
        assert re.findall(r"'(\w+)'", told[0]) == keys
    assert len(read_page_query(page, f"{foreign[0].upper()}=1")[2]) == 1


PLACES = "|".join(page.path for page in EVERY_PAGE)
LINK = re.compile(rf"""(?<![\w.])({PLACES})\?([^\s"'`)\]}}<>]+)""")


def test_no_link_of_the_app_or_its_documents_has_a_key_of_another_page() -> None:
    root = Path(__file__).parents[3]
    files = [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("scripts/*.py")]
    files += [
        path
        for room in ("ultr_core", "pages")
        for path in (root / room).rglob("*.*")
        if path.suffix in (".py", ".toml")
    ]
    texts = [path.read_text(encoding="utf-8") for path in files]
    texts += [each.shows.address(each.settings(Settings()), lecture=True) for each in LESSONS]
    links = {each for text in texts for each in LINK.findall(text)}
    assert len(links) > 80
    for page, query in links:
        right = [value.key for value in values_of(page)]
        assert near_misses(parse_qs(query), right) == (), (page, query)


def test_a_real_number_of_a_link_keeps_its_digits() -> None:
    value = Number("x", "X", 0.0, 1e7, default=0.0, decimals=2, step=0.5, snaps=True)
    assert value.read(value.write(1234567.5)) == (1234567.5, None)
    assert value.write(0.25) == "0.25"


def test_a_link_of_one_page_waits_for_no_other_page() -> None:
    program = (
        "import sys\nfrom ultr_core.jobs.links import read_page_query\n"
        "print(read_page_query('lab', 'eta=0.5&examination=weight')[1]['examination'])\n"
        "print([name for name in sys.modules if name.startswith('ultr_core.claims')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["weight", "[]"]
