"""A real browser for tests: Debian's chromium, driven by Playwright; what goes wrong in a page fails its test."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from functools import cache
from importlib.resources import files

import pytest

PATIENCE = 120_000  # milliseconds that a busy machine may need for anything
WIDTHS = (390, 768, 1440)
THEMES = ("light", "dark")
# Drawn without a graphics card, and without the watch over one, which takes a busy machine for a broken one.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-gpu-compositing",
    "--disable-gpu-watchdog",
    "--disable-dev-shm-usage",
]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def find_chromium():
    """Return where a chromium is, or None."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def needs_browser():
    """Return the mark of a module that needs a browser; without one it is left out, loudly."""
    found = find_chromium()
    reason = "NO BROWSER: the page is not tested; install chromium (apt-get install chromium), or name one in CHROMIUM"
    return [pytest.mark.browser, pytest.mark.skipif(found is None, reason=reason)]


class Visitor:
    """Somebody at a browser: opens pages of a server, and notes every error that a page makes."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        self.errors, self.elsewhere, self.contexts = [], [], []

    def open(self, path="/", *, width=1440, theme="light", allow=(), key=None, still=False):
        """Open a page, by itself in the browser; messages that hold one of `allow` are no errors."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            reduced_motion="reduce" if still else "no-preference",
        )
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        page = context.new_page()
        page.on("console", lambda told: self._note(told, allow))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        if key is not None:
            page.add_init_script(f"sessionStorage.setItem('druthers-key', {key!r})")
        page.goto(f"{self.home}{path}")
        return page

    @property
    def home(self):
        return f"http://127.0.0.1:{self.server.port}"

    def _note(self, told, allow):
        if told.type in ("error", "warning") and not any(part in told.text for part in allow):
            self.errors.append(f"{told.type}: {told.text}")

    def _asked(self, url):
        if not url.startswith((self.home, "blob:", "data:")):
            self.elsewhere.append(url)

    def leave(self):
        for context in self.contexts:
            context.close()
        assert not self.errors, self.errors
        assert not self.elsewhere, self.elsewhere


@contextmanager
def chromium():
    """Start a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=[f"--{one}" for one in OPTIONS])
        yield browser
        browser.close()


CHECK = "axe.run(document, { runOnly: tags, resultTypes: ['violations'] })"
STILL = "Promise.allSettled(document.getAnimations().map(one => one.finished))"
LATE = f"new Promise((_, fail) => setTimeout(() => fail(new Error('waited in vain')), {PATIENCE}))"


@cache
def axe():
    """Return axe-core, read when it is first wanted, so that test modules can be imported without it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def violations(page):
    """Return what axe finds wrong with a page as it is now: rule, and where."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(axe())
    page.evaluate("scrollTo(0, 0)")  # nothing under the bar at the top
    found = page.evaluate(f"tags => Promise.race([{CHECK}, {LATE}])", RULES)
    return [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found["violations"]]


def settled(page):
    """Wait until nothing is loading and nothing moves."""
    page.locator(".waiting").first.wait_for(state="detached")
    page.evaluate(f"Promise.race([{STILL}, {LATE}])")
    return page
