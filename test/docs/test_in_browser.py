"""The site as a reader meets it, from files: on a phone, in the dark, in search of something."""

import browser
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}

# What reaches beyond the screen, and is not within something that scrolls by itself.
TOO_WIDE = """
    const scrolls = (element) => {
      for (; element && element.tagName != 'ARTICLE'; element = element.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX)) return true;
      return false;
    };
    return [...document.querySelectorAll('article *')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e))
        .map((e) => e.tagName + ': ' + e.textContent.slice(0, 80));
"""


@pytest.fixture(scope="module")
def reader(site):
    """The browser, which has logged nothing yet, and a way to open a page of the site."""
    with browser.opened() as driver:
        yield driver, lambda page: driver.get(f"{site.as_uri()}/{page}")


def test_nothing_is_wider_than_a_phone(reader, site):
    driver, read = reader
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    wide = {}
    # Pages of commands are all made in the same way: two stand for them.
    pages = [page for page in sorted(site.glob("**/*.html"))
             if page.parent.name != "commands" or page.stem in ("frontload-measure", "index")]
    for page in pages:
        read(page.relative_to(site))
        if found := driver.execute_script(TOO_WIDE):
            wide[page.name] = found
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not wide


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_is_that_of_the_theme(reader, theme):
    driver, read = reader
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": theme}]})
    read("docs/cold-starts.html")
    shown = [image.get_attribute("src") for image in driver.find_elements(By.CSS_SELECTOR,
                                                                          "article img")
             if image.is_displayed()]
    assert sum(f".{theme}." in source for source in shown) == 3
    assert not any(".light." in source or ".dark." in source for source in shown
                   if f".{theme}." not in source)


def test_search_finds_a_page_without_a_server(reader):
    driver, read = reader
    driver.get_log("browser")  # of the pages before
    read("search.html?q=readahead")
    found = WebDriverWait(driver, 60).until(
        lambda _: driver.find_elements(By.CSS_SELECTOR, "#search-results li a"))
    assert any(link.get_attribute("href").endswith(".html") for link in found)
    assert not driver.get_log("browser")


def test_pages_complain_of_nothing(reader):
    driver, read = reader
    driver.get_log("browser")
    for page in ("docs/index.html", "docs/cold-starts.html", "README.html"):
        read(page)
    assert not driver.get_log("browser")
