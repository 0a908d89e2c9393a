"""The style that the shell sends with every page.

A class on one small server pays for each message, so that all pages have one style.
"""

from __future__ import annotations

_READABLE = """
[data-testid="stBaseButton-primary"]:enabled p { color: light-dark(#FFFFFF, #101418) }
"""
"""Streamlit writes white on the primary colour; on that of the dark theme it is too faint."""

_EXPANDERS = """
.stMain .stExpander > details > summary { opacity: 1 }
.stMain [data-testid="stPageLink"] :is(a, p) { overflow: visible; white-space: normal }
"""
"""What opens is not faint, as its compact form would be; a long link continues below."""

_FORMULAS = """
.katex [style*="chocolate"] { color: light-dark(#B04D00, #FF9248) !important }
.katex [style*="steelblue"] { color: light-dark(#0068A3, #56B4E9) !important }
.katex [style*="seagreen"] { color: light-dark(#007353, #2DC49A) !important }
.katex-display > .katex { white-space: normal }
.katex-display .base { margin-block: 0.2em }
"""
"""Formulas wider than the page go on below, after a relation or a sign.

Terms of methods, which a formula can only name, have their marks' colours, as dark as letters need.
"""

CHECKS = "proof-checks"
"""Key of the container of the list of proof checks."""

_CHECKS = f"""
.st-key-{CHECKS} details {{ border: 1px solid color-mix(in srgb, currentColor 18%, transparent);
  border-radius: 0.5rem; margin: 0 0 0.5rem; overflow: hidden }}
.st-key-{CHECKS} summary {{ align-items: center; cursor: pointer; display: flex; gap: 0.75rem;
  list-style: none; min-height: 2.4rem; padding: 0.25rem 0.75rem 0.25rem 1rem }}
.st-key-{CHECKS} summary::-webkit-details-marker {{ display: none }}
.st-key-{CHECKS} summary::before {{ border: solid; border-width: 0 1.5px 1.5px 0; content: "";
  flex: none; height: 0.4rem; rotate: -45deg; transition: rotate 0.2s; width: 0.4rem }}
.st-key-{CHECKS} details[open] > summary::before {{ rotate: 45deg }}
.st-key-{CHECKS} details[open] > summary, .st-key-{CHECKS} summary:hover
  {{ background: color-mix(in srgb, currentColor 4%, transparent) }}
.st-key-{CHECKS} details[open] > summary
  {{ border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent) }}
.st-key-{CHECKS} summary:focus-visible {{ outline-offset: -2px }}
.st-key-{CHECKS} summary p {{ font-size: 0.875rem; line-height: 1.4rem; margin: 0 }}
.st-key-{CHECKS} details > :not(summary) {{ margin-left: 1rem; margin-right: 1rem }}
.st-key-{CHECKS} details > summary + * {{ margin-top: 1rem }}
"""
"""It looks: as Streamlit's own expanders do."""

NARROW = 640  # pixels of the screen up to which elements stand below each other
_CONTROL = 150  # pixels that a control needs

ROW = "main-controls"
"""Key of the row above every page; its controls stand beside each other, as many as have room."""

_TWO = ("proof-checks", "formulas")
"""Keys of containers whose elements stand in two columns."""

_THREE_PAIRS = ("steps",)
"""Keys of containers of three columns, each with two of the elements, one below the other."""


def _grid(keys: tuple[str, ...], columns: str, more: str = "") -> str:
    blocks = ",".join(f".st-key-{key}" for key in keys)
    return f".stVerticalBlock:is({blocks}){{display:grid;grid-template-columns:{columns};{more}}}"


_SIDE_BY_SIDE = (
    _grid((ROW,), f"repeat(auto-fit,minmax({_CONTROL}px,1fr))")
    + f"@media (min-width:{NARROW + 1}px){{"
    + _grid(_TWO, "repeat(2,minmax(0,1fr))")
    + _grid(
        _THREE_PAIRS,
        "repeat(3,minmax(0,1fr))",
        "grid-auto-flow:column;grid-template-rows:repeat(2,auto)",
    )
    + "}"
)
"""Elements beside each other in one container: half the messages to the browser of columns.

A column is a message, and so is what holds the columns; a class that moves its sliders pays for
each.
"""

