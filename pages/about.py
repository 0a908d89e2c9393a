"""The corpus, your own data, references, and where the conventions stand."""

from pages.app.shell import show_page

show_page("about")
