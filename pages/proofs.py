"""The proofs: every line in numbers, switches that break it, users that arrive one by one."""

from pages.app.shell import show_page

show_page("proofs")
