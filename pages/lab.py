"""The main page: clicks in, estimates and rankers out, with the proof beside them."""

from pages.app.shell import enter
from pages.views.lab import view

view.show(enter())
