"""The paper's claims with what was found for each, and how its unclear places are read."""

from pages.app.shell import enter
from pages.views.claims import view

view.show(enter())
