"""See it learn, Operate and Lab in a real browser: every slider, with and without a key, revoking, erasing, reports."""

from __future__ import annotations

import itertools
import json

import pytest
from browsers import PATIENCE, THEMES, WIDTHS, Visitor, needs_browser, settled, violations
from service_processes import Server, free_port, until

from druthers.advisor import events
from druthers.catalogs import Catalog
from druthers.experiments import load_experiment, run_experiment
from druthers.language.evaluation import load_sentences
from druthers.report import write_report
from druthers.report.styles import styles_of
from druthers.service.auth import make_key
from druthers.stores import open_store
from druthers.types import Objective

pytestmark = needs_browser()

ODD = "<img src=x onerror=alert(1)>"
TABS = ("traffic", "items", "people", "readings", "events", "settings", "keys")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder of results with one report in it."""
    folder = tmp_path_factory.mktemp("results")
    small = load_experiment("synthetic").only(["s-ucb", "random"]).with_settings({"runs": 2, "horizon": 40})
    write_report([run_experiment(small, workers=1)], folder / "small" / "report.html")
    return folder


@pytest.fixture(scope="module")
def server(forker, tmp_path_factory, folder):
    server = Server(forker, tmp_path_factory.mktemp("views") / "log", free_port())
    server.start(store="memory:", parser="lexicon", results=str(folder))
    people = {"ada": "cheap and clean", "bob": "central above all", "eve": "friendly staff and quiet"}
    for user, text in people.items():
        made = server.ask("POST", f"/v1/users/{user}/messages", {"text": text})[1]["recommendation"]
        server.ask("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.5})
    server.ask("POST", "/v1/users/odd/queries", {"text": f"{ODD} flarn zibble"})
    for ranking in [["value", "rooms", "service"]] * 8 + [["location", "sleep quality", "cleanliness"]]:
        server.ask("POST", "/v1/users/fickle/queries", {"ranking": ranking})
    yield server
    server.kill()


@pytest.fixture(scope="module")
def locked(forker, tmp_path_factory):
    """Return a server that asks for keys, and an admin's key."""
    home = tmp_path_factory.mktemp("locked")
    server = Server(forker, home / "log", free_port())
    server.start(store=f"sqlite:{home / 'journal.db'}", parser="lexicon", keys="required")
    text, key = make_key("admin", ODD)
    with open_store(f"sqlite:{home / 'journal.db'}") as journal:
        body = {"id": key.id, "digest": key.digest, "role": key.role, "name": key.name}
        journal.append([events.make(events.KEY, body, key=f"{events.KEY}:{key.id}")])
    yield server, text
    server.kill()


def lost(page):
    return [float(text.replace(",", "")) for text in page.locator(".figures td").all_inner_texts()]


def test_the_demo_plays_pauses_steps_and_ends(visitor):
    page = visitor.open("/demo", still=True)  # which else may have played before a busy machine looks
    page.get_by_label("Speed").select_option("slow")
    page.get_by_role("button", name="Play again").click()
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="To the end").click()
    page.get_by_text("Lost after round 150").wait_for()
    listening, deaf, believing = lost(page)
    assert listening < deaf < believing
    assert page.locator(".chart canvas").count() == 1
    page.locator(".chart .u-over").hover()
    page.locator(".chart .tip").get_by_text("does not listen").wait_for()
    assert "listens and learns" in page.locator(".chart [role=img]").get_attribute("aria-label")
    page.get_by_label("Round", exact=True).fill("10")
    page.get_by_text("Lost after round 10").wait_for()
    page.get_by_role("button", name="Step").click()
    page.get_by_text("Lost after round 11").wait_for()
    assert "In round 11 the guest said" in page.locator(".guest").inner_text()
    page.get_by_label("Speed").select_option("fast")
    page.get_by_role("button", name="Play", exact=True).click()
    until(lambda: int(page.get_by_label("Round", exact=True).input_value()) > 12, "the guest to come again")
    page.get_by_label("Fit the one that only listens").check()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("label", "name", "value"),
    [
        ("Objectives named in a message", "length", "1"),
        pytest.param("Messages that are somebody else's", "corruption", "0.5", marks=pytest.mark.slow),
        pytest.param("Noise of stays and moods", "noise", "2", marks=pytest.mark.slow),
    ],
)
def test_every_slider_of_the_demo_changes_the_guest_and_the_address(visitor, label, name, value):
    page = visitor.open("/demo", still=True)
    page.get_by_role("button", name="Play again").wait_for()
    with page.expect_response(f"**/v1/demo?*{name}={value}*") as told:
        page.get_by_label(label).fill(value)
    played = told.value.json()
    assert played["guest"][name] == float(value)
    page.locator('.demo [aria-busy="false"]').wait_for()
    assert f"{name}={value}" in page.url
    if name == "length":
        assert {len(said) for said in played["said"]} == {1}
    if name == "corruption":
        assert any(played["corrupted"])
    page.get_by_label(label).focus()
    with page.expect_response("**/v1/demo?*") as told:  # by keys as well
        page.keyboard.press("Home" if value == "2" else "ArrowRight" if name == "length" else "ArrowLeft")
    assert told.value.json()["guest"][name] != float(value)
    with page.expect_response("**/v1/demo?seed=2*"):
        page.get_by_role("button", name="Another guest").click()


