"""Where propensities come from: swap experiments, their rivals, their price, your own log."""

from pages.app.shell import enter
from pages.views.propensities import view

view.show(enter())
