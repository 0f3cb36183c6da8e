"""The programs of the sandbox's Kubernetes: official releases, or builds of the same versions.

Both require Go: two programs, the companions, have no release that can be verified. The node
simulator kwok is published without checksums, and the authenticator is part of this repository.
"""

from collections.abc import Mapping
from pathlib import Path

from trainyard.sandbox.engine import cache, pins
from trainyard.sandbox.engine.download import Releases, extract, listed_checksum
from trainyard.sandbox.engine.errors import DownloadUnavailableError, EngineError
from trainyard.sandbox.engine.go_build import Go, GoProgram, build_key
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Progress

_MODULE = Path(__file__).resolve().parents[1] / "kubernetes" / "control_plane"


def _version_variables(*packages: str) -> Mapping[str, str]:
    """Return the Go variables that contain the version of Kubernetes programs.

    Without them the API server reports ``v0.0.0-master``, and kubectl warns. The commit and the
    date are constants, so that builds are reproducible.
    """
    major, minor, _ = pins.KUBERNETES_VERSION.split(".")
    values = {
        "gitVersion": f"v{pins.KUBERNETES_VERSION}",
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
        "buildDate": "2026-01-01T00:00:00Z",
    }
    return {f"{package}.{name}": value for package in packages for name, value in values.items()}


_CONTROL_PLANE = GoProgram(
    module=_MODULE,
    package=".",
    file_name="control-plane",
    variables=_version_variables("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"),
)
_COMPANIONS = GoProgram(module=_MODULE, package="./cmd/companions", file_name="companions")
_USUAL_BUILD_TIMES = {
    "control-plane": "4 to 6 minutes on two cores",
    "companions": "2 to 3 minutes on two cores",
}
_RELEASED = (*pins.KUBERNETES_PROGRAMS, "etcd")
_COMPANION_NAMES = ("authenticator", "kwok")


def ensure_kubernetes(
    report: Progress, checksums: Mapping[str, str] = pins.RELEASE_CHECKSUMS
) -> dict[str, list[str]]:
    """Return the command prefix of each Kubernetes program, by its name.

    The names are etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl,
    authenticator and kwok. Missing programs are added to the cache first: the released programs and
    a build of the companions, or one build of all of them.

    Args:
        report: Prints progress.
        checksums: The SHA-256 of released files that are known, by their addresses.

    Raises:
        EngineError: a program can neither be downloaded nor built; the message says what was tried.
    """
    whole = _kept(_CONTROL_PLANE)
    released = _released_entry()
    in_one = whole.complete() or not _ensure_released(released, report, checksums)
    built, program = (whole, _CONTROL_PLANE) if in_one else (_kept(_COMPANIONS), _COMPANIONS)
    _ensure_built(built, program, report)
    binary = str(built.directory / program.file_name)
    programs = {name: [binary, name] for name in (*_RELEASED, *_COMPANION_NAMES)}
    if in_one:
        return programs
    return programs | {name: [str(released.directory / name)] for name in _RELEASED}


def _kept(program: GoProgram) -> cache.Entry:
    name = f"{pins.KUBERNETES_VERSION}-{this_platform().go_name}-build-{build_key((program,))}"
    return cache.Entry(
        directory=cache.cache_directory() / "kubernetes" / name, files=(program.file_name,)
    )


def _released_entry() -> cache.Entry:
    name = f"{pins.KUBERNETES_VERSION}-etcd-{pins.ETCD_VERSION}-{this_platform().go_name}-release"
    return cache.Entry(directory=cache.cache_directory() / "kubernetes" / name, files=_RELEASED)


def _ensure_built(entry: cache.Entry, program: GoProgram, report: Progress) -> None:
    if entry.complete():
        return
    with cache.filling(entry, report) as target:
        if target is not None:
            Go.find(program.module).build(
                program, target, report, _USUAL_BUILD_TIMES[program.file_name]
            )


def _ensure_released(entry: cache.Entry, report: Progress, checksums: Mapping[str, str]) -> bool:
    """Return whether the released programs are available; download them if necessary.

    Raises:
        EngineError: Go is missing, which the companions require; raised before any download.
        RefusedDownloadError: a file differs from the released one.
    """
    if entry.complete():
        return True
    try:
        Go.find(_CONTROL_PLANE.module)
    except EngineError as error:
        raise EngineError(
            f"the sandbox's Kubernetes needs Go: {error}. Without Go, `check` works, and so do "
            "all commands without --sandbox"
        ) from error
    try:
        with cache.filling(entry, report) as target:
            if target is not None:
                _download(target, report, checksums)
    except DownloadUnavailableError as error:
        report(f"no official release of Kubernetes here ({error}): building the same version")
        return False
    return True


def _download(target: Path, report: Progress, checksums: Mapping[str, str]) -> None:
    platform = this_platform()
    if platform.system != "linux":
        raise DownloadUnavailableError("Kubernetes publishes its servers for Linux only")
    releases = Releases(report)
    for program in pins.KUBERNETES_PROGRAMS:
        url = pins.KUBERNETES_RELEASE_URL.format(
            architecture=platform.architecture, program=program
        )
        known = checksums.get(url)
        releases.file(url, target / program, known or _checksum(releases, url))
    name = f"etcd-v{pins.ETCD_VERSION}-{platform.go_name}"
    source = pins.ETCD_RELEASE_URL.format(file="SHA256SUMS")
    archive = target / f"{name}.tar.gz"
    expected = listed_checksum(releases.text(source), archive.name, source)
    releases.file(pins.ETCD_RELEASE_URL.format(file=archive.name), archive, expected)
    extract(archive, [f"{name}/etcd"], target)
    archive.unlink()


def _checksum(releases: Releases, url: str) -> str:
    """Return the published SHA-256 of one Kubernetes program, from its own file."""
    words = releases.text(f"{url}.sha256").split()
    if not words or len(words[0]) != 64 or not all(c in "0123456789abcdef" for c in words[0]):
        raise DownloadUnavailableError(f"{url}.sha256 holds no checksum")
    return words[0]
