"""The report's page in a browser: it opens without a complaint, and its pictures work."""

import json
from pathlib import Path

import browser
import documents
import pytest
from abilities import needs
from frontload.report.page import render
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

pytestmark = needs("browser")
OVERLAY = ".panel:nth-child({}) .overlay"


@pytest.fixture(scope="module")
def chromium():
    with browser.opened() as driver:
        driver.set_script_timeout(900)
        yield driver


# Until the pictures are there, or never will be.
_UNTIL_DRAWN = """
const html = document.documentElement, done = arguments[0];
const look = () => html.dataset.drawn && done();
new MutationObserver(look).observe(html, {attributes: true});
addEventListener("error", () => done());
addEventListener("unhandledrejection", () => done());
look();
"""


class Page:
    """One page in the browser, drawn."""

    def __init__(self, driver, path: Path):
        self.driver = driver
        self.url = path.as_uri()
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        driver.set_window_size(1280, 900)
        for log in ("browser", "performance"):
            driver.get_log(log)  # what the page before it has left
        driver.get(self.url)
        driver.execute_async_script(_UNTIL_DRAWN)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def complaints(self):
        """Errors, violations of the policy, and addresses that were asked for but the page's."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        messages = [json.loads(entry["message"])["message"]
                    for entry in self.driver.get_log("performance")]
        return said + [message["params"]["request"]["url"] for message in messages
                       if message["method"] == "Network.requestWillBeSent"
                       and message["params"]["request"]["url"] != self.url]

    def range(self):
        """What the pictures show, as fractions of the files and microseconds."""
        return [list(map(float, self.one("#panels").get_attribute(f"data-{axis}").split()))
                for axis in "xy"]

    def tip(self):
        """What is said of the event under the pointer, by its heads."""
        tip = self.one("#tip")
        if not tip.is_displayed():
            return None
        return {term.text: value.text for term, value in zip(
            tip.find_elements("css selector", "dt"), tip.find_elements("css selector", "dd"),
            strict=True)}


@pytest.fixture
def open_page(chromium, tmp_path):
    """open_page(document): its page in the browser."""

    def open_page(document) -> Page:
        path = tmp_path / "report.html"
        path.write_bytes(render(document))
        return Page(chromium, path)

    return open_page


def marks(page, kind, panel=1):
    """How many events of a kind a panel shows."""
    return page.run("""return [...document.querySelectorAll(arguments[0])].map(
        (path) => (path.getAttribute("d").match(/M/g) || []).length).reduce((a, b) => a + b, 0)""",
                    f".panel:nth-child({panel}) .marks .{kind}")


def drag(page, start, end, panel=1):
    """Drags between two places of a panel, given as shares of its width and height."""
    overlay = page.one(OVERLAY.format(panel))
    page.run("arguments[0].scrollIntoView({block: 'center'})", overlay)
    size = overlay.rect
    places = [(round((x - 0.5) * size["width"]), round((y - 0.5) * size["height"]))
              for x, y in (start, end)]
    ActionChains(page.driver, duration=20).move_to_element_with_offset(
        overlay, *places[0]).click_and_hold().move_to_element_with_offset(
        overlay, *places[1]).release().perform()


@pytest.mark.parametrize("make", [documents.pair, documents.hostile, documents.bare,
                                  documents.empty,
                                  pytest.param(documents.large, marks=pytest.mark.slow)])
def test_no_complaint_and_no_request(open_page, make):
    """A page opens without an error, and asks for nothing but itself."""
    document = make()
    page = open_page(document)
    assert page.complaints() == []
    assert len(page.all(".panel svg")) == sum(bool(each["files"]) for each in document["variants"])
    page.driver.set_window_size(800, 900)
    assert page.run("return document.documentElement.scrollWidth") <= 800


def test_every_event_is_drawn(open_page):
    """Each panel shows all faults and reads of its variant, or those of the file that is chosen."""
    document = documents.pair()
    page = open_page(document)
    for number, variant in enumerate(document["variants"], 1):
        for kind in "MmF":
            assert marks(page, kind, number) == variant["events"]["kind"].count(kind)

    events = document["variants"][0]["events"]
    second = sum(1 for kind, file in zip(events["kind"], events["file"], strict=True)
                 if kind == "M" and file == 1)
    files = page.one("#file").find_elements(By.TAG_NAME, "option")
    files[2].click()
    assert marks(page, "M") == second
    files[1].click()
    assert marks(page, "M") == 100 - second
    files[0].click()

    for name in ("minor", "code"):
        before = marks(page, "m")
        button = next(each for each in page.all("#legend button") if name in each.text)
        button.click()
        assert marks(page, "m") < before and (name == "code" or marks(page, "m") == 0)
        button.click()
        assert (marks(page, "m"), marks(page, "M")) == (before, 100)
    assert "relocation" in page.one("#legend").text


def test_a_drag_zooms_all_panels(open_page):
    page = open_page(documents.pair())
    whole = page.range()
    events = marks(page, "m", 2)
    drag(page, (0.25, 0.1), (0.5, 0.3))
    (left, right), (top, bottom) = page.range()
    assert (left, right) == pytest.approx((0.25, 0.5), abs=0.01)
    end = whole[1][1]
    assert (top, bottom) == pytest.approx((0.1 * end, 0.3 * end), rel=0.05)
    assert 0 < marks(page, "m", 2) < events
    overlay = page.one(OVERLAY.format(1))
    ActionChains(page.driver).double_click(overlay).perform()
    assert page.range() == whole and marks(page, "m", 2) == events
    drag(page, (0.2, 0.5), (0.8, 0.5))
    assert page.range()[0] == pytest.approx([0.2, 0.8], abs=0.01)
    assert page.range()[1] == whole[1]


def hover(page):
    """Points at the first major fault."""
    overlay = page.one(OVERLAY.format(1))
    page.run("arguments[0].scrollIntoView({block: 'center'})", overlay)
    x, y = page.run("""const path = document.querySelector(".marks .M").getAttribute("d");
        const box = arguments[0].getBoundingClientRect();
        const [x, y] = path.match(/-?[0-9.]+/g).map(Number);
        return [x - box.width / 2, y - box.height / 2]""", overlay)
    ActionChains(page.driver).move_to_element_with_offset(overlay, round(x), round(y)).perform()


def test_hover_tells_the_event(open_page):
    """The event under the pointer is described: file, offset, section, symbol, cause, thread."""
    document = documents.document(documents.variant("only", events=3, symbols=["the::symbol()"]))
    events = document["variants"][0]["events"]
    page = open_page(document)
    hover(page)
    tip = page.tip()
    assert tip["symbol"] == "the::symbol()"
    assert tip["file"] == "/opt/app"
    assert tip["offset"].startswith(hex(events["offset"][0]))
    assert tip["section"] == documents.SECTIONS[events["section"][0]]
    assert tip["cause"] == documents.CAUSES[events["cause"][0]]
    assert tip["thread"] == "4711 of only (4711)"
    assert tip["time"].endswith("ms")
    ActionChains(page.driver).move_to_element(page.one("h1")).perform()
    assert page.tip() is None


def test_reads_backwards_have_arrows(open_page):
    """A read that begins before the one before it is marked by an arrow from there."""
    document = documents.document(documents.variant("only", events=0))
    events = document["variants"][0]["events"]
    events["kind"] = []
    for time, offset, backward in ((1, 2 << 20, 0), (2, 3 << 20, 0), (3, 1 << 20, 1)):
        documents.add_event(events, time_ns=time * 1_000_000, offset=offset, backward=backward)
    events["kind"] = "FFF"
    page = open_page(document)
    assert marks(page, "F") == 3
    assert marks(page, "arrow") == 1
    colour = page.run("return getComputedStyle(document.querySelector('.panel .arrow')).fill")
    assert colour == "rgb(224, 0, 45)"  # as in the exported pictures, and of no cause
    assert marks(page, "jump") == 1


def test_theme_and_print(open_page):
    """The page is as dark as the system is; on paper it is light."""
    page = open_page(documents.pair())
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    white = "rgb(255, 255, 255)"

    def emulate(**medium):
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", medium)

    assert page.run(colour) == white
    emulate(features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert page.run(colour) != white
    emulate(media="print")
    assert page.run(colour) == white and not page.one("#controls").is_displayed()
    assert all(svg.is_displayed() for svg in page.all(".panel svg")) and marks(page, "M") == 100


def test_names_are_text(open_page):
    """No name becomes markup, runs, or turns the direction of what follows it."""
    page = open_page(documents.hostile())
    assert page.run("return window.broken") is None
    assert page.all("img") == []
    text = page.run("return document.body.innerText")
    assert '<img src=x onerror="window.broken=1">' in text
    assert not set("\u202e\u2066\u200f\u2028\x00") & set(page.driver.page_source)
    hover(page)
    assert page.tip() is not None
    assert page.all("#tip img, #legend img, #panels img") == []
    assert page.complaints() == []
