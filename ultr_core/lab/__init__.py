"""One world and all that is made of it: settings, a corpus, and a store that makes each thing once.

    lab = Lab(Settings(eta=1.0, assumed_eta=1.5))
    print(lab.comparison().sentence)
    print(lab.at(Settings(eta=1.0)).picture().sentence)  # on the same click log

Pages, commands, lessons, claims and notebooks all take a :class:`Lab`.
"""

from typing import TYPE_CHECKING

from ultr_core.lazy import on_demand

if TYPE_CHECKING:
    from ultr_core.lab.cell import Cell
    from ultr_core.lab.lab import Lab
    from ultr_core.lab.store import Store
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = ["Cell", "Lab", "Store"]
