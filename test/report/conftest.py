"""A headless Chromium for the tests of the page, and pages opened in it."""

import json
from pathlib import Path

import browser
import pytest
from frontload.report.page import render


@pytest.fixture(scope="session")
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
        """What the browser has said of the page: errors, violations of its policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked for, but for the page itself."""
        messages = [json.loads(entry["message"])["message"]
                    for entry in self.driver.get_log("performance")]
        return [message["params"]["request"]["url"] for message in messages
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
