"""The paper's claims with what was found for each, and how its unclear places are read."""

from pages.app.shell import show_page

show_page("claims")
