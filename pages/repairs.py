"""Users and repairs: what breaks weighting, and which later estimator repairs it."""

from pages.app.shell import show_page

show_page("repairs")
