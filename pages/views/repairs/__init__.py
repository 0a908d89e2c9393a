"""The Users and repairs page."""
