"""Record what every page shows at some forty links, and compare another checkout with it.

In the root of a checkout::

    python scripts/page_pins.py record FILE
    python scripts/page_pins.py compare FILE

Each pin contains the numbers in all texts, metrics and tables of a page in their order, the values
behind its charts, and the state that the link opened: the settings and the page's own values. Words
are not compared. A recorded link must open the same state and show the same numbers; ``compare``
prints each link that does not, and exits with code 1. To pin an older checkout, run this file
there: all it needs from the checkout is ``app.py``.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

ROOT = Path.cwd()
PATIENCE = 180  # seconds a page may take
NUMBER = re.compile(r"[-−]?\d[\d,]*\.?\d*(?:[eE][-+−]?\d+)?")
TIMED = re.compile(r"\d[\d.,]* (?:s|ms|seconds|minutes)\b")

PRIVATE = re.compile(
    r"-|^(choice|address)_of_|_(was|were|are|turn|place|shown|arrived|None)\b|_is_"
)
"""Keys of a session that are not values of a link."""

LINKS = (
    "lab",
    "lab?draws=2&clicks=1000&seed=4",
    "lab?draws=1&eta=1.5&assumed_eta=1&eps_minus=0.2&clicks=45000&seed=7",
    "lab?draws=1&eta=0&assumed_eta=0&clicks=10,000",
    "lab?draws=1&eta=0.5&assumed_eta=2&clicks=5000&examination=weight",
    "lab?draws=1&corpus_seed=2&relevant_grade=2&clicks=20000",
    "lab?draws=1&eps_minus=0.3&eps_plus=0.8&clicks=100000",
    "lab?draws=1&clicks=3000&p=1,0.5,0.25,0.2&assumed_p=1,0.4,0.3",
    "lab?draws=1&clicks=999&eta=99&nonsense=3",
    "lessons",
    "lessons?lesson=2",
    "lessons?lesson=3&seed=2",
    "lessons?lesson=5",
    "lessons?lesson=7",
    "lessons?lesson=9",
    "lessons?lesson=10",
    "lessons?lesson=11",
    "lessons?part=lecturers&plan=90",
    "lessons?part=glossary",
    "learning_curves",
    "learning_curves?loss=mean-rank",
    "learning_curves?result=quick&draws=1",
    "robustness",
    "robustness?study=noise",
    "robustness?study=misspecification",
    "robustness?study=map-noise",
    "robustness?study=map-assumed",
    "proofs",
    "proofs?proof=unbiased&users=2000",
    "proofs?view=user&step=7",
    "proofs?view=race&users=500&seed=3",
    "proofs?view=svm&gap=0.5",
    "proofs?eta=0.5&assumed_eta=1.5&eps_minus=0.2",
    "proofs?break_trust=true&users=300",
    "proofs?list=ABCDE&new=EDCBA&curve=1,1/2,1/4,0",
    "propensities",
    "propensities?swap_traffic=10,000&swap_landmark=2&swap_smoothing=0.3",
    "propensities?swap_users=trust&swap_fit=power",
    "propensities?swap_bootstrap=true&swap_ranks=15&swap_at=powers",
    "propensities?swap_other=em&eta=1.5",
    "repairs",
    "repairs?breaks=leaving",
    "repairs?breaks=trust-steep&repair_clicks=many",
    "repairs?breaks=trust-mild&repair_clicks=most",
    "repairs?breaks=cut&repair_clicks=most",
    "repairs?breaks=wrong-curve&repair_clicks=fewest",
    "repairs?breaks=trust-steep&result=quick&draws=2",
    "live",
    "live?live_queries=370&seed=3&eta=0.7",
    "live?live_scheme=team-draft&live_swap_days=3&live_smoothing=0",
    "your_data",
    "claims",
    "about",
)


def numbers(text: str) -> list[str]:
    """The numbers in a text, except times."""
    return [n.replace(",", "").replace("−", "-") for n in NUMBER.findall(TIMED.sub("", text))]


def opened(link: str) -> Any:
    """The page of a link, run until it requests no further run."""
    from streamlit.testing.v1 import AppTest

    page, _, query = link.partition("?")
    sys.argv = ["app.py"]
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    for name, value in parse_qsl(query):
        app.query_params[name] = value
    app.switch_page(str(ROOT / "pages" / f"{page}.py"))
    return app.run()


def chart_values(app: Any) -> list[Any]:
    """The columns behind each chart."""
    import pyarrow as pa  # type: ignore[import-untyped]

    found: list[Any] = []
    for element in app.get("vega_lite_chart"):
        proto = element.proto
        tables = [proto.data.data] if proto.data.data else []
        tables += [dataset.data.data for dataset in proto.datasets]
        for table in tables:
            columns = pa.ipc.open_stream(table).read_all().to_pydict()
            found.append({name: [_plain(v) for v in values] for name, values in columns.items()})
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | bool | str) or value is None else str(value)


def pin(link: str) -> dict[str, Any]:
    """What a page shows at a link."""
    app = opened(link)
    texts: list[str] = []
    for element in (*app.markdown, *app.caption, *app.title, *app.metric, *app.latex):
        texts.append(f"{element.value} {getattr(element, 'delta', '')}")
    tables = [table.value.to_csv() for table in (*app.table, *app.dataframe)]
    state = {
        key: app.session_state[key]
        for key in sorted(map(str, app.session_state))
        if not PRIVATE.search(key) and isinstance(app.session_state[key], int | float | str)
    }
    return {
        "failed": [str(e.value) for e in app.exception],
        "numbers": [n for text in texts for n in numbers(text)],
        "tables": [n for text in tables for n in numbers(text)],
        "charts": chart_values(app),
        "state": state,
        "address": {key: app.query_params[key] for key in sorted(app.query_params)},
    }


def differences(old: Any, new: Any, where: str = "") -> list[str]:
    """Where two pins differ; keys that only the new pin has do not count."""
    if isinstance(old, dict) and isinstance(new, dict):
        found = [f"{where}.{key}: missing" for key in old if key not in new]
        for key in old:
            if key in new:
                found += differences(old[key], new[key], f"{where}.{key}")
        return found
    if isinstance(old, list) and isinstance(new, list):
        found = [] if len(old) == len(new) else [f"{where}: {len(old)} items, now {len(new)}"]
        for place, (a, b) in enumerate(zip(old, new, strict=False)):
            found += differences(a, b, f"{where}[{place}]")
        return found
    words = isinstance(old, str) and not NUMBER.fullmatch(old) and ".charts" in where
    same = old == new or words or (old != old and new != new)
    return [] if same else [f"{where}: {old!r}, now {new!r}"]


def main() -> int:
    """Record or compare; return the exit code."""
    what, file = sys.argv[1], Path(sys.argv[2])
    only = sys.argv[3:]
    sys.path.insert(0, str(ROOT))
    before = {} if what == "record" else json.loads(file.read_text("utf-8"))
    found: dict[str, Any] = {}
    wrong = 0
    for link in LINKS:
        if only and not any(part in link for part in only):
            continue
        found[link] = pin(link)
        if what == "record":
            print(link, len(found[link]["numbers"]), found[link]["failed"], flush=True)
        else:
            differ = differences(before[link], found[link])
            wrong += bool(differ)
            print(link, "; ".join([f"{len(differ)} differ", *differ[:5]] if differ else ["same"]))
    if what == "record":
        file.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")), "utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
