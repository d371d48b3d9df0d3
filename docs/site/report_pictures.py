"""Takes the pictures of a report for the documents: its head, and its faults in both themes.

    docs/site/report_pictures.py starts.html

`starts.html` is the report of docs/cold-starts.md. The test's browser (test/browser.py) draws it.
"""

import base64
import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "scripts")]
import browser  # noqa: E402

WIDTH, HEAD, ZOOM = 1280, 1100, 1.5
# Shows the first file alone, and returns where picture and legend are.
FAULTS = """
    const file = document.querySelector('#controls select');
    file.selectedIndex = 1;
    file.dispatchEvent(new Event('change'));
    const [panels, legend] = ['panels', 'legend'].map(
        (id) => document.getElementById(id).getBoundingClientRect());
    return [panels.left - 8, panels.top + scrollY, panels.width + 16,
            legend.bottom - panels.top + 8];
"""


def take(driver, place: tuple[float, float, float, float], zoom: float, file: str) -> None:
    names = dict(zip(("x", "y", "width", "height"), place, strict=True))
    data = driver.execute_cdp_cmd("Page.captureScreenshot", {
        "clip": {**names, "scale": zoom}, "captureBeyondViewport": True})["data"]
    picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    picture.quantize(64).save(ROOT / "docs" / file, optimize=True)


if __name__ == "__main__":
    with browser.opened() as opened:
        for theme in ("light", "dark"):
            opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": theme}]})
            for width, file in (WIDTH, "report.png"), (1060, f"cold-starts/faults.{theme}.png"):
                opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": HEAD, "deviceScaleFactor": 1, "mobile": False})
                opened.get(Path(sys.argv[1]).absolute().as_uri())
                if width != WIDTH:
                    take(opened, opened.execute_script(FAULTS), ZOOM, file)
                elif theme == "light":
                    take(opened, (0, 0, WIDTH, HEAD), 1, file)
