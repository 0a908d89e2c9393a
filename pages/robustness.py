"""Robustness: more bias, more noise, wrong propensities (figures 2 to 4), and two maps."""

from pages.app.shell import show_page

show_page("robustness")
