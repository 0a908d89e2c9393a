"""``python -m ultr_core``: the lab without a screen."""

from ultr_core.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
