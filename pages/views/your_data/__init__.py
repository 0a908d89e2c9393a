"""The Your data page."""
