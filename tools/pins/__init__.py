"""Compare the versions that the project pins with the newest ones: ``python -m tools.pins``."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class PinError(Exception):
    """A pin cannot be read or raised; the message says which, and what to do."""


@dataclass(frozen=True, kw_only=True)
class PyPI:
    """A Python package, looked up in the index that pip is configured with."""

    project: str


@dataclass(frozen=True, kw_only=True)
class GoModule:
    """A Go module, or ``go`` itself, looked up through Go's configured proxy."""

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
    """The Kubernetes versions of EKS, which require an account to query."""


@dataclass(frozen=True, kw_only=True)
class EksAddon:
    """The versions of an EKS add-on for a Kubernetes version, which require an account to query."""

    addon: str
    minor: str


@dataclass(frozen=True, kw_only=True)
class EksAmi:
    """Releases of the EKS-optimized AMIs of a Kubernetes version; require an account to query."""

    minor: str


@dataclass(frozen=True, kw_only=True)
class PythonReleases:
    """The releases of Python, from the dated table in ``tools.pins.newest``."""


@dataclass(frozen=True, kw_only=True)
class Unasked:
    """A source that no client can query."""

    reason: str
    """Why, and where to find the newest version."""


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
"""Where to find the newest version of a pin."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The location of a version in a file."""

    file: str
    """Relative to the root of the repository."""
    line: int
    start: int
    """Offset of `text` in the file, in characters."""
    text: str
    """The version as spelled in the file."""
    note: str = ""
    """The comment on the same line."""
    staging: bool = False
    """Whether it is a Kubernetes staging module: 1.35.4 is published as v0.35.4.

    https://github.com/kubernetes/kubernetes/blob/master/staging/README.md
    """

    @property
    def version(self) -> str:
        """The version without a leading `v`."""
        version = re.sub(r"^v(?=\d)", "", self.text)
        return f"1.{version.partition('.')[2]}" if self.staging else version

    def spelled(self, version: str) -> str:
        """Return another version in the spelling of this place."""
        if self.staging:
            version = f"0.{version.partition('.')[2]}"
        return f"v{version}" if re.match(r"v\d", self.text) else version


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A version that the project pins, in one or more places that must agree."""

    name: str
    source: Source
    places: tuple[Place, ...]
    series: int = 0
    """Number of leading version parts that a newer version must share: 2 keeps `1.35.x`."""
    floor: bool = False
    """Whether it is a minimum version, which a newer version does not outdate."""
    support: tuple[str, str] | None = None
    """Product and release whose support period applies: (`EKS`, `1.35`)."""
    by_hand: str = ""
    """Why no command can raise it, and what to do instead."""

    @property
    def version(self) -> str:
        """The pinned version, without a leading `v`."""
        return self.places[0].version

    @property
    def strays(self) -> tuple[Place, ...]:
        """The places with another version than the first place."""
        return tuple(place for place in self.places if place.version != self.version)

    def joined(self, other: "Pin") -> "Pin":
        """Return the pin with the places of another pin of the same name."""
        return replace(self, places=self.places + other.places)


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, for comparison with versions of the same format."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def newest_like(pinned: str, versions: list[str], series: int) -> str | None:
    """Return the newest of the versions with the same format as the pinned one.

    Release candidates and variants of a tag have other formats and are ignored.

    Args:
        pinned: The pinned version.
        versions: All published versions.
        series: Number of leading version parts that must match.
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
    """Return the format of a version without its numbers, or of a Go pseudo-version."""
    commit = re.sub(r"(?<=[-.])\d{14}-[0-9a-f]{12}$", "0", version)
    return re.sub(r"\d+", "#", commit)
