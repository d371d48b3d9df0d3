"""The report's page in a browser: it opens without a complaint, and its pictures work."""

import base64

import documents
import pytest

pytest.importorskip("selenium")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

OVERLAY = ".panel:nth-child({}) .overlay"


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
                                  documents.large, documents.four,
                                  documents.measured, documents.empty])
def test_no_complaint_and_no_request(open_page, make):
    """A page opens without an error, and asks for nothing but itself."""
    page = open_page(make())
    assert page.complaints() == []
    assert page.requests() == []
    has_files = any(variant["files"] for variant in make()["variants"])
    assert len(page.all(".panel svg")) == (len(make()["variants"]) if has_files else 0)


def test_every_event_is_drawn(open_page):
    """Each panel shows all faults and reads of its variant."""
    document = documents.pair()
    page = open_page(document)
    for number, variant in enumerate(document["variants"], 1):
        for kind in "MmF":
            assert marks(page, kind, number) == variant["events"]["kind"].count(kind)


def test_a_drag_zooms_all_panels(open_page):
    """What is dragged over fills the pictures, of both variants; a double click shows all."""
    page = open_page(documents.pair())
    all_of_it = page.range()
    events = marks(page, "m", 2)
    drag(page, (0.25, 0.1), (0.5, 0.3))
    (left, right), (top, bottom) = page.range()
    assert (left, right) == pytest.approx((0.25, 0.5), abs=0.01)
    end = all_of_it[1][1]
    assert (top, bottom) == pytest.approx((0.1 * end, 0.3 * end), rel=0.05)
    assert 0 < marks(page, "m", 2) < events
    ActionChains(page.driver).double_click(page.one(OVERLAY.format(1))).perform()
    assert page.range() == all_of_it
    assert marks(page, "m", 2) == events


def test_a_flat_drag_zooms_one_axis(open_page):
    """A drag along the files leaves the time as it is."""
    page = open_page(documents.pair())
    before = page.range()
    drag(page, (0.2, 0.5), (0.8, 0.5))
    assert page.range()[0] == pytest.approx([0.2, 0.8], abs=0.01)
    assert page.range()[1] == before[1]


def test_the_wheel_zooms_with_ctrl_only(open_page):
    """A wheel scrolls the page as ever; with Ctrl it zooms around the pointer."""
    page = open_page(documents.pair())
    whole = page.range()
    turn = """arguments[0].dispatchEvent(new WheelEvent("wheel", {
        deltaY: -100, ctrlKey: arguments[1],
        clientX: arguments[0].getBoundingClientRect().left, cancelable: true}))"""
    overlay = page.one(OVERLAY.format(1))
    page.run(turn, overlay, False)
    assert page.range() == whole
    page.run(turn, overlay, True)
    (left, right), _ = page.range()
    assert left == pytest.approx(0, abs=0.01)
    assert right == pytest.approx(0.72, abs=0.02)


def test_hover_tells_the_event(open_page):
    """The event under the pointer is described: file, offset, section, symbol, cause, thread."""
    document = documents.document(documents.variant("only", events=3, symbols=["the::symbol()"]))
    events = document["variants"][0]["events"]
    page = open_page(document)
    overlay = page.one(OVERLAY.format(1))
    page.run("arguments[0].scrollIntoView({block: 'center'})", overlay)
    x, y = page.run("""const path = document.querySelector(".marks .M").getAttribute("d");
        const box = arguments[0].getBoundingClientRect();
        const [x, y] = path.match(/-?[0-9.]+/g).map(Number);
        return [x - box.width / 2, y - box.height / 2]""", overlay)
    ActionChains(page.driver).move_to_element_with_offset(overlay, round(x), round(y)).perform()
    tip = page.tip()
    assert tip["symbol"] == "the::symbol()"
    assert tip["file"] == "/opt/app"
    assert tip["offset"].startswith(hex(events["offset"][0]))
    assert tip["section"] == documents.SECTIONS[events["section"][0]]
    assert tip["cause"] == documents.CAUSES[events["cause"][0]]
    assert tip["thread"] == "4711"
    assert tip["time"].endswith("µs")
    ActionChains(page.driver).move_to_element(page.one("h1")).perform()
    assert page.tip() is None


def test_keys_do_what_the_pointer_does(open_page):
    """A picture with the focus is zoomed, moved and read by keys."""
    page = open_page(documents.pair())
    svg = page.one(".panel svg")
    before = page.range()
    svg.send_keys("+")
    (left, right), _ = page.range()
    assert right - left == pytest.approx(0.6, abs=0.01)
    svg.send_keys(Keys.ARROW_RIGHT)
    assert page.range()[0][0] > left
    svg.send_keys("0")
    assert page.range() == before
    svg.send_keys("n")
    first = page.tip()
    svg.send_keys("n")
    assert page.tip() != first
    svg.send_keys("p")
    assert page.tip() == first
    svg.send_keys(Keys.ESCAPE)
    assert page.tip() is None


def test_one_file_or_all(open_page):
    """The pictures show the events of all files, or those of the one that was chosen."""
    document = documents.pair()
    page = open_page(document)
    events = document["variants"][0]["events"]
    second = sum(1 for kind, file in zip(events["kind"], events["file"], strict=True)
                 if kind == "M" and file == 1)
    page.one("#file").find_elements(By.TAG_NAME, "option")[2].click()
    assert marks(page, "M") == second
    page.one("button.show").click()
    assert marks(page, "M") == events["kind"].count("M") - second


