"""The versions that the project pins, against the newest ones: ``python -m tools.pins``."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class PinError(Exception):
    """A pin cannot be read or raised; the message says which, and what to do."""


@dataclass(frozen=True, kw_only=True)
class PyPI:
    """A Python package, asked of the index that pip is configured with."""

    project: str


@dataclass(frozen=True, kw_only=True)
class GoModule:
    """A Go module, or ``go`` itself, asked of the proxy that Go is configured with."""

    path: str


@dataclass(frozen=True, kw_only=True)
class GitTags:
    """The tags of a Git repository."""

    url: str


@dataclass(frozen=True, kw_only=True)
class GitHead:
    """The newest commit of a Git repository's default branch."""

    url: str


@dataclass(frozen=True, kw_only=True)
class ImageTags:
    """The tags of a container image, or of a chart in an OCI registry."""

    repository: str


@dataclass(frozen=True, kw_only=True)
class EksVersions:
    """The Kubernetes versions that EKS installs, which an account knows."""


@dataclass(frozen=True, kw_only=True)
class EksAddon:
    """The versions of an EKS add-on for a Kubernetes version, which an account knows."""

    addon: str
    minor: str


@dataclass(frozen=True, kw_only=True)
class EksAmi:
    """The releases of the EKS-optimized AMIs of a Kubernetes version, which an account knows."""

    minor: str


@dataclass(frozen=True, kw_only=True)
class PythonReleases:
    """The releases of Python, from the dated table in ``tools.pins.support``."""


@dataclass(frozen=True, kw_only=True)
class Unasked:
    """No client lists the versions."""

    reason: str
    """Why, and where to read the newest version."""


Source = (
    PyPI
    | GoModule
    | GitTags
    | GitHead
    | ImageTags
    | EksVersions
    | EksAddon
    | EksAmi
    | PythonReleases
    | Unasked
)
"""Where the newest version of a pin can be read."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a file holds a version."""

    file: str
    """Relative to the root of the repository."""
    line: int
    start: int
    """Offset of `text` in the file, in characters."""
    text: str
    """The version as the file spells it."""
    note: str = ""
    """The comment on the same line."""
    staging: bool = False
    """Whether it is a staging module of Kubernetes: 1.35.4 is published as v0.35.4.

    https://github.com/kubernetes/kubernetes/blob/master/staging/README.md
    """

    @property
    def version(self) -> str:
        """The version without a leading `v`."""
        version = re.sub(r"^v(?=\d)", "", self.text)
        return f"1.{version.partition('.')[2]}" if self.staging else version

    def spelled(self, version: str) -> str:
        """Return another version as this place spells it."""
        if self.staging:
            version = f"0.{version.partition('.')[2]}"
        return f"v{version}" if re.match(r"v\d", self.text) else version


@dataclass(frozen=True, kw_only=True)
class Pin:
    """One version that the project pins, in one place or in several that must agree."""

    name: str
    source: Source
    places: tuple[Place, ...]
    series: int = 0
    """How many leading numbers of the version a newer one must share: 2 keeps `1.35.x`."""
    floor: bool = False
    """Whether it is the oldest version that works, so that a newer one does not outdate it."""
    support: tuple[str, str] | None = None
    """The product whose support decides, and its release: (`EKS`, `1.35`)."""
    by_hand: str = ""
    """Why no command raises it, and what to do instead."""

    @property
    def version(self) -> str:
        """The pinned version, without a leading `v`."""
        return self.places[0].version

    @property
    def strays(self) -> tuple[Place, ...]:
        """The places that hold another version than the first one."""
        return tuple(place for place in self.places if place.version != self.version)

    def joined(self, other: "Pin") -> "Pin":
        """Return the pin with the places of another one of the same name."""
        return replace(self, places=self.places + other.places)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which two of the same spelling compare."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def newest_like(pinned: str, versions: list[str], series: int) -> str | None:
    """Return the newest of the versions that are spelled like the pinned one.

    Release candidates and other variants of a tag are spelled differently, so they are left out.

    Args:
        pinned: The pinned version.
        versions: All that were published.
        series: How many leading numbers must be the same.
    """
    plain = [re.sub(r"^v(?=\d)", "", version) for version in versions]
    like = [
        version
        for version in plain
        if _shape(version) == _shape(pinned)
        and numbers(version)[:series] == numbers(pinned)[:series]
    ]
    return max(like, key=numbers, default=None)


def _shape(version: str) -> str:
    """Return what is left of a version without its numbers, or Go's name of a commit."""
    commit = re.sub(r"(?<=[-.])\d{14}-[0-9a-f]{12}$", "0", version)
    return re.sub(r"\d+", "#", commit)