def test_an_operator_looks_searches_sorts_and_erases(visitor, server):
    page = visitor.open("/operate")
    page.get_by_text("Journal position").wait_for()
    page.get_by_role("tab", name="Traffic").focus()
    page.keyboard.press("ArrowRight")
    page.get_by_label("Find").wait_for()
    page.get_by_role("button", name="cleanliness").click()
    best = page.locator("tbody tr").first.inner_text()
    page.get_by_role("button", name="cleanliness").click()
    page.locator("th[aria-sort=ascending]").wait_for()
    assert page.locator("tbody tr").first.inner_text() != best
    page.get_by_label("Find").fill("amberwick")
    page.get_by_text("1 of ").first.wait_for()
    page.get_by_role("tab", name="People").click()
    page.locator(".map circle").nth(2).wait_for()
    assert page.locator(".map path").count() == page.locator(".map + .hint + .list li").count() > 1  # a patch each
    assert "more" in page.locator(".map").get_attribute("aria-label")
    page.get_by_label("Find").fill("ad")
    page.get_by_role("button", name="ada", exact=True).click()
    page.get_by_role("heading", name="ada").wait_for()
    page.get_by_role("button", name="Erase").click()
    page.locator("dialog").get_by_role("button", name="Erase").click()
    page.get_by_role("button", name="ada", exact=True).wait_for(state="detached")
    assert server.ask("GET", "/v1/users/ada")[0] == 404
    page.get_by_role("tab", name="Events").click()
    page.get_by_role("cell", name="erasure").first.wait_for()
    server.ask("POST", "/v1/users/late/messages", {"text": "somewhere central"})
    page.get_by_role("cell", name="somewhere central").wait_for()
    page.get_by_role("tab", name="Settings").click()
    page.get_by_text("memory:", exact=True).wait_for()
    page.go_back()
    page.get_by_role("tab", name="Events", selected=True).wait_for()


def test_doubtful_readings_are_marked_and_exported_as_sentences(visitor, tmp_path):
    page = visitor.open("/operate?tab=readings")
    reading = page.locator(".reading", has_text="flarn")
    reading.wait_for()
    assert page.locator("main img").count() == 0
    assert "fickle" in page.get_by_text("“location, sleep quality and cleanliness”").inner_text()
    reading.get_by_role("button", name="Wrong").click()
    reading.get_by_role("button", name="rooms").click()
    reading.get_by_role("button", name="1. rooms").wait_for()
    reading.get_by_role("button", name="service").click()
    reading.get_by_role("button", name="2. service").wait_for()
    page.reload()  # the journal keeps marks
    reading.get_by_role("button", name="1. rooms").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export as sentences").click()
    target = tmp_path / "sentences.json"
    saved.value.save_as(target)
    (sentence,) = load_sentences(target)
    assert sentence.gold == ("rooms", "service")
    assert sentence.domain == "hotels"
    assert ODD in sentence.query


