"""Sources of the Kubernetes programs: the cache, releases, or builds. No network."""

import hashlib
import io
import platform
import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import ReleaseHost
from trainyard.sandbox.engine import (
    EngineError,
    download,
    ensure_kubernetes,
    kubernetes_programs,
    pins,
)
from trainyard.sandbox.engine.errors import RefusedDownloadError

KUBERNETES = f"dl.k8s.io/v{pins.KUBERNETES_VERSION}/bin/linux/amd64"
ETCD = f"github.com/etcd-io/etcd/releases/download/v{pins.ETCD_VERSION}"
ETCD_NAME = f"etcd-v{pins.ETCD_VERSION}-linux-amd64"
EVERY_PROGRAM = {
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    "authenticator",
}


@pytest.fixture(autouse=True)
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "Linux", "x86_64")


def on(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    """Choose the operating system and the processor."""
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)


@pytest.fixture
def releases(release_host: ReleaseHost) -> ReleaseHost:
    """Every released file with its checksum, under the publishers' names."""
    for program in pins.KUBERNETES_PROGRAMS:
        content = f"released {program}".encode()
        release_host.files[f"{KUBERNETES}/{program}"] = content
        digest = hashlib.sha256(content).hexdigest()
        release_host.files[f"{KUBERNETES}/{program}.sha256"] = digest.encode()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo(f"{ETCD_NAME}/etcd")
        member.size = len(b"released etcd")
        tar.addfile(member, io.BytesIO(b"released etcd"))
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    release_host.files[f"{ETCD}/{ETCD_NAME}.tar.gz"] = packed.getvalue()
    release_host.files[f"{ETCD}/SHA256SUMS"] = f"{digest}  {ETCD_NAME}.tar.gz\n".encode()
    return release_host


@pytest.mark.usefixtures("cache", "releases")
def test_releases_are_verified_and_the_companions_built(fake_go: Path, told: list[str]) -> None:
    programs = ensure_kubernetes(told.append, checksums={})

    assert set(programs) == EVERY_PROGRAM
    for name in (*pins.KUBERNETES_PROGRAMS, "etcd"):
        (path,) = programs[name]
        assert Path(path).read_text() == f"released {name}"
    (build,) = fake_go.read_text().splitlines()
    assert build.endswith(" ./cmd/companions")
    assert programs["kwok"][0] == programs["authenticator"][0]
    assert (programs["kwok"][1:], programs["authenticator"][1:]) == (["kwok"], ["authenticator"])


@pytest.mark.usefixtures("cache")
def test_what_is_kept_needs_neither_a_release_nor_go(
    releases: ReleaseHost, fake_go: Path, told: list[str], commands: Callable[[str, str], Path]
) -> None:
    first = ensure_kubernetes(told.append, checksums={})
    releases.files.clear()
    fake_go.unlink()
    commands("go", "exit 1")
    told.clear()

    assert ensure_kubernetes(told.append, checksums={}) == first
    assert told == []


@pytest.mark.usefixtures("cache", "release_host")
def test_without_releases_one_binary_is_every_program(fake_go: Path, told: list[str]) -> None:
    programs = ensure_kubernetes(told.append, checksums={})

    assert set(programs) == EVERY_PROGRAM
    assert len({command[0] for command in programs.values()}) == 1
    assert all(command[1:] == [name] for name, command in programs.items())
    assert len(fake_go.read_text().splitlines()) == 1
    assert any("404" in line and "building the same version" in line for line in told)


@pytest.mark.usefixtures("cache", "release_host")
def test_a_built_api_server_says_its_real_version(fake_go: Path, told: list[str]) -> None:
    ensure_kubernetes(told.append, checksums={})

    build = fake_go.read_text().splitlines()[0]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"-X {package}.gitVersion=v{pins.KUBERNETES_VERSION}" in build


@pytest.mark.parametrize(
    "path", [f"{KUBERNETES}/kubectl.sha256", f"{ETCD}/SHA256SUMS"], ids=["kubernetes", "etcd"]
)
@pytest.mark.usefixtures("fake_go")
def test_refuses_a_program_with_another_checksum(
    cache: Path, releases: ReleaseHost, told: list[str], path: str
) -> None:
    releases.files[path] = f"{'f' * 64}  {ETCD_NAME}.tar.gz\n".encode()

    with pytest.raises(RefusedDownloadError, match="not what its publisher released"):
        ensure_kubernetes(told.append, checksums={})

    assert not [p for p in cache.rglob("*") if p.is_file() and p.suffix != ".lock"]


@pytest.mark.usefixtures("cache", "fake_go")
def test_a_page_in_place_of_a_checksum_is_not_taken_for_one(
    releases: ReleaseHost, told: list[str]
) -> None:
    releases.files[f"{KUBERNETES}/kube-apiserver.sha256"] = b"<html>please log in</html>"

    assert len(ensure_kubernetes(told.append, checksums={})["kube-apiserver"]) == 2
    assert any("holds no checksum" in line for line in told)


@pytest.mark.usefixtures("cache", "fake_go")
def test_on_macos_everything_is_built(
    releases: ReleaseHost, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, "Darwin", "arm64")
    assert len(ensure_kubernetes(told.append, checksums={})["etcd"]) == 2
    assert releases.asked == []


@pytest.mark.usefixtures("cache", "commands")
def test_fails_without_go_before_anything_is_downloaded(
    releases: ReleaseHost, told: list[str]
) -> None:
    with pytest.raises(EngineError) as failure:
        ensure_kubernetes(told.append, checksums={})

    assert "the sandbox's Kubernetes needs Go: Go is not on the PATH" in str(failure.value)
    assert f"install Go {pins.GO_MINIMUM_VERSION} or newer" in str(failure.value)
    assert releases.asked == []


@pytest.mark.usefixtures("cache")
def test_a_changed_source_is_another_build(
    fake_go: Path, told: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "off")
    module = tmp_path / "control_plane"
    module.mkdir()
    for name in ("go.mod", "go.sum", "main.go"):
        (module / name).write_text("one")
    program = replace(kubernetes_programs._CONTROL_PLANE, module=module)
    monkeypatch.setattr(kubernetes_programs, "_CONTROL_PLANE", program)
    first = ensure_kubernetes(told.append, checksums={})["kwok"]
    (module / "main_test.go").write_text("tests do not change a binary")
    same = ensure_kubernetes(told.append, checksums={})["kwok"]
    (module / "go.sum").write_text("two")
    changed = ensure_kubernetes(told.append, checksums={})["kwok"]

    assert first == same != changed
    assert len(fake_go.read_text().splitlines()) == 2


@pytest.mark.usefixtures("cache", "fake_go")
def test_a_release_with_a_known_checksum_is_refused_if_a_host_replaces_both(
    releases: ReleaseHost, told: list[str]
) -> None:
    url = f"https://{KUBERNETES}/kubectl"
    released = hashlib.sha256(b"what was released").hexdigest()

    with pytest.raises(RefusedDownloadError, match=released):
        ensure_kubernetes(told.append, checksums={url: released})

    assert not releases.transfers("kubectl.sha256")


def test_the_known_checksums_are_those_of_files_that_are_downloaded() -> None:
    used = {
        pins.KUBERNETES_RELEASE_URL.format(architecture=architecture, program=program)
        for architecture in ("amd64", "arm64")
        for program in pins.KUBERNETES_PROGRAMS
    }
    assert set(pins.RELEASE_CHECKSUMS) <= used
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in pins.RELEASE_CHECKSUMS.values())
