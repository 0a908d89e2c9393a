"""The live experiment: collect, swap, train, interleave, test; and how interleaving can err."""

from pages.app.shell import show_page

show_page("live")