_HISTORY = """
.st-key-history { align-items: start; flex-wrap: nowrap; justify-content: end }
.st-key-main-controls > :is(:has(> .st-key-more-controls), :has(> .st-key-history))
  { justify-self: end; max-width: 16rem; width: 100% }
.st-key-history > * { flex: 1; max-width: 4.5rem; min-width: 0; width: auto }
.st-key-history :is(button, a) { min-height: 0; padding: 0.1rem 0; width: 100% }
.st-key-history a { border: 1px solid color-mix(in srgb, currentColor 20%, transparent);
  border-radius: 0.5rem; gap: 0; justify-content: center }
.st-key-history kbd { display: none }
.st-key-history > :has(a) { margin-top: -2px !important } /* as high as the buttons */
.st-key-history :is(button, a) p { clip-path: inset(50%); height: 1px; overflow: hidden;
  position: absolute; white-space: nowrap; width: 1px }
.st-key-more-settings summary { min-height: 2rem; padding-block: 0 }
.st-key-more-settings { position: relative; z-index: 5 }
.st-key-more-settings > * > details > :not(summary) { background: light-dark(#FFFFFF, #101418);
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem;
  box-shadow: 0 4px 16px rgb(0 0 0 / 20%); max-height: calc(100dvh - 8rem); overflow-y: auto;
  position: absolute; right: 0; top: 2.4rem; width: max(100%, 20rem) }
@media (max-width: 640px) { .st-key-more-settings > * > details > :not(summary)
  { left: 0; right: auto } }
@media (max-width: 347px) {
  .st-key-more-settings > * > details > :not(summary)
    { left: auto; right: 0; width: calc(100vw - 2rem) }
  .st-key-main-controls > :is(:has(> .st-key-more-controls), :has(> .st-key-history))
    { max-width: none }
}
"""
"""Buttons of the row of controls, as signs; their words are for who hears the page.

Below 348 pixels the row has room for one control, and the further settings for the page's width.
"""

WINDOW = "var(--window, 100dvh)"
"""The height of the window; a picture of a whole page, whose window is higher, sets it."""

_BESIDE_EACH_OTHER = 1000  # pixels of the screen from which panels stand beside each other
_REST = 16.2  # rem of the first screen besides its panels: menu, controls, headline, checks
_REST_OF_LECTURE = 14.75  # without the line of checks and their list

_FIRST_SCREEN = f"""
.stMainBlockContainer:has(.st-key-panels) {{ padding-inline: 1.5rem }}
.stMainBlockContainer:has(.st-key-panels) h1 {{ clip-path: inset(50%); height: 1px;
  overflow: hidden; padding: 0; position: absolute; white-space: nowrap; width: 1px }}
.stVerticalBlock:has(> * > .st-key-panels) {{ gap: 0.5rem }}
.stVerticalBlock:has(> * > .st-key-panels) > * > h2, .st-key-outcome {{ margin-top: 1rem }}
.st-key-headline p {{ font-size: 1.125rem }}
.st-key-checks .stExpander > details > summary p {{ color: light-dark(#55606B, #AAB4BE) }}
.st-key-panels {{ display: grid; gap: 1.25rem; grid-template-columns: minmax(0, 1fr) }}
.st-key-panels h3 {{ line-height: 2rem; padding: 0 }}
.st-key-panels .stHeading {{ height: 2rem }}
[class*="st-key-panel-"], :has(> [class*="st-key-panel-"]) {{ flex: none; height: 27rem }}
[class*="st-key-panel-"] > * {{ flex-shrink: 0 }}
[class*="st-key-panel-"] > :has(> [class*="st-key-figure-estimates"]),
[class*="st-key-panel-"] > :has(> .st-key-figure-trained-rankers) {{ flex: 1; min-height: 0 }}
.st-key-panels [class*="st-key-figure-"], .st-key-panel-users > :has(.lab-users),
.st-key-figure-trained-rankers > *,
.st-key-figure-trained-rankers > * > .stVerticalBlock {{ flex: 1; height: 100% }}
.st-key-figure-trained-rankers:has([data-testid="stSkeleton"]) {{ overflow: hidden }}
@media (min-width: {_BESIDE_EACH_OTHER}px) {{
  .st-key-panels {{ grid-template-columns: minmax(0, 1fr) minmax(0, 1.25fr) minmax(0, 1fr) }}
  [class*="st-key-panel-"], :has(> [class*="st-key-panel-"])
    {{ height: max(18rem, calc({WINDOW} - var(--rest, {_REST}rem))) }}
}}
"""
"""The Lab's panels: beside each other and as high as the window leaves room, where it is wide.

Streamlit's own heights are fixed numbers.
"""

