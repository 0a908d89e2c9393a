"""The main page: clicks in, estimates and rankers out, with the proof beside them."""

from pages.app.shell import show_page

show_page("lab")
