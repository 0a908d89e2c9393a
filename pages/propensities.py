"""Where propensities come from: swap experiments, their rivals, their price, your own log."""

from pages.app.shell import show_page

show_page("propensities")
