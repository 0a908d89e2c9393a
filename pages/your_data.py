"""A reader's own corpus, click log, propensities and ranker, from checks to evidence."""

from pages.app.shell import enter
from pages.views.your_data import view

view.show(enter())
