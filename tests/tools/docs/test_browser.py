"""The pages are looked at with a Chromium of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.browser import take_screenshots
from tools.docs.building import SiteError


def test_without_a_browser_the_message_says_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SiteError, match=r"apt-get install .* chromium-headless-shell"):
        take_screenshots(tmp_path, tmp_path / "pictures", print)
