"""The live experiment: collect, swap, train, interleave, test; and how interleaving can err."""

from pages.app.shell import enter
from pages.views.live import view

view.show(enter())
