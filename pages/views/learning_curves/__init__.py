"""The Learning curves page."""
