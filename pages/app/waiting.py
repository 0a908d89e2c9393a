"""What a reader is told by style alone: what is awaited, what is old, why a file was not taken.

While a page computes, the server answers nothing else: what is opened meanwhile is filled when
the run has ended, and the browser itself refuses a file that is too large. Words in the style are
there at once and cost a class no message.
"""

from __future__ import annotations

from ultr_core.curve_values import CURVES

OPENED = "Ready as soon as the page has finished computing …"
"""In what was opened and is still empty."""

SHARED = "Opens as soon as the page has finished computing …"
"""Below the button that opens a window."""

FORMER = "Numbers of the former settings; the new ones are being computed …"
"""Above a table that the run has not come to yet."""

_SOON = 0.4  # seconds after which an answer is late enough for words
_BESIDE = 320  # pixels of the sidebar and what is left of the page's words

_PANEL = '[data-testid="stPopoverBody"]'
_EMPTY = f'{_PANEL}, [data-testid="stExpanderDetails"]'
_RUNNING = '.stApp[data-test-script-state="running"]'
_FIELD = f".st-key-{CURVES['curve'].key}"

STYLE = f"""
@keyframes late {{ from {{ visibility: hidden }} to {{ visibility: visible }} }}
:is({_EMPTY}):not(:has(.stElementContainer))::before {{ content: "{OPENED}" }}
{_RUNNING} .st-key-share:has(button:focus)::after {{ content: "{SHARED}" }}
[data-stale="true"] > .stTable::before {{ content: "{FORMER}" }}
:is({_EMPTY}):not(:has(.stElementContainer))::before, .st-key-share::after,
  [data-stale="true"] > .stTable::before {{ animation: late 0.01s {_SOON}s both; display: block;
  font-size: 0.875rem; padding-bottom: 0.5rem }}
.stFileChip:has([role="alert"]) {{ flex-wrap: wrap; height: auto; max-width: 100% }}
.stFileChip [role="alert"] {{ clip: auto; clip-path: none; flex-basis: 100%; height: auto;
  margin: 0; overflow: visible; position: static; white-space: normal; width: auto }}
@media (min-width: {2 * _BESIDE}px) {{
  {_PANEL}:has({_FIELD}) {{ max-width: {_BESIDE}px !important; min-width: 0 }}
}}
"""
"""The style; the shell sends it with every page."""
