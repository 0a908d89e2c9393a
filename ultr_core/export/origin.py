"""What made a result: the settings and the link that every exported file carries."""

from __future__ import annotations

import dataclasses
import json
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ultr_core.curve_values import CURVES
from ultr_core.settings import PARAMETERS, Settings


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of packages that numbers and pictures come from, by name."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: ``link``, the address of a page, and that page's ``settings``.

    ``corpus`` names the corpus unless it is the built-in corpus; ``acting`` names the settings on
    which the result depends, () for all.
    """

    link: str
    settings: Settings
    corpus: str | None = None
    acting: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        every = self.settings.as_dict()
        named = {name: every[name] for name in self.acting or every}
        content = {"link": self.link, "settings": named}
        return content if self.corpus is None else {**content, "corpus": self.corpus}

    def as_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False)

    @property
    def words(self) -> str:
        """The settings in symbols, for a line below a title."""
        return settings_words(self.settings)


def settings_words(settings: Settings, names: tuple[str, ...] = ()) -> str:
    """All settings, or only ``names``, in symbols and numbers: η = 1, ε₋ = 0.1, n = 170,000, ..."""
    parts = []
    for name, value in settings.numbers.items():
        if names and name not in names:
            continue
        if name == "relevant_grade":
            parts.append(f"relevant: grade {value} or more")
            continue
        parameter = PARAMETERS[name]
        parts.append(f"{parameter.symbol} = {value:,}" if value >= 10_000 else
                     f"{parameter.symbol} = {value:g}")  # fmt: skip
    parts += [f"{CURVES[name].key} given" for name in settings.curves if not names or name in names]
    return ", ".join(parts)


def settings_code(settings: Settings) -> str:
    """A Python expression for the settings, naming what differs from the defaults."""
    default = Settings()
    changed = [
        f"{field.name}={getattr(settings, field.name)!r}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != getattr(default, field.name)
    ]
    return f"Settings({', '.join(changed)})"
