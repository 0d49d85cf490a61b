"""The page: its files, ready to be served, and the one document that loads them."""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILES = Path(__file__).with_name("files")
VIEWS = ("/", "/demo", "/operate", "/lab")
KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
# Of all that a browser could load or run, only files of this service; no text becomes markup.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)


class Site(NamedTuple):
    """All files of the page."""

    version: str  # a digest of all of them: files are asked for under it, so that a browser may keep them for ever
    files: dict[str, tuple[str, bytes]]  # kind and bytes of each, by its path
    document: bytes  # what every view starts from


@cache
def load() -> Site:
    """Return the page, read once.

    Examples
    --------
    >>> site = load()
    >>> site.files["main.js"][0], f"/assets/{site.version}/main.js".encode() in site.document
    ('text/javascript; charset=utf-8', True)
    """
    found = {path.relative_to(FILES).as_posix(): path.read_bytes() for path in FILES.rglob("*") if path.is_file()}
    found = dict(sorted(found.items()))
    whole = hashlib.sha256()
    for path, content in found.items():
        whole.update(b"%s %d " % (path.encode(), len(content)) + content)
    version = whole.hexdigest()[:16]
    frame = found.pop("index.html").decode()
    modules = [path for path in found if path.endswith(".js") and path not in LATER]
    loads = "\n".join(f'<link rel="modulepreload" href="/assets/{version}/{path}">' for path in modules)
    document = frame.replace("{{version}}", version).replace("{{modules}}", loads)
    return Site(version, {path: (KINDS[path.rpartition(".")[2]], found[path]) for path in found}, document.encode())


# Not a module, and what only some views load.
LATER = ("theme.js", "plot.js", "vendor/uplot.js")


def text_of(path: str) -> str:
    """Return a file of the page."""
    return load().files[path][1].decode()


def script(*paths: str) -> str:
    """Return modules of the page as one plain script, for pages that are a single file; licenses become comments.

    They stand in the order in which they need each other, and share their names.

    Examples
    --------
    >>> made = script("vendor/LICENSE-uplot.txt", "vendor/uplot.js", "plot.js")
    >>> "MIT License" in made, "class Plot {" in made, "export " in made, "import " in made
    (True, True, False, False)
    """
    parts = [f"/*\n{text_of(path)}*/\n" if path.endswith(".txt") else LINKS.sub("", text_of(path)) for path in paths]
    return "".join(parts)


# What ties modules together: imports, and the word or the line that exports.
LINKS = re.compile(r"^(import .*\n|export default .*\n|export )", re.MULTILINE)
