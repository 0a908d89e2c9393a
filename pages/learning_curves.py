"""Learning curves: how the rankers do as clicks come in (figure 1 of the paper)."""

from pages.app.shell import enter
from pages.views.learning_curves import view

view.show(enter())
