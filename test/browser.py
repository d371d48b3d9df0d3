"""A headless Chromium for the tests of pages."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import abilities

OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--hide-scrollbars", "--window-size=1280,900", "--force-prefers-reduced-motion")


@contextmanager
def opened() -> Iterator:
    """The browser, by selenium. It keeps nothing: its profile is a folder that is removed."""
    abilities.need("browser")
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="frontload-chromium.",
                                     ignore_cleanup_errors=True) as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(driver))
        try:
            yield driver
        finally:
            driver.quit()