def test_colours_by_section(open_page):
    """Colours stand for causes, or for sections; the legend names them."""
    page = open_page(documents.pair())
    legend = page.one("#legend")
    assert "relocation" in legend.text
    page.one("#colouring").find_elements(By.TAG_NAME, "option")[1].click()
    assert "relocation" not in legend.text
    assert ".data.rel.ro" in legend.text
    assert marks(page, "M") == 100


def test_the_legend_switches_events_off(open_page):
    """A click on a kind or a cause hides its events, a second one shows them."""
    page = open_page(documents.pair())
    minor = next(button for button in page.all("#legend button") if "minor" in button.text)
    minor.click()
    assert (marks(page, "m"), marks(page, "M")) == (0, 100)
    minor.click()
    assert marks(page, "m") == 200
    code = next(button for button in page.all("#legend button") if "code" in button.text)
    code.click()
    assert marks(page, "m") < 200


def test_reads_backwards_have_arrows(open_page):
    """A read that begins before the one before it is marked by an arrow from there."""
    document = documents.document(documents.variant("only", events=0))
    events = document["variants"][0]["events"]
    for number, offset in enumerate((2 << 20, 3 << 20, 1 << 20)):
        for key, value in {"time_ns": 1_000_000 * (number + 1), "file": 0, "offset": offset,
                           "bytes": 65536, "cause": 4, "section": 1, "symbol": 0,
                           "backward": int(number == 2), "process": 0, "thread": 1}.items():
            events[key].append(value)
    events["kind"] = "FFF"
    page = open_page(document)
    assert marks(page, "F") == 3
    assert marks(page, "arrow") == 1
    colour = page.run("return getComputedStyle(document.querySelector('.panel .arrow')).fill")
    assert colour == "rgb(224, 0, 45)"  # as in the exported pictures, and of no cause
    assert marks(page, "jump") == 1


def test_theme(open_page):
    """The page is as dark as the system is, until its switch is used."""
    page = open_page(documents.pair())
    colour = "return getComputedStyle(document.documentElement).backgroundColor"
    assert page.run(colour) == "rgb(255, 255, 255)"
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
        {"name": "prefers-color-scheme", "value": "dark"}]})
    dark = page.run(colour)
    assert dark != "rgb(255, 255, 255)"
    page.one("#theme").click()
    assert page.run(colour) == "rgb(255, 255, 255)"
    page.one("#theme").click()
    assert page.run(colour) == dark


def test_print(open_page):
    """On paper the page is light, has its pictures, and no controls."""
    page = open_page(documents.pair())
    page.run("document.documentElement.dataset.theme = 'dark'")
    printed = base64.b64decode(page.driver.execute_cdp_cmd(
        "Page.printToPDF", {"printBackground": True})["data"])
    assert printed.startswith(b"%PDF")
    assert page.complaints() == []
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.run("window.dispatchEvent(new Event('beforeprint'))")
    assert page.run("return getComputedStyle(document.documentElement).backgroundColor"
                    ) == "rgb(255, 255, 255)"
    assert not page.one("#controls").is_displayed()
    assert all(svg.is_displayed() for svg in page.all(".panel svg"))
    assert marks(page, "M") == 100
    drawn = page.run("return document.querySelector('.panel svg').viewBox.baseVal.width")
    page.run("window.dispatchEvent(new Event('afterprint'))")
    assert page.run("return document.querySelector('.panel svg').viewBox.baseVal.width") != drawn


def test_tables_sort(open_page):
    """A click on a head sorts by its column, a second one the other way round."""
    page = open_page(documents.pair())
    head = page.all("table.bytes thead tr:last-child th button")[4]
    values = """return [...document.querySelectorAll("table.bytes tbody tr")].map(
        (row) => Number(row.cells[4].dataset.value))"""
    head.click()
    found = page.run(values)
    assert found == sorted(found, reverse=True)
    head.click()
    assert page.run(values) == sorted(found)
    assert page.one("table.bytes th[aria-sort]").text.startswith("wasted")


def test_long_tables_open(open_page):
    """Of a long table the first rows are shown, the others on request."""
    page = open_page(documents.pair())
    table = page.one("#waste table")
    rows = table.find_elements("css selector", "tbody tr")
    assert [row.is_displayed() for row in rows].count(True) == 15
    page.one("#waste button.rest").click()
    assert all(row.is_displayed() for row in rows)


@pytest.mark.parametrize("make", [documents.pair, documents.hostile, documents.four])
@pytest.mark.parametrize("width", [1280, 800])
def test_nothing_is_wider_than_the_page(open_page, make, width):
    """On a laptop and on a narrow window nothing lies beside the page, whatever names are."""
    page = open_page(make())
    page.driver.set_window_size(width, 900)
    assert page.run("return document.documentElement.scrollWidth") <= width


def test_names_are_text(open_page):
    """No name becomes markup, runs, or turns the direction of what follows it."""
    page = open_page(documents.hostile())
    assert page.run("return window.broken") is None
    assert page.all("img") == []
    assert len(page.all("script")) == 3
    text = page.run("return document.body.innerText")
    assert '<img src=x onerror="window.broken=1">' in text
    assert not set("\u202e\u2066\u200f\u2028\x00") & set(page.driver.page_source)
    # Also where the script writes names: in the legend, the choice of files, beside the pointer.
    page.one(".panel svg").send_keys("n")
    for _ in range(20):
        page.one(".panel svg").send_keys("n")
    assert page.tip() is not None
    assert page.all("#tip img, #legend img, #panels img") == []
    assert page.complaints() == []
