"""Lessons on the paper, plans for lecturers, and the glossary."""

from pages.app.shell import show_page

show_page("lessons")
