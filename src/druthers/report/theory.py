"""The page of the theory bench: one row and one figure for each claim, in one file without a network."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from druthers.drafts import replaced
from druthers.errors import needs
from druthers.report.figures import EXTRAS, SETTINGS
from druthers.report.sheets import Sheet, compact, line_look, name_axes
from druthers.report.styles import DASHES, HUES, MARKERS, Style
from druthers.theory import FAILS, HOLDS, Chart, Checked

MARKS = {HOLDS: "✓", FAILS: "✗"}
LOOK = """
:root { --paper: #fdfdfb; --text: #1c1d21; --soft: #5d616b; --faint: #e4e4df; --good: #1a7f4b; --bad: #b3261e; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #14161a; --text: #e9e9e6; --soft: #a2a7b2; --faint: #31353d; --good: #5fd49a; --bad: #ff8a80; }
  figure { background: #fdfdfb; border-radius: 6px; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.2rem 4rem; background: var(--paper); color: var(--text);
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
h2 { font-size: 1.1rem; margin: 0; }
.lead, .source, dt { color: var(--soft); }
table { width: 100%; border-collapse: collapse; margin: 1.5rem 0 2.5rem; font-size: .94rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--faint); }
th { color: var(--soft); font-weight: 500; }
a { color: inherit; }
.holds { color: var(--good); } .fails { color: var(--bad); } .open { color: var(--soft); }
.verdict { white-space: nowrap; font-weight: 600; }
section { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); gap: 1.5rem; padding: 1.5rem 0;
  border-top: 1px solid var(--faint); break-inside: avoid; }
