"""The names of platforms differ by publisher."""

import platform

import pytest

from trainyard.sandbox.engine import platforms
from trainyard.sandbox.engine.errors import EngineError


@pytest.mark.parametrize(
    ("system", "machine", "go_name", "pulumi_name"),
    [
        ("Linux", "x86_64", "linux-amd64", "linux-x64"),
        ("Linux", "aarch64", "linux-arm64", "linux-arm64"),
        ("Darwin", "arm64", "darwin-arm64", "darwin-arm64"),
        ("Darwin", "x86_64", "darwin-amd64", "darwin-x64"),
    ],
)
def test_a_platform_has_the_names_that_releases_use(
    system: str, machine: str, go_name: str, pulumi_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)

    found = platforms.this_platform()

    assert (found.go_name, found.pulumi_name) == (go_name, pulumi_name)


@pytest.mark.parametrize(("system", "machine"), [("Windows", "AMD64"), ("Linux", "riscv64")])
def test_fails_on_a_platform_without_releases(
    system: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)

    with pytest.raises(EngineError, match=f"{system} on {machine}; trainyard runs on Linux and"):
        platforms.this_platform()
