"""The page of the theory bench: one row and one figure for each claim, in one file without a network."""

import html
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from druthers.drafts import write_text
from druthers.errors import needs
from druthers.report.axes import compact, name_axes, rule
from druthers.report.page import report_file
from druthers.report.sheets import Sheet, drawing, line_look, save_figure
from druthers.report.styles import DASHES, HUES, MARKERS, Style
from druthers.theory import FAILS, HOLDS, Chart, Checked

MARKS = {HOLDS: "✓", FAILS: "✗"}


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


def draw_chart(chart: Chart) -> Any:
    """Draw the figure of a claim: what was measured as solid lines with bands, bounds dashed."""
    styles = _styles(chart)
    sheet = Sheet(1, 1, panel=(3.9, 2.5), legend=styles, top=0.12)
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
    rule(axes)
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


def write_chart(chart: Chart, folder: str | Path, name: str) -> list[Path]:
    """Write one figure as PDF, SVG and PNG into a folder, made if it is not there; return the files."""
    with drawing():
        return save_figure(draw_chart(chart), folder, name)


def write_theory(checked: Sequence[Checked], folder: str | Path, *, fast: bool) -> Path:
    """Write `theory.html` and the figure of each claim as PDF, SVG and PNG into a folder; return the page.

    The page has the claims in their order, and says whether the runs were the small, fast ones.
    """
    rows, parts = [], []
    for claim, finding in checked:
        _, svg, _ = write_chart(finding.chart, Path(folder) / "figures", claim.name)
        rows.append(_row(claim, finding))
        parts.append(_part(claim, finding, svg.read_text("utf-8")))
    size, style = "small runs (--fast)" if fast else "full runs", report_file("theory.css")
    page = Path(folder) / "theory.html"
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The theory, checked</title><style>{style}</style></head><body><h1>The theory, checked</h1>"
        f'<p class="lead">Every claim, what was run, and the verdict by a stated test; {size}, fixed seeds.</p>'
        "<table><thead><tr><th>Claim</th><th>Source</th><th>Verdict</th></tr></thead><tbody>"
        f"{''.join(rows)}</tbody></table>{''.join(parts)}</body></html>"
    )
    write_text(page, text)
    return page


def _verdict(verdict: str) -> str:
    kind = {HOLDS: "holds", FAILS: "fails"}.get(verdict, "open")
    return f'<span class="verdict {kind}">{MARKS.get(verdict, "?")} {html.escape(verdict)}</span>'


def _row(claim: Any, finding: Any) -> str:
    link = f'<a href="#{claim.name}">{html.escape(claim.statement)}</a>'
    return f"<tr><td>{link}</td><td>{html.escape(claim.source)}</td><td>{_verdict(finding.verdict)}</td></tr>"


def _part(claim: Any, finding: Any, picture: str) -> str:
    lines = (("What was run", finding.ran), ("Figure", finding.figure), ("Test", finding.test))
    told = "".join(f"<dt>{name}</dt><dd>{html.escape(text)}</dd>" for name, text in lines)
    return (
        f'<section id="{claim.name}"><div><h2>{html.escape(claim.statement)}</h2><p class="source">'
        f"{html.escape(claim.source)} &middot; {_verdict(finding.verdict)}</p><dl>{told}</dl></div>"
        f"<figure>{picture[picture.index('<svg') :]}</figure></section>"
    )