def test_without_a_key_an_operator_is_asked_for_one_and_keys_are_made_and_revoked(browser, locked):
    server, key = locked
    visitor = Visitor(browser, server)
    page = visitor.open("/operate?tab=keys", allow=("401",))
    asking = page.get_by_role("alert")
    asking.wait_for()
    assert "key is needed" in asking.inner_text()
    asking.get_by_label("Key").fill(key)
    asking.get_by_role("button", name="Use this key").click()
    page.get_by_role("cell", name=ODD).wait_for()
    page.get_by_label("Role").select_option("read")
    page.get_by_label("What it is for").fill("a test")
    page.get_by_role("button", name="Make a key").click()
    made = page.locator(".made code").inner_text()
    headers = {"Authorization": f"Bearer {made}"}
    assert server.ask("GET", "/v1/objectives", **headers)[0] == 200
    page.get_by_role("button", name=f"Revoke {made.split('_')[1]}").click()
    page.locator("dialog").get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name=f"Revoke {made.split('_')[1]}").wait_for(state="detached")
    assert server.ask("GET", "/v1/objectives", **headers)[0] == 401
    assert page.locator("main img").count() == 0
    visitor.leave()


def test_reports_are_listed_and_opened_in_place(visitor):
    page = visitor.open("/lab")
    page.get_by_role("button", name="small", exact=True).click()
    frame = page.frame_locator("iframe.report")
    frame.locator("main").wait_for()
    assert "s-ucb" in frame.locator("body").inner_text()
    assert "report=small" in page.url
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "small.html"
    page.go_back()
    page.locator("iframe.report").wait_for(state="detached")


def test_an_experiment_is_started_watched_and_stopped(visitor, server):
    page = visitor.open("/lab")
    page.get_by_role("spinbutton", name="Rounds").fill("20000")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Stop").wait_for()
    assert server.ask("POST", "/v1/lab/runs", {"experiment": "synthetic"})[0] == 409
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("stopped").first.wait_for()
    assert server.ask("GET", "/v1/lab")[1]["running"]["stage"] == "stopped"


@pytest.mark.slow
def test_an_experiment_is_watched_to_its_end_and_its_report_opened(visitor):
    page = visitor.open("/lab")
    page.get_by_role("combobox", name="Experiment").select_option("preference-error")
    page.get_by_role("spinbutton", name="Runs").fill("1")
    page.get_by_role("spinbutton", name="Rounds").fill("10")
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("progressbar", name="Progress of preference-error").wait_for()
    page.get_by_text("done: its report is listed below").wait_for(timeout=4 * PATIENCE)
    page.get_by_role("button", name="preference-error-1x10").click()
    frame = page.frame_locator("iframe.report")
    frame.locator(".chart canvas").first.wait_for()
    assert "Preference error on synthetic data" in frame.locator("body").inner_text()


def test_a_report_reaches_nothing_and_no_other_file(server):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/v1/lab/reports/small")
    answer = connection.getresponse()
    answer.read()
    assert "sandbox allow-scripts" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    for name in ("..%2F..%2Fetc", "nothing", ".hidden"):
        assert server.ask("GET", f"/v1/lab/reports/{name}")[0] in (404, 422)
    connection.close()


PATHS = [*(f"/operate?tab={tab}" for tab in TABS), "/operate?tab=people&who=bob", "/lab", "/lab?report=small", "/demo"]


def look_at(visitor, width, theme, paths):
    """Check that each view fits a width in a theme, and that axe finds nothing."""
    page = visitor.open("/lab", width=width, theme=theme)
    for path in paths:
        page.goto(f"{visitor.home}{path}")
        page.locator("main .panel").first.wait_for()
        if path == "/demo":
            page.get_by_role("button", name="To the end").click()
        assert settled(page).evaluate("document.documentElement.scrollWidth") <= width, path
        assert violations(page) == [], (path, width, theme)


LOOKS = list(itertools.product(WIDTHS, THEMES))


# Each view once, narrow and dark; the slow test has all widths in all themes.
def test_every_view_fits_and_axe_finds_nothing(visitor):
    look_at(visitor, WIDTHS[0], "dark", PATHS)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_every_view_fits_every_width_and_axe_finds_nothing_in_any_theme(visitor, width, theme):
    look_at(visitor, width, theme, PATHS)


