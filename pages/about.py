"""The corpus, your own data, references, and where the conventions stand."""

from pages.app.shell import enter
from pages.views.about import view

view.show(enter())
