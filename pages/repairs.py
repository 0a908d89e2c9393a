"""Users and repairs: what breaks weighting, and which later estimator repairs it."""

from pages.app.shell import enter
from pages.views.repairs import view

view.show(enter())
