"""The Live experiment page."""
