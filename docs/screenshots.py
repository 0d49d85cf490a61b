"""Take pictures of every view of the page, in both themes and three widths: `python docs/screenshots.py`.

Starts a service of its own, with people who say and feel something, and drives a chromium. The four pictures that the
documentation shows go to `docs/pictures`; with `--all FOLDER`, all of them go to a folder, to be looked at. `--measure`
prints bytes, first paint and round trips instead.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from druthers.web import load

PICTURES = Path(__file__).with_name("pictures")
WIDTHS = {"phone": 390, "tablet": 768, "desktop": 1440}
THEMES = ("light", "dark")
SAYINGS = (
    "cheap and clean",
    "quiet, then friendly staff",
    "central above all",
    "a big room with a view",
    "only the price matters",
    "friendly and clean, at most 120 euros",
    "I am a light sleeper",
)
TABS = ("traffic", "items", "people", "readings", "events", "settings", "keys")
SHOWN = {  # what the documentation shows: name, view, theme
    "talk": ("talk", "light"),
    "learn": ("demo", "light"),
    "operate": ("operate-people", "light"),
    "talk-dark": ("talk", "dark"),
}


@contextmanager
def service():
    """Start a service, have people talk to it, and return its address."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    home = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "druthers", "serve", "--demo", "--exploration", "0", "--port", str(port)]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not _ready(home):
                assert process.poll() is None, "the service ended"
                time.sleep(0.2)
            _talk(home)
            yield home
        finally:
            process.terminate()
            process.wait()


def _ready(home):
    try:
        return bool(ask(home, "GET", "/readyz"))
    except (urllib.error.URLError, ConnectionError):
        return False


def ask(home, method, path, body=None):
    """Send a request, and return the answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(home + path, data, headers, method=method)) as answer:
        return json.load(answer)


def _talk(home):
    chance = random.Random(1)
    for number in range(24):
        for _ in range(chance.randint(1, 4)):
            made = ask(home, "POST", f"/v1/users/guest-{number}/messages", {"text": chance.choice(SAYINGS)})
            if decision := made["recommendation"]:
                body = {"utility": chance.choice([-1, -0.5, 0, 0.5, 1]), "item": decision["items"][0]["item"]}
                ask(home, "POST", f"/v1/decisions/{decision['id']}/feedback", body)
    ask(home, "POST", "/v1/users/guest-3/queries", {"text": "somewhere with a flarn and a zibble"})


def _settle(page):
    page.locator(".waiting").first.wait_for(state="detached")
    page.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")


def talk(page, home, user):
    """Say something, rate something, and see what moved."""
    page.goto(f"{home}/?user={user}")
    page.get_by_label("Your message").fill("Somewhere central with friendly staff, at most 120 euros")
    page.keyboard.press("Enter")
    page.locator(".weight").first.wait_for()
    _settle(page)
    page.locator(".item").nth(1).get_by_role("button", name="Great").click()
    page.locator('.face[aria-pressed="true"]').wait_for()


def demo(page, home, _):
    """Play a guest to its end."""
    page.goto(f"{home}/demo?corruption=0.1")
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("Lost after round 150").wait_for()


def operate(tab):
    """Return what opens a tab for the operator."""

    def show(page, home, _):
        page.goto(f"{home}/operate?tab={tab}")
        page.locator("main .panel :is(table, .list, .map)").first.wait_for()

    return show


def lab(page, home, _):
    """Open the lab."""
    page.goto(f"{home}/lab")
    page.get_by_role("heading", name="Reports").wait_for()


VIEWS = {"talk": talk, "demo": demo, **{f"operate-{tab}": operate(tab) for tab in TABS}, "lab": lab}


def picture(browser, home, view, width, theme, path):
    """Take one picture."""
    tall = 1180 if width >= WIDTHS["desktop"] else 900  # what stays in sight beside a conversation is seen whole
    context = browser.new_context(viewport={"width": width, "height": tall}, color_scheme=theme)
    page = context.new_page()
    VIEWS[view](page, home, f"{view}-{width}-{theme}")
    _settle(page)
    page.evaluate("scrollTo(0, 0)")  # the bar stays at the top
    path.parent.mkdir(parents=True, exist_ok=True)
    page.locator("body").screenshot(path=path) if width >= WIDTHS["desktop"] else page.screenshot(
        path=path, full_page=True
    )
    context.close()


def measure(browser, home):
    """Print what the page weighs, when it first paints, and what it adds to the API's own time."""
    site = load()
    print(f"{sum(len(content) for _, content in site.files.values()) + len(site.document):,} bytes, all files")
    paints, waits = [], []
    for number in range(5):
        context = browser.new_context()
        page = context.new_page()
        page.goto(home + f"/?user=measure-{number}")
        page.locator(".prompt:enabled").first.wait_for()
        entry = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        paints.append(page.evaluate(entry))
        work = context.new_cdp_session(page)
        work.send("Performance.enable", {"timeDomain": "threadTicks"})  # time of a processor, not of a clock
        for text in ("cheap", "clean", "quiet", "friendly staff", "somewhere central"):
            page.get_by_label("Your message").fill(text)
            page.wait_for_timeout(500)  # until nothing moves any more
            before = _worked(work)
            waits.append((*_round_trip(page), _worked(work) - before))
        context.close()
    print(f"first contentful paint, empty cache: median {statistics.median(paints):.0f} ms, most {max(paints):.0f} ms")
    for name, figures in (
        ("message to changed card", [whole for whole, _, _ in waits]),
        ("the API's own part of it", [api for _, api, _ in waits]),
        ("beside that", [whole - api for whole, api, _ in waits]),
        ("processor time of the page", [work for _, _, work in waits]),
    ):
        print(f"{name}: least {min(figures):.0f} ms, median {statistics.median(figures):.0f} ms of {len(figures)}")


def _worked(session):
    """Return milliseconds of processor time that the page's thread has taken."""
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * found["TaskDuration"]


def _round_trip(page):
    """Return milliseconds from Enter to the new cards being drawn, and those of the requests behind it."""
    return page.evaluate(
        """async () => {
            const before = document.querySelectorAll('.turn').length;
            const since = performance.now();
            const field = document.querySelector('#said');
            field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
            const turns = () => document.querySelectorAll('.turn').length;
            const done = () => turns() > before && !document.querySelector('.waiting');
            await new Promise((end) => {
                const look = () => (done() ? end() : requestAnimationFrame(look));
                look();
            });
            const now = performance.now();
            const asked = performance.getEntriesByType('resource').filter((one) => one.startTime >= since);
            let [api, until] = [0, 0];  // what is asked for at the same time counts once
            for (const one of asked.sort((a, b) => a.startTime - b.startTime)) {
                api += Math.max(0, one.responseEnd - Math.max(one.startTime, until));
                until = Math.max(until, one.responseEnd);
            }
            return [now - since, api];
        }"""
    )


def main():
    """Take the pictures, or measure."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--all", type=Path, metavar="FOLDER")
    options.add_argument("--measure", action="store_true")
    given = options.parse_args()
    with service() as home, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        if given.measure:
            measure(browser, home)
        elif given.all:
            for view in VIEWS:
                for size, width in WIDTHS.items():
                    for theme in THEMES:
                        picture(browser, home, view, width, theme, given.all / f"{view}-{size}-{theme}.png")
        else:
            for name, (view, theme) in SHOWN.items():
                picture(browser, home, view, WIDTHS["desktop"], theme, PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
