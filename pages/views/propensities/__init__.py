"""The Propensities page."""
