"""A headless Chromium, driven by the DevTools protocol."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
KEYS = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Escape": 27, "Tab": 9}
KEYS |= {"Home": 36, "End": 35}
SECONDS = 60  # after which a page that does not change fails a test


def executable() -> str | None:
    """The path of Chromium or Chrome; None if there is none."""
    return next(filter(None, map(shutil.which, (os.environ.get("CHROMIUM", ""), *NAMES))), None)


def axe_script() -> str:
    """The accessibility checker axe-core."""
    spec = find_spec("axe_core_python")
    assert spec is not None
    (folder,) = spec.submodule_search_locations or []
    return Path(folder, "axe.min.js").read_text(encoding="utf-8")


class Page:
    """A page of the browser.

    requests: the addresses of all requests. problems: messages of the console, errors and failed requests.
    """

    def __init__(self, socket: Any) -> None:
        self.socket, self.number = socket, 0
        self.requests: list[str] = []
        self.problems: list[Any] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            self.note(message.get("method"), message.get("params", {}))

    def note(self, event: str | None, content: dict[str, Any]) -> None:
        """Record an event."""
        if event == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.problems.append(content["exceptionDetails"])
        elif event == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning", "assert"):
            self.problems.append(content["args"])
        elif event == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
            self.problems.append(content["entry"])

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript, awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + SECONDS
        while not self.run(f"!!({expression})"):
            assert time.monotonic() < end, (expression, self.run("document.body.innerText"), self.problems)
            time.sleep(0.05)

    def open(self, address: str) -> None:
        """Open an address in this page."""
        self.call("Page.navigate", url=address)

    def text(self, selector: str) -> str:
        """The visible text of an element."""
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def focus(self, selector: str) -> None:
        """Move the focus to an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")

    def write(self, selector: str, text: str) -> None:
        """Replace the text of a text box as by typing."""
        self.run(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)}); one.focus(); one.select(); }})()"
        )
        for character in text:
            self.call("Input.insertText", text=character)

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        for key in keys:
            event = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
            if key == "Enter":
                event["text"] = "\r"
            elif len(key) == 1:
                event["text"] = key
            self.call("Input.dispatchKeyEvent", type="keyDown", **event)
            self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in event.items() if k != "text"})

    def box(self, selector: str) -> list[float]:
        """The position of an element: left, top, width, height."""
        code = f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
        return self.run(f"{code} return [b.left, b.top, b.width, b.height]; }})()")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """A mouse event at a place."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, selector: str) -> None:
        """Click the centre of an element."""
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        left, top, width, height = self.box(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, left + width / 2, top + height / 2, button="left", clickCount=1)

    def show(self, width: int = 1280, height: int = 860, *, dark: bool = False) -> None:
        """Set the size of the window and the colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def screenshot(self, path: str | Path) -> None:
        """Save what is visible as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(b64decode(data))

    def violations(self) -> list[tuple[str, str, list[str]]]:
        """What axe-core finds wrong: rules with the elements."""
        self.run(axe_script() + "; 1")
        found = self.run("axe.run(document, {resultTypes: ['violations']}).then((result) => result.violations)")
        return [(one["id"], one["impact"], [node["html"][:200] for node in one["nodes"]]) for one in found]


@contextmanager
def browser() -> Iterator[Page]:
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


def debugger_address(process: "subprocess.Popen[bytes]", folder: Path) -> str:
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
                return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise TimeoutError("the browser does not answer")
