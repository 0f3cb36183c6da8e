"""Chromium without a window, which looks at pages and pictures.

It is the one on the PATH, otherwise that of the distribution's packages, unpacked into the cache.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.sandbox.engine import cache
from trainyard.sandbox.engine.debian_packages import has_packages, unpack_packages
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.progress import Progress

_PACKAGE = "chromium-headless-shell"
NAMES = (_PACKAGE, "chromium", "chromium-browser", "google-chrome")
"""Programs of Debian, other distributions and Google."""
_PACKAGES = (_PACKAGE, "fonts-liberation")
_PROGRAM = f"usr/lib/chromium/{_PACKAGE}"
_FONTS = """\
<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>/usr/share/fonts</dir><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A browser."""

    program: str
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables that it needs."""


def ensure_chromium(report: Progress) -> Chromium:
    """Return a Chromium; download it first if the machine has none.

    Raises:
        EngineError: there is none, and it cannot be downloaded.
    """
    installed = next(filter(None, map(shutil.which, NAMES)), None)
    if installed is not None:
        return Chromium(installed)
    if not has_packages():
        raise EngineError(f"there is no Chromium: install it, so that {NAMES[1]} is on the PATH")
    root = cache.cache_directory() / "chromium"
    directory = root / cache.content_key([Path(__file__)], str(root))
    entry = cache.Entry(directory=directory, files=(_PROGRAM,))
    if not entry.complete():
        with cache.filling(entry, report) as target:
            if target is not None:
                report("downloading Chromium (100 MB, usually 30 s)")
                unpack_packages(_PACKAGES, target)
                fonts = directory / "usr/share/fonts"
                text = _FONTS.format(fonts=fonts, cache=directory / "font-cache")
                (target / "fonts.conf").write_text(text, encoding="utf-8")
    (libraries,) = directory.glob("usr/lib/*-linux-gnu")
    return Chromium(
        str(directory / _PROGRAM),
        {
            "LD_LIBRARY_PATH": f"{libraries}:{libraries / 'pulseaudio'}",
            "FONTCONFIG_FILE": str(directory / "fonts.conf"),
        },
    )
