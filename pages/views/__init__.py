"""The pages: layout, controls, charts and words, one folder a page."""
