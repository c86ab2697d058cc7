"""A real browser for the tests of pages: one headless Chromium, told what to do through pipes.

It speaks the Chrome DevTools Protocol: JSON objects, each ended by a zero byte, on the file
descriptors 3 and 4 of the browser. It is started by the first test that asks for it.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.scratch import lasting_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
WIDTHS = (1400, 420)
# The event that a page is loaded may be that of the empty page before it.
_LOADED = """new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", () => done());
})"""
_FAULTS = Path(__file__).with_name("page_faults.js")
_START = """import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4), os.execv(sys.argv[3], sys.argv[3:])"""
# Arrows are drawn when the browser has told the page what is in view, a frame after the layout.
_FRAMES = """new Promise((done) => {
  let left = 3;
  const next = () => {
    left -= 1;
    if (left) requestAnimationFrame(next); else setTimeout(done, 20);
  };
  requestAnimationFrame(next);
})"""


def dom(page: Path, fragment: str = "") -> str:
    """Return the document after its scripts have run; an error in them makes this fail."""
    with _browser().tab() as tab:
        tab.open(page, fragment)
        tab.evaluate(_FRAMES)
        # Virtual time: whatever waits for as long as this happens at once.
        tab.call("Emulation.setVirtualTimePolicy", policy="advance", budget=5_000)
        tab.wait("Emulation.virtualTimeBudgetExpired")
        document = tab.evaluate("document.documentElement.outerHTML")
    assert not tab.complaints, "\n".join(tab.complaints)
    return f"<!doctype html>{document}"


def faults(pages: Mapping[str, str], folder: Path, *, dark: bool = False) -> list[str]:
    """Return what is wrong with how pages look, each on a wide and on a narrow screen.

    ``pages`` has each document by its name, which may end in a fragment such as ``#step=5``. Text
    that is cut, covered, crossed by a line, empty or hard to read is a fault, and so is whatever
    lies beyond the edge.
    """
    found = []
    path = folder / "looked-at.html"
    with _browser().tab() as tab:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        tab.call("Emulation.setEmulatedMedia", features=[scheme])
        for name, document in pages.items():
            path.write_text(document, "utf-8")
            for width in WIDTHS:
                tab.call(
                    "Emulation.setDeviceMetricsOverride",
                    width=width, height=2_600, deviceScaleFactor=1, mobile=False,
                )  # fmt: skip
                tab.open(path, name[name.index("#") :] if "#" in name else "")
                tab.evaluate(_FRAMES)
                told = tab.evaluate(f"{_FAULTS.read_text('utf-8')}\npageFaults()")
                found += [f"{name} at {width}: {one}" for one in told]
    assert not tab.complaints, "\n".join(tab.complaints)
    return found


def close_browser() -> None:
    """End the browser, if one was started, and remove its files."""
    if _browser.cache_info().currsize:
        _browser().close()
        _browser.cache_clear()


@functools.cache
def _browser() -> _Browser:
    return _Browser()


class _Browser:
    """The process, and the messages to and from it."""

    def __init__(self) -> None:
        program = next((found for name in NAMES if (found := shutil.which(name))), None)
        assert program is not None, f"no browser: install one of {', '.join(NAMES)}"
        self._profile = lasting_folder("browser")
        its_in, self._out = _pipe()
        self._in, its_out = _pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(its_in), str(its_out), program, *QUIET,
             f"--user-data-dir={self._profile}"],
            pass_fds=(its_in, its_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(its_in)
        os.close(its_out)
        self._number = 0
        self._messages = self._read()

    def _read(self) -> Iterator[dict[str, Any]]:
        rest = b""
        while data := os.read(self._in, 1 << 20):
            *whole, rest = (rest + data).split(b"\0")
            yield from map(json.loads, whole)
        raise AssertionError(f"the browser ended: status {self._process.wait()}")

    def send(self, method: str, session: str | None, parameters: dict[str, Any]) -> int:
        """Send a command and return its number."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self._out, data) :]
        return self._number

    def receive(self) -> dict[str, Any]:
        """Return the next message of the browser."""
        return next(self._messages)

    def tab(self) -> _Tab:
        """Return a new tab."""
        return _Tab(self)

    def close(self) -> None:
        """End the process: it ends when nothing can command it any more."""
        os.close(self._out)
        self._process.wait(timeout=60)
        os.close(self._in)


class _Tab:
    """A tab; ``complaints`` has the errors of the pages that it opened."""

    def __init__(self, browser: _Browser) -> None:
        self._browser = browser
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []

    def __enter__(self) -> _Tab:
        # Each tab has a context of its own: nothing of one page is there for the next.
        self._context = self.call("Target.createBrowserContext")
        target = self.call("Target.createTarget", url="about:blank", **self._context)
        attached = self.call("Target.attachToTarget", **target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self.call("Target.disposeBrowserContext", **self._context)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command."""
        number = self._browser.send(method, self._session, parameters)
        while (message := self._browser.receive()).get("id") != number:
            self._heed(message)
        assert "error" not in message, f"{method}: {message.get('error')}"
        result: dict[str, Any] = message["result"]
        return result

    def wait(self, event: str) -> None:
        """Return when an event has come since the page was opened."""
        while not any(one["method"] == event for one in self._events):
            self._heed(self._browser.receive())

    def open(self, page: Path, fragment: str) -> None:
        """Open a page, anew even if only its fragment differs, and wait until it is loaded."""
        self.call("Page.navigate", url="about:blank")
        self._events.clear()
        address = f"{page.resolve().as_uri()}{fragment}"
        assert "errorText" not in self.call("Page.navigate", url=address), address
        self.wait("Page.loadEventFired")
        self.evaluate(_LOADED)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, or of the promise that it is."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def _heed(self, message: dict[str, Any]) -> None:
        if "id" in message or message.get("sessionId") != self._session:
            return
        told = message["params"]
        if message["method"] == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.complaints.append(details.get("exception", details).get("description", "error"))
        elif message["method"] == "Runtime.consoleAPICalled":
            self.complaints.append(" ".join(str(one.get("value")) for one in told["args"]))
        elif message["method"] == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.complaints.append(told["entry"]["text"])
        self._events.append(message)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are not those that the browser wants it to have."""
    ends = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
