"""The proofs: every line in numbers, switches that break it, users that arrive one by one."""

from pages.app.shell import enter
from pages.views.proofs import view

view.show(enter())
