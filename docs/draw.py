"""Draw `architecture.svg`: the parts of the package in layers, each with what it says of itself and what it imports.

Layers are those of the import contract in pyproject.toml, curves are imports that no other import implies, and the
figure is how many lines of Python a part has. `python docs/draw.py` writes the file, and a test tells when it is no
longer true.
"""

from __future__ import annotations

import ast
import math
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "druthers"
PICTURE = Path(__file__).with_name("architecture.svg")
WIDTH, MARGIN, GAP, LINE = 1120, 20, 16, 15
LETTER = 6.3  # of a word, in pixels, at the size below
STYLE = """
text{font:12px system-ui,sans-serif;fill:#1c2b2a}.name{font-weight:600}.size{fill:#5b6f6d;text-anchor:end}
rect{fill:#eef5f4;stroke:#2b7a72}path{fill:none;stroke:#2b7a72;stroke-opacity:.45}
@media(prefers-color-scheme:dark){text{fill:#dbe7e6}.size{fill:#9fb5b2}rect{fill:#16302e;stroke:#6dbab1}path{stroke:#6dbab1}}
"""


def layers() -> list[list[str]]:
    """Return the parts, top to bottom, as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return [[part.strip() for part in layer.split("|")] for layer in contracts[0]["layers"]]


def files(part: str) -> list[Path]:
    """Return the sources of a part: a file, or all of a folder."""
    file = SOURCES / f"{part}.py"
    return [file] if file.exists() else sorted((SOURCES / part).rglob("*.py"))


def about(part: str) -> str:
    """Return the first sentence of a part's docstring."""
    file = SOURCES / f"{part}.py"
    tree = ast.parse((file if file.exists() else SOURCES / part / "__init__.py").read_text("utf-8"))
    first = (ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " ")
    return first.rstrip(".").replace("`", "")


def imports(part: str, parts: list[str]) -> set[str]:
    """Return the parts that one imports from."""
    found = set()
    for path in files(part):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module] if node.module != "druthers" else [f"druthers.{one.name}" for one in node.names]
            found |= {name.split(".")[1] for name in names if name.startswith("druthers.")}
    return (found & set(parts)) - {part}


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out each import that a longer way implies."""

    def below(part: str) -> set[str]:
        return set().union(*({each} | below(each) for each in edges[part]))

    return {part: own - set().union(*(below(each) for each in own)) for part, own in edges.items()}


def wrapped(text: str, width: float) -> list[str]:
    """Break a text into lines."""
    lines = [""]
    for word in text.split():
        if lines[-1] and LETTER * (len(lines[-1]) + 1 + len(word)) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def draw() -> str:
    """Return the picture."""
    rows = layers()
    parts = [part for row in rows for part in row]
    edges = reduced({part: imports(part, parts) for part in parts})
    boxes: dict[str, tuple[float, float, float, float]] = {}
    shapes, y = [], float(MARGIN)
    for row in rows:
        width = (WIDTH - 2 * MARGIN - GAP * (len(row) - 1)) / len(row)
        texts = {part: wrapped(about(part), width - 20) for part in row}
        height = 28 + LINE * max(map(len, texts.values()))
        for place, part in enumerate(row):
            x = MARGIN + place * (width + GAP)
            boxes[part] = x, y, width, height
            count = sum(len(path.read_text("utf-8").splitlines()) for path in files(part))
            shapes.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="6"/>')
            shapes.append(f'<text class="name" x="{x + 10:.1f}" y="{y + 18:.1f}">{escape(part)}</text>')
            size = f"{max(round(count, 1 - int(math.log10(count))), 10):,}"
            shapes.append(f'<text class="size" x="{x + width - 10:.1f}" y="{y + 18:.1f}">{size}</text>')
            shapes += [
                f'<text x="{x + 10:.1f}" y="{y + 34 + LINE * k:.1f}">{escape(line)}</text>'
                for k, line in enumerate(texts[part])
            ]
        y += height + 2 * GAP
    lines = []
    for part, own in edges.items():
        for each in sorted(own):
            (x, top, width, height), (other_x, other_y, other_width, _) = boxes[part], boxes[each]
            start, end = x + width / 2, other_x + other_width / 2
            if width > 600:  # from a wide box straight down
                start = min(max(end, x + 20), x + width - 20)
            elif other_width > 600:
                end = min(max(start, other_x + 20), other_x + other_width - 20)
            bottom, bend = top + height, GAP
            lines.append(
                f'<path d="M{start:.1f} {bottom:.1f}C{start:.1f} {bottom + bend:.1f} {end:.1f} {other_y - bend:.1f}'
                f' {end:.1f} {other_y:.1f}"/>'
            )
    box = f'viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}"'
    title = "<title>The parts of druthers, top to bottom: imports go down only</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{title}<style>{STYLE}</style>\n' + "\n".join(
        [*lines, *shapes, "</svg>\n"]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
