"""The Lab page."""
