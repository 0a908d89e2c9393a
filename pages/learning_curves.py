"""Learning curves: how the rankers do as clicks come in (figure 1 of the paper)."""

from pages.app.shell import show_page

show_page("learning_curves")
