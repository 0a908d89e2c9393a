"""The Unbiased LTR Lab's numerical core; it never imports a screen.

Each room names its public face in its own ``__init__``: corpus, feedback, propensity, risk,
learners, inspection, proofs, experiments, claims, figures, export, lessons, commands. ``settings``
holds every parameter once.
"""

__version__ = "0.1.0"
