"""Sources of provider plugins: the user, the cache, a release, a build, a stand-in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import ReleaseHost, archive
from tools.lock import PROGRAM, locked
from trainyard.engine.pulumi_engine import PulumiEngine
from trainyard.sandbox.engine import EngineError, ensure_plugins, parse_choices, plugins
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.plugins import Plugin, read_plugins, write_plugins

NO_ENGINE = PulumiEngine(directory=Path("/nonexistent"), version="3.0.0", origin="build")
VERSIONS = {name: locked(PROGRAM.path)[f"pulumi-{name}"] for name in plugins.PROVIDERS}


def publish(host: ReleaseHost, name: str) -> None:
    file_name = f"pulumi-resource-{name}-v{VERSIONS[name]}-{this_platform().go_name}.tar.gz"
    content = archive({f"pulumi-resource-{name}": b"#!/bin/sh\necho official\n"})
    host.files[f"get.pulumi.com/releases/plugins/{file_name}"] = content


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make builds write a text; return the versions that were built."""
    versions: list[str] = []

    def build(version: str, target: Path, report: Callable[[str], None]) -> None:
        versions.append(version)
        (target / "pulumi-resource-aws").write_text("built")

    monkeypatch.setattr(plugins, "_build_aws", build)
    return versions


@pytest.mark.usefixtures("cache", "release_host")
def test_without_releases_aws_is_built_and_the_others_are_stand_ins(
    built: list[str], told: list[str]
) -> None:
    found = ensure_plugins(told.append, NO_ENGINE)

    assert [(p.name, p.version, p.origin) for p in found] == [
        ("aws", VERSIONS["aws"], "built"),
        ("eks", VERSIONS["eks"], "stand-in"),
        ("kubernetes", VERSIONS["kubernetes"], "stand-in"),
    ]
    assert built == [VERSIONS["aws"]]
    assert "building it from source" in told[-1]


@pytest.mark.usefixtures("cache", "release_host")
def test_what_was_built_is_kept(built: list[str], told: list[str]) -> None:
    first = ensure_plugins(told.append, NO_ENGINE)

    assert ensure_plugins(told.append, NO_ENGINE) == first
    assert len(built) == 1


@pytest.mark.engine
@pytest.mark.usefixtures("cache", "built")
def test_official_releases_are_installed_by_the_engine(
    release_host: ReleaseHost, pulumi_engine: PulumiEngine, told: list[str], built: list[str]
) -> None:
    for name in plugins.PROVIDERS:
        publish(release_host, name)

    found = ensure_plugins(told.append, pulumi_engine.executable)

    assert [p.origin for p in found] == ["official"] * 3
    for plugin in found:
        program = Path(plugin.directory) / f"pulumi-resource-{plugin.name}"
        assert "official" in program.read_text()
    assert built == []


@pytest.mark.usefixtures("cache", "release_host", "built")
def test_a_plugin_of_the_users_choice_comes_before_every_other(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pulumi-resource-eks").touch()
    monkeypatch.setenv(plugins.PLUGINS_VARIABLE, f"eks={tmp_path}")

    eks = ensure_plugins(told.append, NO_ENGINE)[1]

    assert (eks.origin, eks.directory) == ("chosen", str(tmp_path))


@pytest.mark.usefixtures("cache", "release_host")
def test_a_chosen_directory_without_the_plugin_is_refused(tmp_path: Path, told: list[str]) -> None:
    with pytest.raises(EngineError, match="does not hold pulumi-resource-aws"):
        ensure_plugins(told.append, NO_ENGINE, {"aws": tmp_path})


@pytest.mark.parametrize("choice", ["aws", "aws=", "azure=/opt", "=/opt"])
def test_a_choice_of_another_form_names_the_form(choice: str) -> None:
    with pytest.raises(EngineError, match="write PROVIDER=DIRECTORY"):
        parse_choices([choice])


def test_the_plugins_of_a_sandbox_are_recorded(tmp_path: Path) -> None:
    recorded = (Plugin(name="aws", version="7.0.0", origin="built", directory="/opt"),)
    sandbox = tmp_path / "sandbox"

    assert read_plugins(sandbox) == ()
    write_plugins(sandbox, recorded)
    assert read_plugins(sandbox) == recorded
    (sandbox / "plugins.json").write_text(json.dumps([{"name": "aws"}]))
    assert read_plugins(sandbox) == ()
