"""Talk in a real browser: from a first message to a preference that moved, was corrected, explained and forgotten."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from browsers import WIDTHS, needs_browser, settled, violations
from service_processes import Server, free_port, until

pytestmark = needs_browser()

ODD = '<img src=x onerror="document.title=1">&amp;{{7*7}}'


@pytest.fixture(scope="module")
def server(forker, tmp_path_factory):
    server = Server(forker, tmp_path_factory.mktemp("talk") / "log", free_port())
    server.start(store="memory:", parser="lexicon", exploration=0.2)
    yield server
    server.kill()


def say(page, text):
    """Type a message, and wait until it was answered."""
    before = page.locator(".turn").count()
    page.get_by_label("Your message").fill(text)
    page.keyboard.press("Enter")
    page.locator(".turn").nth(before).wait_for()
    return settled(page)


def weights(page):
    sliders = page.locator(".weight input")
    names = [one.get_attribute("aria-label").removeprefix("Weight of ") for one in sliders.all()]
    return dict(zip(names, [float(one.input_value()) for one in sliders.all()], strict=True))


def wished(page):
    return [text.split(". ")[1] for text in page.locator(".ranking .grip").all_inner_texts()]


def names(page):
    return [text.partition(" ")[2].strip() for text in page.locator(".item h2").all_inner_texts()]


def test_from_a_first_message_to_a_changed_preference(visitor):
    page = visitor.open("/?user=first")
    page.get_by_role("button", name="Cheap and clean, quiet if possible").click()
    page.locator(".weight").first.wait_for()
    settled(page)
    assert wished(page) == ["value", "cleanliness", "sleep quality"]
    assert page.locator("mark.wanted").count() == 3
    assert page.locator(".item").count() == 3
    assert page.locator(".item").first.locator(".aspects li").count() == 6
    assert "Why:" in page.locator(".item .why").first.inner_text()
    before = weights(page)
    assert max(before, key=before.get) == "value"
    with page.expect_response("**/feedback"):
        page.get_by_role("group", name="How was").nth(0).get_by_role("button", name="Awful").click()
    page.locator('.face[aria-pressed="true"]').wait_for()
    settled(page)
    assert weights(page) != before
    assert "1 rating" in page.get_by_role("region", name="Your preferences").inner_text()
    page.get_by_role("button", name="Next round").click()
    page.locator(".turn").nth(1).wait_for()
    settled(page)
    assert page.locator(".earlier").count() == 1
    page.reload()  # the conversation and what was told stay
    page.locator(".weight").first.wait_for()
    assert page.locator(".turn").count() == 2


def test_a_reading_is_put_right_by_drag_by_keys_and_by_adding(visitor, server):
    page = visitor.open("/?user=order")
    say(page, "cheap and clean, quiet if possible")
    chips = page.locator(".ranking .chip")
    low, high = chips.nth(2).bounding_box(), chips.nth(0).bounding_box()
    page.mouse.move(low["x"] + 40, low["y"] + low["height"] / 2)
    page.mouse.down()
    page.mouse.move(high["x"] + 40, high["y"] + high["height"] / 2, steps=8)
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.mouse.up()
    page.get_by_role("button", name="sleep quality, 1st of 3").wait_for()
    settled(page)
    page.get_by_role("button", name="sleep quality, 1st of 3").focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="sleep quality, 2nd of 3").wait_for()
    settled(page)
    assert wished(page) == ["value", "sleep quality", "cleanliness"]
    assert server.ask("GET", "/v1/users/order")[1]["wished"] == ["value", "sleep quality", "cleanliness"]
    page.get_by_role("button", name="cleanliness, 3rd of 3").focus()
    page.keyboard.press("Delete")
    page.get_by_role("button", name="sleep quality, 2nd of 2").wait_for()
    settled(page)
    page.get_by_label("Add", exact=False).select_option("rooms")
    page.get_by_role("button", name="rooms, 3rd of 3").wait_for()
    settled(page)
    page.get_by_role("button", name="Remove value").click()
    page.get_by_role("button", name="rooms, 2nd of 2").wait_for()
    settled(page)
    assert server.ask("GET", "/v1/users/order")[1]["wished"] == ["sleep quality", "rooms"]


def test_limits_are_shown_as_chips_and_taken_off(visitor):
    page = visitor.open("/?user=limits")
    say(page, "clean, at most 90 euros, in Brennick")
    assert page.locator("mark.limit").count() == 2
    assert all("Brennick" in text for text in page.locator(".item .details").all_inner_texts())
    page.get_by_role("button", name="Remove the limit on city").click()
    page.get_by_role("button", name="Remove the limit on city").wait_for(state="detached")
    settled(page)
    assert page.locator(".chip.limit").all_inner_texts() == ["price up to 90\n×"]
    say(page, "at most 3 euros")
    assert "Nothing fits" in page.locator(".answer").last.inner_text()


def test_limits_are_added_by_hand(visitor, server):
    page = visitor.open("/?user=limiter")
    say(page, "cheap and clean")
    page.locator("form.add select").first.select_option("price")
    page.get_by_label("Bound on price").fill("95")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Remove the limit on price").wait_for()
    settled(page)
    page.locator("form.add select").first.select_option("city")
    cities = page.get_by_label("What city must be").locator("option").all_inner_texts()[1:]
    page.get_by_label("What city must be").select_option(label=cities[0])
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Remove the limit on city").wait_for()
    settled(page)
    assert server.ask("GET", "/v1/users/limiter")[1]["limits"] == {"price": {"max": 95}, "city": cities[0]}
    assert all(cities[0] in text for text in page.locator(".item .details").all_inner_texts())


def test_a_weight_is_corrected_by_keys_and_by_mouse(visitor, server):
    page = visitor.open("/?user=weigh")
    say(page, "cheap and clean")
    slider = page.get_by_label("Weight of rooms")
    box = slider.bounding_box()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.mouse.move(box["x"] + 5, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2, steps=5)
        page.mouse.up()
    page.locator(".turn").nth(1).wait_for()
    settled(page)
    found = {one["objective"]: one["weight"] for one in server.ask("GET", "/v1/users/weigh")[1]["weights"]}
    assert found["rooms"] == pytest.approx(0.5, abs=0.06)
    assert sum(found.values()) == pytest.approx(1.0, abs=0.02)
    slider.focus()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.keyboard.press("End")
    page.locator(".turn").nth(2).wait_for()
    settled(page)
    assert weights(page)["rooms"] > 0.9


def test_two_are_compared_and_the_back_button_closes_it(visitor):
    page = visitor.open("/?user=pair")
    say(page, "friendly staff")
    page.get_by_role("button", name="Compare").nth(0).click()
    page.get_by_role("button", name="Compare").nth(2).click()
    table = page.locator(".compare")
    table.wait_for()
    shown = names(page)
    assert table.locator("thead th").all_inner_texts() == ["Aspect", shown[0], shown[2]]
    assert table.locator("tbody tr").count() >= 6
    assert page.evaluate("document.activeElement.id") == "compare-title"
    page.go_back()
    table.wait_for(state="detached")
    page.get_by_role("link", name="API").click()
    page.wait_for_url("**/docs")
    page.go_back()
    page.locator(".item").first.wait_for()


def test_aspects_dislikes_history_and_why(visitor, server):
    page = visitor.open("/?user=felt")
    say(page, "cheap and clean")
    first = page.locator(".item").first
    liked = names(page)[0]
    first.get_by_role("button", name="By aspect").click()
    first.get_by_role("group", name="rooms of").get_by_role("button", name="Bad").click()
    first.get_by_text("noted").wait_for()
    settled(page)
    page.locator(".item").nth(1).get_by_role("button", name="Not for me").click()
    page.locator(".turn").nth(1).wait_for()
    settled(page)
    assert "Without" in page.locator(".answer").last.inner_text()
    page.get_by_role("button", name="History").click()
    entries = page.get_by_role("list", name="History").locator("li")
    entries.nth(2).wait_for()
    told = "\n".join(entries.all_inner_texts())
    assert "“cheap and clean”" in told
    assert liked in told
    assert "rooms" in told
    page.locator(".weight", has_text="value").get_by_role("button", name="What is behind value").click()
    page.get_by_role("list", name="Behind value").locator("li").first.wait_for()
    assert "from words" in page.locator(".weight", has_text="value").inner_text()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    content = json.loads(saved.value.path().read_text())
    assert content["card"]["user"] == "felt"
    said = 2  # the wish, and what was turned down
    assert len(content["history"]) == server.ask("GET", "/v1/users/felt")[1]["feedbacks"] + said


def test_what_is_taken_is_learned_from_and_remembered(visitor, server):
    page = visitor.open("/?user=taker")
    say(page, "cheap and clean, quiet if possible")
    before = server.ask("GET", "/v1/users/taker")[1]["weights"]
    taken = names(page)[2]
    page.get_by_role("button", name=f"Take {taken}").click()
    page.get_by_text("✓ Taken").wait_for()
    settled(page)
    assert server.ask("GET", "/v1/users/taker")[1]["weights"] != before
    assert page.get_by_role("button", name="None of these").count() == 0
    page.get_by_role("button", name="History").click()
    page.get_by_text(f"Picked {taken} before the others").wait_for()
    page.get_by_role("button", name="Next round").click()
    page.locator(".turn").nth(1).wait_for()
    settled(page)
    page.get_by_role("button", name="None of these").click()
    page.get_by_text("Picked none of those shown").wait_for()


def test_forgetting_asks_once_and_leaves_nothing(visitor, server):
    page = visitor.open("/?user=gone")
    say(page, "cheap and clean")
    page.get_by_role("button", name="Forget me").click()
    page.get_by_role("button", name="Keep it").click()
    assert page.locator(".weight").count() == 6
    page.get_by_role("button", name="Forget me").click()
    page.locator("dialog").get_by_role("button", name="Forget me").click()
    page.locator(".weight").first.wait_for(state="detached")
    settled(page)
    assert server.ask("GET", "/v1/users/gone")[0] == 404
    assert page.locator(".turn").count() == 0


def test_the_keyboard_alone_will_do(visitor):
    page = visitor.open("/?user=keys")
    page.get_by_role("button", name="Cheap and clean").wait_for()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
        if reached[-1] == "said":
            break
    assert reached[0] == "Skip to the content"
    assert reached[-1] == "said"
    page.keyboard.type("clean and quiet")
    page.keyboard.press("Enter")
    page.locator(".weight").first.wait_for()
    settled(page)
    assert page.evaluate("document.activeElement.id") == "said"
    assert "Recommended:" in page.locator("[aria-live=polite]").inner_text()


def test_enter_is_not_lost_while_the_page_is_loading(visitor):
    page = visitor.open("/?user=quick")
    waiting = []
    page.route("**/v1/catalog", lambda route: waiting.append(route))  # noqa: PLW0108 - Playwright asks for its signature
    page.reload()
    page.get_by_label("Your message").fill("clean and quiet")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    until(lambda: page.wait_for_timeout(50) or waiting, "the page to ask")
    assert page.locator(".turn").count() == 0
    waiting[0].continue_()
    page.locator(".turn").wait_for()
    settled(page)
    assert page.locator(".turn").count() == 1
    assert page.get_by_label("Your message").input_value() == ""


def reach(page, name):
    """Press Tab until something of this name has the focus."""
    called = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(called).startswith(name):
            return
    pytest.fail(f"{name} is not reached by Tab")


def test_rating_comparing_and_forgetting_by_keys_alone(visitor, server):
    page = visitor.open("/?user=fingers")
    say(page, "clean and quiet")
    reach(page, "Great")
    with page.expect_response("**/feedback"):
        page.keyboard.press("Space")
    page.locator('.face[aria-pressed="true"]').wait_for()
    settled(page)
    reach(page, "Compare")
    page.keyboard.press("Enter")
    reach(page, "Compare")
    page.keyboard.press("Enter")
    page.locator(".compare").wait_for()
    reach(page, "Forget me")
    page.keyboard.press("Enter")
    page.locator("dialog[open]").wait_for()
    reach(page, "Forget me")
    page.keyboard.press("Enter")
    page.locator(".weight").first.wait_for(state="detached")
    assert server.ask("GET", "/v1/users/fingers")[0] == 404


def test_markup_in_names_ids_and_texts_stays_text(visitor, server):
    values = dict.fromkeys(("cleanliness", "location", "rooms", "service", "sleep quality", "value"), 5.0)
    body = {"name": ODD, "description": ODD, "values": values, "details": {ODD: ODD, "city": ODD}}
    assert server.ask("PUT", "/v1/items/odd", body)[0] == 201
    try:
        page = visitor.open(f"/?user={quote('odd~=@+:.')}")
        say(page, f"as clean as possible {ODD}")
        say(page, ODD)
        assert ODD in page.locator(".said").first.inner_text() or "onerror" in page.locator(".said").first.inner_text()
        assert page.locator(".item h2", has_text="<img src=x").count() == 1
        page.get_by_role("button", name="History").click()
        page.get_by_role("list", name="History").locator("li").first.wait_for()
        assert page.locator("main img").count() == 0
        assert page.title() == "Talk · druthers"
    finally:
        server.ask("DELETE", "/v1/items/odd")


def test_the_words_that_counted_are_marked_behind_emoji_too(visitor):
    page = visitor.open("/?user=emoji")
    say(page, "\N{BED}\N{BED} \N{MOUSE FACE} clean and quiet please")
    marked = page.locator("mark.wanted").evaluate_all("all => all.map((one) => one.firstChild.data)")
    assert {"clean", "quiet"} <= set(marked)
    assert not any("\ud800" <= sign <= "\udfff" for sign in page.locator(".said").first.inner_text())


def test_a_service_that_does_not_answer_is_told_with_a_way_out(visitor):
    page = visitor.open("/?user=offline", allow=("ERR_INTERNET_DISCONNECTED", "Failed to load resource"))
    say(page, "cheap")
    page.context.set_offline(True)
    page.get_by_label("Your message").fill("clean")
    page.keyboard.press("Enter")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "does not answer" in alert.inner_text()
    assert page.get_by_label("Your message").input_value() == "clean"
    page.context.set_offline(False)
    alert.get_by_role("button", name="Try again").click()
    alert.wait_for(state="detached")
    page.locator(".turn").nth(1).wait_for()


def test_what_chance_put_there_and_what_is_not_known_are_said(visitor, server):
    values = dict.fromkeys(("cleanliness", "location", "rooms", "service", "value"), 5.0)
    assert server.ask("PUT", "/v1/items/gap", {"name": "Gap Inn", "values": values})[0] == 201
    try:
        page = visitor.open("/?user=chance")
        say(page, "as clean as possible")
        gap = page.locator(".item", has_text="Gap Inn")
        assert "sleep quality is not known of it" in gap.locator(".unsure").inner_text()
        assert gap.locator(".bar.blank").count() == 1
        for _ in range(60):  # one of five decisions is left to chance
            if page.locator(".note.explored").count():
                break
            turns = page.locator(".turn").count()
            page.get_by_role("button", name="Next round").click()
            page.locator(".turn").nth(turns).wait_for()
            settled(page)
        assert "chance put it here" in page.locator(".note.explored").first.inner_text()
    finally:
        server.ask("DELETE", "/v1/items/gap")


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (WIDTHS[0], "dark"),
        pytest.param(WIDTHS[-1], "light", marks=pytest.mark.slow),
        pytest.param(WIDTHS[1], "light", marks=pytest.mark.slow),
        pytest.param(WIDTHS[-1], "dark", marks=pytest.mark.slow),
    ],
)
def test_it_fits_every_width_and_axe_finds_nothing(visitor, width, theme):
    page = visitor.open(f"/?user=axe-{width}-{theme}", width=width, theme=theme)
    page.get_by_role("button", name="Cheap and clean").wait_for()
    assert violations(settled(page)) == []
    say(page, "cheap and clean, at most 120 euros; the location does not matter")
    page.locator(".item").first.get_by_role("button", name="By aspect").click()
    page.get_by_role("button", name="Compare").nth(0).click()
    page.get_by_role("button", name="Compare").nth(1).click()
    page.get_by_role("button", name="History").click()
    page.get_by_role("list", name="History").locator("li").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(settled(page)) == []


def test_what_is_asked_back_is_answered_by_a_tap(visitor, server):
    page = visitor.open("/?user=asked")
    say(page, "cheap")
    answers = page.locator(".question button")
    answers.first.wait_for()
    before = server.ask("GET", "/v1/users/asked")[1]
    answers.first.click()
    page.locator(".turn").nth(1).wait_for()
    settled(page)
    after = server.ask("GET", "/v1/users/asked")[1]
    assert after["weights"] != before["weights"]
    assert (
        after["queries"] + after["feedbacks"] > before["queries"] + before["feedbacks"]
        or after["wished"] != before["wished"]
    )


@pytest.mark.parametrize("id", ["a%2Fb%20c", "%C3%A9", "x" * 201])
def test_who_has_no_id_that_the_service_takes_is_a_guest(visitor, id):
    """It was told that nothing is at this path, and could not talk."""
    page = visitor.open(f"/?user={id}", allow=("404",))
    assert page.locator(".who b").inner_text().startswith("guest-")
    say(page, "cheap")
