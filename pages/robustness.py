"""Robustness: more bias, more noise, wrong propensities (figures 2 to 4), and two maps."""

from pages.app.shell import enter
from pages.views.robustness import view

view.show(enter())
