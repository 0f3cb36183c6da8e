"""The Pulumi engine: a cached copy, the official release, or a build of the same."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainyard.sandbox.engine import cache, pins
from trainyard.sandbox.engine.download import Releases, extract, listed_checksum
from trainyard.sandbox.engine.errors import DownloadUnavailableError, EngineError
from trainyard.sandbox.engine.go_build import Go, GoProgram, build_key
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Progress

_HERE = Path(__file__).resolve().parent

_SDK_MODULE = "github.com/pulumi/pulumi/sdk/v3"
_VERSION_VARIABLE = {f"{_SDK_MODULE}/go/common/version.Version": f"v{pins.PULUMI_VERSION}"}

_PROGRAMS = (
    GoProgram(
        module=_HERE / "pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        file_name="pulumi",
        variables=_VERSION_VARIABLE,
    ),
    GoProgram(
        module=_HERE / "language_host",
        package=".",
        file_name="pulumi-language-python",
        variables=_VERSION_VARIABLE,
    ),
)
_USUAL_BUILD_TIMES = {
    "pulumi": "3 to 5 minutes on two cores",
    "pulumi-language-python": "half a minute",
}
_EXECUTOR = "pulumi-language-python-exec"
_DYNAMIC_PROVIDER = "pulumi-resource-pulumi-python"


@dataclass(frozen=True, kw_only=True)
class InstalledPulumi:
    """An engine in the cache that can run programs in Python."""

    directory: Path
    """Directory of ``pulumi`` and its files for Python programs."""
    origin: Literal["download", "build"]
    """Its source: the official release, or a build."""


def install_pulumi(report: Progress) -> InstalledPulumi:
    """Return the engine of the pinned version from the cache; install it first if it is missing.

    Raises:
        EngineError: the engine can neither be downloaded nor built; the message says what was
            tried.
    """
    kept = cache.cache_directory() / "pulumi"
    name = f"{pins.PULUMI_VERSION}-{this_platform().go_name}"
    dynamic_provider = build_key((), (_HERE / _DYNAMIC_PROVIDER).read_text(encoding="utf-8"))
    released = _entry(kept / f"{name}-release-{dynamic_provider}")
    built = _entry(kept / f"{name}-build-{build_key(_PROGRAMS, dynamic_provider)}")
    if released.complete():
        return _engine(released, "download")
    if built.complete():
        return _engine(built, "build")
    try:
        with cache.filling(released, report) as target:
            if target is not None:
                _download(target, report)
        return _engine(released, "download")
    except DownloadUnavailableError as error:
        unavailable = error
    report(f"no official release of Pulumi here ({unavailable}): building the same version")
    try:
        with cache.filling(built, report) as target:
            if target is not None:
                _build(target, report)
    except EngineError as error:
        raise EngineError(
            f"Pulumi {pins.PULUMI_VERSION} can be had in neither way.\n"
            f"  Download: {unavailable}.\n"
            f"  Build: {error}.\n"
            f"  Or install Pulumi {pins.PULUMI_VERSION} yourself and put it on the PATH."
        ) from error
    return _engine(built, "build")


def _entry(directory: Path) -> cache.Entry:
    return cache.Entry(directory=directory, files=pins.PULUMI_FILES)


def _engine(entry: cache.Entry, origin: Literal["download", "build"]) -> InstalledPulumi:
    return InstalledPulumi(directory=entry.directory, origin=origin)


def _download(target: Path, report: Progress) -> None:
    releases = Releases(report)
    url = pins.PULUMI_RELEASE_URL.format(platform=this_platform().pulumi_name)
    checksums = releases.text(pins.PULUMI_CHECKSUMS_URL)
    archive = target / url.rsplit("/", 1)[1]
    expected = listed_checksum(checksums, archive.name, pins.PULUMI_CHECKSUMS_URL)
    releases.file(url, archive, expected)
    extract(archive, [f"pulumi/{name}" for name in pins.PULUMI_FILES], target)
    archive.unlink()
    _copy([_HERE / _DYNAMIC_PROVIDER], target)


def _build(target: Path, report: Progress) -> None:
    go = Go.find(_PROGRAMS[0].module)
    for program in _PROGRAMS:
        go.build(program, target, report, _USUAL_BUILD_TIMES[program.file_name])
    sdk = go.module_directory(_PROGRAMS[1].module, _SDK_MODULE)
    _copy([sdk / "python" / "cmd" / _EXECUTOR, _HERE / _DYNAMIC_PROVIDER], target)


def _copy(files: Sequence[Path], target: Path) -> None:
    """Copy scripts and make them executable; Go's module cache is read-only."""
    for source in files:
        copied = target / source.name
        copied.unlink(missing_ok=True)
        shutil.copyfile(source, copied)
        copied.chmod(0o755)
