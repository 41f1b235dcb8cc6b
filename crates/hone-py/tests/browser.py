"""A headless Chromium, driven over the DevTools protocol: enough to open a page from disk and use it."""

import base64
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

from websockets.sync.client import connect

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]


def find():
    """The path of a browser, or None."""
    own = os.environ.get("HONE_BROWSER")
    return own or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in one browser; the network is off, and everything that goes wrong in the page is kept."""

    def __init__(self, folder, size=(1280, 800)):
        profile = pathlib.Path(folder) / "profile"
        options = [
            "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--use-gl=angle",
            "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", "about:blank",
        ]  # fmt: skip
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([find(), *options], **quiet)
        port = self._wait(lambda: (profile / "DevToolsActivePort").read_text().split()[0])
        pages = self._wait(lambda: json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json")))
        page = next(page for page in pages if page["type"] == "page")
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(connect(page["webSocketDebuggerUrl"], max_size=None))
        self.count, self.problems, self.requests = 0, [], []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.call("Network.emulateNetworkConditions", **offline)

    def _wait(self, look, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                return look()
            except (OSError, IndexError, ValueError):
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def call(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=120))
            if message.get("id") == self.count:
                assert "error" not in message, message["error"]
                return message["result"]
            self._hear(message)

    def _hear(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(parameters["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.problems.append(parameters["args"])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"][:200])

    def run(self, script):
        """The value of an expression in the page; promises are awaited."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, path, fragment=""):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + "#" + fragment)
        self.until("document.documentElement?.dataset.ready === 'true'")

    def until(self, condition, seconds=90):
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never true: {condition}; {self.problems}"
            time.sleep(0.05)

    def mouse(self, kind, x, y, buttons=0):
        button = "left" if kind != "mouseMoved" else "none"
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)

    def drag(self, *places):
        self.mouse("mousePressed", *places[0], 1)
        for place in places[1:]:
            self.mouse("mouseMoved", *place, 1)
        self.mouse("mouseReleased", *places[-1])

    def key(self, key, shift=False):
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 * shift,
                windowsVirtualKeyCode=codes.get(key, 0), text=text if kind == "keyDown" else "",
            )  # fmt: skip

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def picture(self, path):
        """Writes what the page shows as a PNG."""
        image = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(image))

    def close(self):
        self.stack.close()
        self.process.terminate()
        self.process.wait(30)
