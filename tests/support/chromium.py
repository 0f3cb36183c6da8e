"""Chromium without a window, over the DevTools protocol.

Source: https://chromedevtools.github.io/devtools-protocol/ and, for `--remote-debugging-pipe`,
https://chromium.googlesource.com/chromium/src/+/main/content/public/common/content_switches.cc:
messages are JSON with a zero byte at the end; the browser reads descriptor 3 and writes to 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.programs.chromium import ensure_chromium

_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")


@dataclass(slots=True)
class Page:
    """An open page."""

    _write: int
    _read: int
    _session: str = ""
    _number: int = 0
    _rest: bytes = b""
    requests: list[str] = field(default_factory=list)
    """Addresses that the page has asked for."""

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._read, 1 << 16)
            assert data, "Chromium ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        event = json.loads(message)
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        return event

    def attach(self) -> None:
        """Begin with an empty page."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        made = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = made["sessionId"]
        self.command("Network.enable")

    def show(self, document: str) -> None:
        """Replace the page by a document."""
        frame = self.command("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self.command("Page.setDocumentContent", frameId=frame, html=document)

    def open(self, file: Path) -> None:
        """Go to a page on the disk, until it is loaded."""
        self.command("Page.navigate", url=file.as_uri())
        while self.value("document.readyState") != "complete":
            pass

    def resize(self, width: int, height: int) -> None:
        """Set the size of the screen in CSS pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def value(self, expression: str) -> Any:
        """Return the value of an expression in JavaScript."""
        found = self.command("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def dark(self) -> None:
        """Let the system prefer dark colors."""
        feature = {"name": "prefers-color-scheme", "value": "dark"}
        self.command("Emulation.setEmulatedMedia", features=[feature])

    def press(self, key: str) -> None:
        """Press and release a key, such as `Tab`."""
        codes = {"Tab": 9, "Enter": 13}
        for type_ in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and type_ == "keyDown" else {}
            self.command(
                "Input.dispatchKeyEvent",
                type=type_,
                key=key,
                code=key,
                windowsVirtualKeyCode=codes[key],
                **text,
            )


SCREENS = {"phone": (390, 844), "desktop": (1440, 900)}
"""Sizes in CSS pixels of a current phone and of a laptop."""
CUT_OFF = """\
[document.documentElement, ...document.querySelectorAll('body, main, main *')].filter(each => {
  const {overflowX} = getComputedStyle(each);
  const isHidden = overflowX === 'hidden' || overflowX === 'clip';
  const isPage = each === document.documentElement;
  const room = isPage ? innerWidth : each.clientWidth;
  return (isPage || isHidden) && room > 1 && each.scrollWidth > room + 1;
}).map(each => `${each.tagName} ${each.className}: ${each.scrollWidth}`)"""
"""What is wider than the screen, or than an element that does not scroll."""


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Yield a page of a browser that ends with the context."""
    browser = ensure_chromium(print)
    (to_browser, to_us), (from_us, from_browser) = os.pipe(), os.pipe()
    # Gives the descriptors the numbers that the browser expects; not all shells know those above 9.
    script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
    process = subprocess.Popen(
        ["bash", "-c", script, "bash", browser.program, *_ARGUMENTS, f"--user-data-dir={profile}"],
        pass_fds=(to_browser, from_browser),
        env={**os.environ, **browser.variables, "HOME": str(profile)},
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(from_browser)
    page = Page(to_us, from_us)
    try:
        page.attach()
        yield page
    finally:
        process.kill()
        process.wait()
        os.close(to_us)
        os.close(from_us)
