"""The site as a reader meets it, from files: on a phone, in search of something."""

import browser
import pytest
from abilities import needs
from places import ALL

# That links lead somewhere is tested without a browser (test_links.py).
pytestmark = [needs("browser"), pytest.mark.slow]
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
# Calls back with the links that a search has found.
FOUND = """
    const list = document.querySelector('#search-results'), done = arguments[0];
    const tell = () => {
      const links = [...list.querySelectorAll('li a')].map((e) => e.href);
      if (links.length) done(links);
      return links.length;
    };
    if (!tell()) new MutationObserver(tell).observe(list, {childList: true, subtree: true});
"""


@pytest.fixture(scope="module")
def driver():
    with browser.opened() as driver:
        driver.set_script_timeout(600)
        yield driver


def test_nothing_is_wider_than_a_phone(driver, site):
    """Pages with tables, pictures and long commands stand for all."""
    some = ("docs/cold-starts.html", "docs/reference/race.html", "docs/reference/json.html",
            "docs/reference/commands/frontload-measure.html", "README.html")
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    wide = {}
    for page in sorted(site.glob("**/*.html")) if ALL else [site / name for name in some]:
        driver.get(page.as_uri())
        assert page.is_file()
        if found := driver.execute_script(TOO_WIDE):
            wide[page.name] = found
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert not wide


def test_search_finds_a_page_without_a_server(driver, site):
    """And no page complains of anything."""
    driver.get(f"{site.as_uri()}/search.html?q=readahead")
    assert all(".html" in link for link in driver.execute_async_script(FOUND))
    assert not driver.get_log("browser")
