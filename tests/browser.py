"""A headless Chromium, driven by the DevTools protocol."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27, "Tab": 9}
KEYS |= {"Home": 36, "End": 35}
SECONDS = 60  # after which a page that does not change fails a test


def executable():
    """The path of Chromium or Chrome; None if there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


def needs_browser():
    """Marks that skip a test without a browser, or the libraries that drive it."""
    missing = [name for name in ("websocket", "axe_core_python") if find_spec(name) is None]
    missing += [] if executable() else ["chromium (for instance: apt-get install chromium, or set CHROMIUM)"]
    reason = f"requires {', '.join(missing)}"
    is_supported = sys.platform != "win32"  # DevToolsActivePort and signals differ there
    return [pytest.mark.browser, pytest.mark.skipif(bool(missing) or not is_supported, reason=reason)]


def axe_script():
    """The accessibility checker axe-core."""
    (folder,) = find_spec("axe_core_python").submodule_search_locations
    return Path(folder, "axe.min.js").read_text(encoding="utf-8")


class Page:
    """A page of the browser.

    requests: the addresses of all requests. problems: messages of the console, errors and failed requests.
    """

    def __init__(self, socket):
        self.socket, self.number, self.requests, self.problems = socket, 0, [], []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Call a method of the protocol and return its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            self.note(message.get("method"), message.get("params", {}))

    def note(self, event, content):
        """Record an event."""
        if event == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.problems.append(content["exceptionDetails"])
        elif event == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning", "assert"):
            self.problems.append(content["args"])
        elif event == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
            self.problems.append(content["entry"])

    def run(self, expression):
        """The value of an expression of JavaScript, awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, expression):
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.run(f"!!({expression})"):
            assert time.monotonic() < end, (expression, self.run("document.body.innerText"), self.problems)
            time.sleep(0.05)

    def open(self, address):
        """Open an address in this page."""
        self.call("Page.navigate", url=address)

    def text(self, selector):
        """The visible text of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def focus(self, selector):
        """Move the focus to an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")

    def write(self, selector, text):
        """Replace the text of a text box as by typing."""
        self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.focus(); one.select(); }})()"
        )
        for character in text:
            self.call("Input.insertText", text=character)

    def press(self, *keys):
        """Press keys one after another."""
        for key in keys:
            event = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
            if key == "Enter":
                event["text"] = "\r"
            elif len(key) == 1:
                event["text"] = key
            self.call("Input.dispatchKeyEvent", type="keyDown", **event)
            self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in event.items() if k != "text"})

    def box(self, selector):
        """The position of an element: left, top, width, height."""
        code = f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
        return self.run(f"{code} return [b.left, b.top, b.width, b.height]; }})()")

    def mouse(self, kind, x, y, **more):
        """A mouse event at a place."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector):
        """Click the centre of an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        left, top, width, height = self.box(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, left + width / 2, top + height / 2, button="left", clickCount=1)

    def show(self, width=1280, height=860, *, dark=False):
        """Set the size of the window and the colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def screenshot(self, path, *, whole=False):
        """Save what is visible, or the whole page, as PNG."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(b64decode(data))

    def violations(self):
        """What axe-core finds wrong: rules with the elements."""
        self.run(axe_script() + "; 1")
        found = self.run("axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)")
        return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]]) for one in found]


@contextmanager
def browser():
    """A new headless browser with an empty page."""
    import websocket

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        options += [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-proxy-server",
        ]
        command = [executable(), *options, "--remote-debugging-port=0", "--remote-allow-origins=*"]
        process = subprocess.Popen(
            [*command, f"--user-data-dir={folder}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            socket = websocket.create_connection(debugger_address(process, Path(folder)), timeout=SECONDS)
            try:
                yield Page(socket)
            finally:
                socket.close()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def debugger_address(process, folder):
    """The address of the first page of a browser that has just started."""
    from urllib.request import ProxyHandler, build_opener

    end = time.monotonic() + SECONDS
    opener = build_opener(ProxyHandler({}))
    while time.monotonic() < end:
        assert process.poll() is None, f"the browser ended with {process.returncode}"
        file = folder / "DevToolsActivePort"
        if file.is_file() and (port := file.read_text().partition("\n")[0]):
            with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=SECONDS) as answer:
                pages = [one for one in json.load(answer) if one["type"] == "page"]
            if pages:
                return pages[0]["webSocketDebuggerUrl"]
        time.sleep(0.05)
    raise TimeoutError("the browser does not answer")
