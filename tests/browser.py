"""Pages in a real browser, without a network: Chromium, driven by Selenium."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER and find_spec("selenium") and find_spec("axe_core_python")),
    reason="needs chromium, chromedriver and `make setup EXTRAS=site`",
)
QUIET = (
    "headless=new no-sandbox disable-gpu disable-quic no-first-run disable-background-networking "
    "disable-component-update disable-sync hide-scrollbars"
)
# Ends when all is loaded, drawn in two frames (scripts draw when they know the size of the window),
# and no colour changes any more.
DRAWN = """
const done = arguments[arguments.length - 1];
const frame = () => new Promise(requestAnimationFrame);
const loaded = new Promise(ready => document.readyState === "complete"
  ? ready() : addEventListener("load", ready));
loaded.then(() => document.fonts.ready).then(frame).then(frame)
  .then(() => Promise.allSettled(document.getAnimations().map(animation => animation.finished)))
  .then(frame).then(() => done());
"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser that reaches no host; what it downloads is in `browser.downloads`."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in QUIET.split():
        options.add_argument(f"--{flag}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    browser.set_script_timeout(300)
    browser.downloads = tmp_path_factory.mktemp("downloads")
    where = {"behavior": "allow", "downloadPath": str(browser.downloads)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    yield browser
    browser.quit()


def show(browser, path, fragment="", width=1400, dark=False):
    """Show a file in a window of this width, as somebody sees it who comes for the first time."""
    browser.get("about:blank")  # else another fragment of the page shown would not load it again
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get(Path(path).as_uri() + (f"#{fragment}" if fragment else ""))
    browser.execute_async_script(DRAWN)


def axe_findings(browser, impacts=("serious", "critical")):
    """What axe finds wrong with the page that is shown, as sentences."""
    import axe_core_python

    script = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    found = browser.execute_async_script(
        "axe.run({iframes: false, resultTypes: ['violations']}).then(arguments[0])"
    )
    return [
        f"{violation['id']}: {node['html'][:150]}"
        for violation in found["violations"]
        if violation["impact"] in impacts
        for node in violation["nodes"]
    ]
