"""The page: one HTML file with everything in it, for the browser, from disk, without a network."""

import html
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from druthers.drafts import write_text
from druthers.experiments import Results
from druthers.report.content import content_of
from druthers.report.styles import styles_of
from druthers.web import script, text_of


def write_report(results: Sequence[Results], path: str | Path) -> None:
    """Write the results of some experiments as one interactive page; its folder is made if it is not there."""
    experiments = [content_of(each) for each in results]
    for number, experiment in enumerate(experiments, 1):
        twins = sum(other["name"] == experiment["name"] for other in experiments)
        experiment["nav"] = f"{experiment['name']} ({number})" if twins > 1 else experiment["name"]
    styles = styles_of(group for experiment in experiments for group in experiment["groups"])
    content = {"experiments": experiments, "styles": {group: style._asdict() for group, style in styles.items()}}
    title = experiments[0]["title"] if len(experiments) == 1 else f"{len(experiments)} experiments"
    text = report_file("page.html")
    # The template's own words go in first: what comes from settings could contain them.
    text = text.replace("/*css*/", text_of("vendor/uplot.css") + report_file("page.css"))
    drawing = script("vendor/LICENSE-uplot.txt", "vendor/uplot.js", "plot.js")
    text = text.replace("/*js*/", drawing + report_file("parts.js") + report_file("page.js"))
    head, _, rest = text.partition("<!--title-->")
    middle, _, tail = rest.partition("<!--data-->")
    write_text(path, head + html.escape(title) + middle + embedded(content) + tail)


def embedded(content: Any) -> str:
    """Return values as JSON that no text in them can end early, inside a script element."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone surrogate has no place in UTF-8.
    return "".join(f"\\u{ord(sign):04x}" if "\ud800" <= sign <= "\udfff" else sign for sign in text)


def report_file(name: str) -> str:
    """Return a file that pages are made of."""
    return resources.files("druthers.report").joinpath(name).read_text("utf-8")
