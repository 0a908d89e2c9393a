"""A reader's own corpus, click log, propensities and ranker, from checks to evidence."""

from pages.app.shell import show_page

show_page("your_data")
