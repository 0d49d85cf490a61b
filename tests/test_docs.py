"""What the documentation names is there: files, pages, headings, tests, experiments, settings."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from druthers import errors
from druthers.experiments import experiment_names

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "src|tests|docs|benchmarks|examples|experiments"
# Where the examples of CONTRIBUTING.md would be put.
EXAMPLES = {"policies/borda.py", "anchors/onestep.py", "environments/tastes.py"}


on_every_page = pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])


def headings(path):
    """Return the anchors of a page's headings, as they are linked to."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    plain = (re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in plain}


@on_every_page
def test_every_file_that_is_named_exists(path):
    text = path.read_text("utf-8")
    named = re.findall(rf"(?<![\w./])((?:{FOLDERS})/[\w./-]*\w\.(?:py|md|toml|c|json|js|css|html))\b", text)
    named += re.findall(r"`((?:policies|anchors|environments|stores|language|advisor|service)/\w+\.py)`", text)
    missing = [
        name
        for name in named
        if not any((folder / name).exists() for folder in (ROOT, ROOT / "src" / "druthers"))
        and name.removeprefix("src/druthers/") not in EXAMPLES
    ]
    assert missing == []


@on_every_page
def test_every_link_leads_somewhere(path):
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, heading = link.partition("#")
        target = path.parent / file if file else path
        if not target.exists() or (heading and target.suffix == ".md" and heading not in headings(target)):
            lost.append(link)
    assert lost == []


@on_every_page
def test_every_test_that_is_named_exists(path):
    written = "".join(file.read_text("utf-8") for file in (ROOT / "tests").glob("*.py"))
    known = set(re.findall(r"def (test_\w+)", written)) | {file.stem for file in (ROOT / "tests").glob("*.py")}
    assert set(re.findall(r"\b(test_\w+)", path.read_text("utf-8"))) - known == set()


@on_every_page
def test_every_experiment_that_is_played_exists(path):
    played = re.findall(r"druthers (?:run|sweep|log) ([a-z][\w-]*)(?![\w./-])", path.read_text("utf-8"))
    assert set(played) - set(experiment_names()) == set()


def test_every_experiment_is_on_the_page_of_the_lab():
    text = (ROOT / "docs" / "lab.md").read_text("utf-8")
    assert [name for name in experiment_names() if f"`{name}`" not in text] == []


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    for path in PAGES:
        named = re.findall(r"(?:`|^)make ([a-z][a-z -]*)(?:`| *#|$)", path.read_text("utf-8"), re.M)
        assert {target for words in named for target in words.split()} <= targets, path.name


def test_every_extra_that_is_named_exists():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for path in PAGES:
        named = re.findall(r"pip install '(?:druthers|\.)\[([\w,]+)\]'", path.read_text("utf-8"))
        assert {extra for words in named for extra in words.split(",")} <= set(extras), path.name


def test_the_glossary_names_what_is_in_the_code():
    """Every name of code in the last column is a word of the sources."""
    rows = re.findall(r"^\|.*\|.*\|(.*)\|$", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.M)[2:]
    named = {
        word for row in rows for code in re.findall(r"`([^`]+)`", row) for word in re.findall(r"[A-Za-z_]{2,}", code)
    }
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "src" / "druthers").rglob("*.py"))
    assert len(rows) > 20
    assert sorted(named - set(re.findall(r"\w+", sources))) == []


def test_the_tree_of_errors_is_whole():
    """Every error stands in it once, with what else it is."""
    tree = (ROOT / "docs" / "inside.md").read_text("utf-8").partition("DruthersError\n")[2].partition("```")[0]
    drawn = re.findall(r"^[│ ├└─]*([A-Z]\w+) *(?:\((\w+)\))?", tree, re.M)
    known = {name: kind for name, kind in vars(errors).items() if getattr(kind, "__module__", "") == "druthers.errors"}
    known = {name: kind for name, kind in known.items() if isinstance(kind, type)}
    assert sorted(name for name, _ in drawn) == sorted(set(known) - {"DruthersError"})
    for name, also in drawn:
        assert not also or also in {kind.__name__ for kind in known[name].__mro__}


def test_the_picture_of_the_architecture_is_true():
    """But for how many lines each part has: `python docs/draw.py` draws it anew."""
    spec = importlib.util.spec_from_file_location("draw", ROOT / "docs" / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)

    def shapes(picture):
        return [line for line in picture.splitlines() if 'class="size"' not in line]

    assert shapes(draw.PICTURE.read_text("utf-8")) == shapes(draw.draw())
