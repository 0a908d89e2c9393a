"""The numbers in docs/deploying.md are those of the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from ultr_core import limits
from ultr_core.settings import PARAMETERS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "deploying.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|]+ \| ([\d,]+)[^|]* \| `([\w.]+)` \|$", GUIDE, flags=re.MULTILINE)


def constant(name: str) -> int:
    """The bound that a name stands for, as the guide explains."""
    if name.isupper():
        limit: limits.Limit = getattr(limits, name)
        return limit.most >> 20 if limit.unit == "bytes" else limit.most
    if name.startswith("server."):
        config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
        return int(config["server"][name.removeprefix("server.")])
    return int(PARAMETERS[name].high)


def test_the_guide_has_rows() -> None:
    assert len(ROWS) >= 12


@pytest.mark.parametrize(("stated", "name"), ROWS, ids=[name for _, name in ROWS])
def test_a_stated_bound_is_the_one_that_is_kept(stated: str, name: str) -> None:
    assert int(stated.replace(",", "")) == constant(name)


def test_the_proxy_lets_the_largest_upload_through() -> None:
    stated = re.search(r"client_max_body_size (\d+)m;", GUIDE)
    assert stated is not None
    assert int(stated[1]) == constant("server.maxUploadSize") + 1