def test_a_browser_without_motion_sees_the_end_at_once(visitor, browser):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{visitor.home}/demo")
    page.get_by_text("Lost after round 150").wait_for()
    assert json.loads(page.locator(".figures").evaluate("one => JSON.stringify(one.rows.length)")) == 4
    context.close()


INK = """(canvas, hex) => {
    const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 250 && wanted.every((part, k) => Math.abs(data[at + k] - part) < 3)) count += 1;
    }
    return count;
}"""


@pytest.fixture
def report(browser, folder):
    """Return what opens a report from disk, and fails the test for any error of it."""
    contexts, errors = [], []

    def start(width=1200, theme="light"):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme))
        contexts[-1].set_default_timeout(PATIENCE)
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        # Reading pixels, as these tests do and the page does not, makes chromium warn that it is slow.
        page.on("console", lambda told: errors.append(told.text) if "willReadFrequently" not in told.text else None)
        page.goto((folder / "small" / "report.html").as_uri())
        page.locator(".chart canvas").first.wait_for()
        return page

    yield start
    for context in contexts:
        context.close()
    assert errors == []


@pytest.mark.parametrize("theme", THEMES)
def test_a_report_toggles_policies_and_shows_values_on_hover(report, theme):
    page = report(theme=theme)
    style = styles_of(["random"])["random"]
    color = style.dark if theme == "dark" else style.color
    chart = page.locator(".chart").first
    bar = page.get_by_role("group", name="Policies shown in the charts")
    assert chart.locator("canvas").evaluate(INK, color) > 100
    bar.get_by_role("button", name="random").click()
    assert bar.get_by_role("button", name="random").get_attribute("aria-pressed") == "false"
    assert chart.locator("canvas").evaluate(INK, color) == 0
    assert "random" not in chart.locator("[role=img]").get_attribute("aria-label")
    bar.get_by_role("button", name="Show all").click()
    assert chart.locator("canvas").evaluate(INK, color) > 100
    box = chart.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = chart.locator(".tip")
    tip.wait_for()
    assert tip.locator("p").inner_text() == "Round 20"
    assert sorted(tip.locator("td:nth-child(2)").all_inner_texts()) == ["random", "s-ucb"]
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")
    page.get_by_role("button", name="Log–log").first.click()
    page.get_by_role("heading", name="How fast regret grows").wait_for()
    chart.locator("[role=img]").focus()
    page.keyboard.press("End")
    tip.get_by_text("Round 40").wait_for()
    page.keyboard.press("Escape")
    tip.wait_for(state="hidden")


def test_a_report_is_printed_in_the_colors_of_paper(report):
    page = report(theme="dark")
    page.emulate_media(media="print")
    style = styles_of(["random"])["random"]
    canvas = page.locator(".chart canvas").first
    until(lambda: canvas.evaluate(INK, style.color) > 100, "the chart in the colors of paper")
    assert canvas.evaluate(INK, style.dark) == 0


@pytest.mark.slow
def test_axe_finds_nothing_in_a_report(report):
    for width, theme in LOOKS:
        page = report(width, theme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert violations(page) == [], (width, theme)


def test_examples_of_what_to_say_are_of_the_catalog_that_is_served(forker, browser, tmp_path):
    price = Objective("price", low=200, high=2000, less_is_better=True)
    weight = Objective("weight", low=0.5, high=4.5, less_is_better=True)
    shop = Catalog("laptops", (price, Objective("battery life", low=2, high=20), weight), ())
    shop.save(tmp_path / "laptops.toml")
    server = Server(forker, tmp_path / "log", free_port())
    server.start(store="memory:", parser="lexicon", catalog=str(tmp_path / "laptops.toml"))
    visitor = Visitor(browser, server)
    try:
        page = visitor.open("/?user=ada")
        page.locator(".prompt").first.wait_for()
        assert page.locator(".prompt").all_inner_texts() == [
            "Low price and good battery life",
            "Good battery life, price at most 1100",
            "Low weight; the price does not matter",
        ]
        assert page.get_by_label("Your message").get_attribute("placeholder") == "Low price and good battery life …"
        visitor.leave()
    finally:
        server.kill()