ABOVE = "above"
"""Key of the container of what is said above a page; often it is empty."""

FITTED = "fits-"
"""How keys of containers begin that hold one chart and end where the first window does."""

_FITTED = f"""
:has(> .st-key-{ABOVE}):not(:has(.stMarkdown, .stAlert, [data-testid="stSkeleton"]))
  {{ margin-bottom: -1rem }}
:is([class*="st-key-{FITTED}"], :has(> [class*="st-key-{FITTED}"]))
  {{ flex: none; height: var(--most, 26.25rem) }}
[class*="st-key-{FITTED}"] > * {{ flex: 1; height: 100% }}
.st-key-lesson-reveal {{ scroll-margin-top: 4.5rem }}
@media (min-width: {_BESIDE_EACH_OTHER}px) {{
  :is([class*="st-key-{FITTED}"], :has(> [class*="st-key-{FITTED}"]))
    {{ height: clamp(17rem, calc({WINDOW} - var(--taken, 23rem)), var(--most, 26.25rem)) }}
  :is(.st-key-{FITTED}study-learning-curve, :has(> .st-key-{FITTED}study-learning-curve))
    {{ --taken: 20.5rem }}
  :is(.st-key-{FITTED}propensity-curve, :has(> .st-key-{FITTED}propensity-curve))
    {{ --taken: 27.25rem; --most: 21.125rem }}
}}
"""
"""What such a chart leaves to the page above it: menu, title, headline, controls, a line.

What is scrolled to ends up below the menu.
"""

_HERE = """
[data-testid="stTopNav"] > :nth-child({place}) :is(a, button)
  {{ background: color-mix(in srgb, currentColor 12%, transparent); border-radius: 0.5rem }}
[data-testid="stTopNav"] > :nth-child({place}) :is(a, button) p {{ font-weight: 600 }}
[data-testid="stTopNav"] > :nth-child({place}) :is(a, button):focus-visible
  {{ outline: 2px solid currentColor; outline-offset: -2px }}
"""
"""The menu marks the page that is open; Streamlit marks none in a group that is closed."""

COMMANDS = "batch"
"""The language of commands for the browser, which then knows what an option is."""

_COMMANDS = f"""
[data-testid="stMarkdownContainer"] :is(p, li, p > span) > code {{ display: inline-block;
  max-width: 100%; overflow-x: auto; vertical-align: bottom; white-space: nowrap }}
.language-{COMMANDS} .token {{ color: inherit !important }}
.language-{COMMANDS} .parameter {{ white-space: nowrap }}
"""
"""No option is broken after its hyphens."""

WAY = "way-to-world"
"""Key of the container above a chart for the button that a click on a mark makes appear."""