dl { margin: .6rem 0 0; } dt { font-size: .85rem; margin-top: .5rem; } dd { margin: 0; }
figure { margin: 0; } svg { width: 100%; height: auto; }
@media (max-width: 46rem) { section { grid-template-columns: 1fr; } }
@media print {
  :root { --paper: #fff; }
  body { max-width: none; padding: 0; font-size: 9pt; line-height: 1.4; }
  h1 { font-size: 16pt; } h2 { font-size: 11pt; }
  table { margin: .8rem 0 1.2rem; } th, td { padding: .25rem .5rem; }
  section { grid-template-columns: minmax(0, 1fr) 8.2cm; gap: .8cm; padding: .5cm 0; }
  dt { margin-top: .25rem; }
}
"""


def _styles(chart: Chart) -> dict[str, Style]:
    """Return how lines look: a hue and a mark for each that was measured; a bound has the hue of the one before it."""
    styles: dict[str, Style] = {}
    measured = bounds = 0
    hue = HUES["black"]
    for line in chart.lines:
        if line.dashed:
            styles[line.name] = Style(*hue, list(DASHES.values())[1 + bounds % 4], "")
            bounds += 1
        else:
            hue = list(HUES.values())[measured % len(HUES)]
            styles[line.name] = Style(*hue, (), MARKERS[measured % len(MARKERS)])
            measured += 1
    return styles


def draw_chart(chart: Chart, new_figure: Any) -> Any:
    """Draw the figure of a claim: what was measured as solid lines with bands, bounds dashed."""
    styles = _styles(chart)
    sheet = Sheet(new_figure, 1, 1, panel=(3.9, 2.5), legend=styles, top=0.12)
    axes = sheet.axes[0]
    for line in chart.lines:
        style = styles[line.name]
        axes.plot(line.x, line.y, **line_look(style))
        if line.low is not None and line.high is not None and np.isfinite(line.low).all():
            axes.fill_between(line.x, line.low, line.high, color=style.color, alpha=0.15, linewidth=0)
    axes.set(xscale="log" if chart.log_x else "linear", yscale="log" if chart.log_y else "linear")
    if not chart.log_y:
        least, most = (pick(pick(line.y) for line in chart.lines) for pick in (min, max))
        axes.set_ylim(bottom=min(-0.03 * most, least))  # a line along zero is seen whole
    axes.minorticks_off()
    _mark(axes.xaxis, chart.log_x)
    _mark(axes.yaxis, chart.log_y)
    axes.grid(True, color="#e6e6e6", linewidth=0.6)
    axes.set_axisbelow(True)
    name_axes([axes], [axes], chart.x, chart.y)
    return sheet.figure


def _mark(axis: Any, log: bool) -> None:
    """Set ticks: in the logarithm at powers of ten, or where there are hardly any, at 1, 2, 5 as well."""
    low, high = axis.get_view_interval()
    if not log or low > 1e-3:
        axis.set_major_formatter(compact)
    if log and math.floor(math.log10(high)) - math.ceil(math.log10(low)) < 2:
        subs = (1, 2, 5) if high / low > 3.0 else (1, 1.5, 2, 3, 4, 5, 6, 8)
        axis.set_major_locator(needs("matplotlib.ticker", "lab").LogLocator(subs=subs))


def write_chart(chart: Chart, folder: str | Path, name: str) -> None:
    """Write one figure as PDF, SVG and PNG into a folder, made if it is not there."""
    matplotlib = needs("matplotlib", "lab")
    new_figure = needs("matplotlib.figure", "lab").Figure
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(SETTINGS):
        figure = draw_chart(chart, new_figure)
        for kind in ("pdf", "svg", "png"):
            with replaced(place / f"{name}.{kind}") as path:
                figure.savefig(path, format=kind, dpi=300, **EXTRAS[kind])


def write_theory(checked: Sequence[Checked], folder: str | Path, *, fast: bool) -> Path:
    """Write `theory.html` and the figure of each claim as PDF, SVG and PNG into a folder; return the page.

    Parameters
    ----------
    checked
        Claims and what came of them, in the order of the page.
    folder
        Where the files go; made if it is not there.
    fast
        Whether the runs were the small ones, which the page says.
    """
    matplotlib = needs("matplotlib", "lab")
    new_figure = needs("matplotlib.figure", "lab").Figure
    place = Path(folder)
    (place / "figures").mkdir(parents=True, exist_ok=True)
    rows, parts = [], []
    with matplotlib.rc_context(SETTINGS):
        for claim, finding in checked:
            figure = draw_chart(finding.chart, new_figure)
            for kind in ("pdf", "png"):
                with replaced(place / "figures" / f"{claim.name}.{kind}") as path:
                    figure.savefig(path, format=kind, dpi=300, **EXTRAS[kind])
            drawn = io.StringIO()
            figure.savefig(drawn, format="svg", dpi=300, **EXTRAS["svg"])
            picture = drawn.getvalue()
            with replaced(place / "figures" / f"{claim.name}.svg") as path:
                path.write_text(picture, "utf-8")
            rows.append(_row(claim, finding))
            parts.append(_part(claim, finding, picture[picture.index("<svg") :]))
    size = "small runs (--fast)" if fast else "full runs"
    page = place / "theory.html"
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The theory, checked</title><style>{LOOK}</style></head><body><h1>The theory, checked</h1>"
        f'<p class="lead">Every claim, what was run, and the verdict by a stated test; {size}, fixed seeds.</p>'
        "<table><thead><tr><th>Claim</th><th>Source</th><th>Verdict</th></tr></thead><tbody>"
        f"{''.join(rows)}</tbody></table>{''.join(parts)}</body></html>"
    )
    with replaced(page) as draft:
        draft.write_text(text, "utf-8")
    return page


def _verdict(verdict: str) -> str:
    kind = {HOLDS: "holds", FAILS: "fails"}.get(verdict, "open")
    return f'<span class="verdict {kind}">{MARKS.get(verdict, "?")} {html.escape(verdict)}</span>'


def _row(claim: Any, finding: Any) -> str:
    statement, source = html.escape(claim.statement), html.escape(claim.source)
    link = f'<a href="#{claim.name}">{statement}</a>'
    return f"<tr><td>{link}</td><td>{source}</td><td>{_verdict(finding.verdict)}</td></tr>"


def _part(claim: Any, finding: Any, picture: str) -> str:
    lines = (("What was run", finding.ran), ("Figure", finding.figure), ("Test", finding.test))
    told = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in lines)
    return (
        f'<section id="{claim.name}"><div><h2>{html.escape(claim.statement)}</h2><p class="source">'
        f"{html.escape(claim.source)} &middot; {_verdict(finding.verdict)}</p><dl>{told}</dl></div>"
        f"<figure>{picture}</figure></section>"
    )
