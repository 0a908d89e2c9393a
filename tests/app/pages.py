"""What the tests of pages do alike."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def opened(app: AppTest, key: str) -> AppTest:
    """Open what makes its content when it is opened."""
    app.session_state[key] = True
    return app.run()


def open_savers(app: AppTest) -> AppTest:
    """Open "Save figure" of every figure on the page; what it offers is made then."""
    for key in list(app.session_state):
        if key.startswith("save-figure-"):
            app.session_state[key] = True
    return app.run()