_WAY = f"""
[data-testid="stLayoutWrapper"]:has(> .st-key-{WAY}) {{ background: light-dark(#FFFFFF, #101418);
  padding-block: 0.25rem; position: sticky; top: 3.75rem; z-index: 1 }}
.st-key-{WAY} {{ justify-content: center; min-height: 2.5rem }}
#vg-tooltip-element {{ pointer-events: none }}
@media (max-width: {NARROW}px) {{
  [data-testid="stLayoutWrapper"]:has(> .st-key-{WAY}) ~ * .stElementToolbar
    {{ bottom: 0; top: auto }}
}}
"""
"""The button stays in sight, below the page's bar, as long as any of its chart does.

Where it is as wide as the window, the tools of the chart are not on it.

Words are as high there as the button, and a mark's tooltip lets a tap through to it.
"""

OPENED = "Ready as soon as the page has finished computing …"
"""In what was opened and is still empty."""

SHARED = "Opens as soon as the page has finished computing …"
"""Below the button that opens a window."""

FORMER = "These numbers are for the previous settings; new ones are being computed …"
"""Above a table that the run has not come to yet."""

_SOON = 0.4  # seconds after which an answer is late enough for words

_PANEL = '[data-testid="stPopoverBody"]'
_EMPTY = f'{_PANEL}, [data-testid="stExpanderDetails"]'
_RUNNING = '.stApp[data-test-script-state="running"]'

_AWAITED = f"""
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
"""
"""What is awaited, what is old, why a file was not taken.

While a page computes, the server answers nothing else: what is opened meanwhile is filled when
the run has ended, and the browser itself refuses a file that is too large. Words in the style are
there at once and cost a class no message.
"""


BY_GRADES = "by-grades"
"""Key of a table of two columns, of which the first may go on below."""

SCROLLED, SENTENCES = "scrolled", "scrolled-sentences"
"""Keys, by their start, of containers of tables, and of those whose last column has sentences."""

_TABLES = f"""
.stMain .stTable td * {{ max-width: none }}
@media (min-width: 900px) {{
  .stMain [class*="st-key-{SCROLLED}"] :is(td, th):not(:last-child) * {{ white-space: nowrap }}
}}
@media (max-width: 499px) {{
  .stMain .stTable :is(td, th) {{ padding-inline: 0.3rem }}
  .stMain [class*="st-key-{SCROLLED}"] :is(td, th) * {{ max-width: none; white-space: nowrap }}
  .stMain [class*="st-key-{SENTENCES}"] td:last-child *,
  .stMain .st-key-{SCROLLED}-{BY_GRADES} td:first-child :not(.katex *) {{ white-space: normal }}
  .stMain [class*="st-key-{SENTENCES}"] td:last-child > * {{ min-width: 16rem }}
}}
"""
"""Text is as wide as its column; on a phone some tables scroll, and no number or name is broken."""


def page_style(*, charts: bool, place: int) -> str:
    """The style of all pages; that of charts, which takes a second to load, where it is wanted.

    place: of the page, or of the closed group that has it, in the menu, counted from 1.
    """
    parts = (
        _READABLE, _EXPANDERS, _FORMULAS, _CHECKS, _SIDE_BY_SIDE, _HISTORY, _FIRST_SCREEN, _FITTED,
        _WAY, _AWAITED, _TABLES, _COMMANDS, _HERE.format(place=place),
    )  # fmt: skip
    return f"<style>{''.join(parts)}{_ink() if charts else ''}</style>"


def panels_in_lecture() -> str:
    """Style that gives the Lab's panels the room that lecture mode leaves them."""
    return f".st-key-panels{{--rest:{_REST_OF_LECTURE}rem}}"


def _ink() -> str:
    """Ink of charts that follows the page when a reader's system changes the theme.

    The server draws a chart for the theme in which it was asked for; style gives the same ink its
    colour in the other one. The picture keeps its own colours, for the browser makes files of it.
    """
    from ultr_core.figures.style import INKS

    def followed(name: str) -> str:
        light, dark = (getattr(INKS[theme], name) for theme in ("light", "dark"))
        return "".join(
            f'svg.marks :is([{part}="{light}"],[{part}="{dark}"])'
            f"{{{part}:light-dark({light},{dark})}}"
            for part in ("fill", "stroke")
        )

    return "".join(map(followed, ("text", "quiet", "background")))
