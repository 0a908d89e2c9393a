"""Lessons on the paper, plans for lecturers, and the glossary."""

from pages.app.shell import enter
from pages.views.lessons import view

view.show(enter())
