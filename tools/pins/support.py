"""End of support for pinned versions, from dated tables and published rules.

Read in November 2026:

- EKS: ``trainyard.components.catalog.versions.STANDARD_SUPPORT_ENDS``, with its own sources.
- Python: https://devguide.python.org/versions/, "Status of Python versions"; a release is supported
until the end of the month.
- Go: https://go.dev/doc/devel/release#policy: until there are two newer major releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from tools.pins import Pin, numbers
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS, SUPPORT_NOTICE


@dataclass(frozen=True, kw_only=True)
class PythonRelease:
    """A minor version of Python."""

    released: date
    ends: date
    """Last day of its security support."""


PYTHON: Mapping[str, PythonRelease] = {
    "3.11": PythonRelease(released=date(2022, 10, 24), ends=date(2027, 10, 31)),
    "3.12": PythonRelease(released=date(2023, 10, 2), ends=date(2028, 10, 31)),
    "3.13": PythonRelease(released=date(2024, 10, 7), ends=date(2029, 10, 31)),
    "3.14": PythonRelease(released=date(2025, 10, 7), ends=date(2030, 10, 31)),
    "3.15": PythonRelease(released=date(2026, 10, 1), ends=date(2031, 10, 31)),
}

_GO_RELEASES = 2
"""Number of major releases that the Go team supports."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """The support period of a version."""

    ends: date | None = None
    ended: bool = False
    words: str = ""
    """Text if there is no date."""

    def days_left(self, today: date) -> int | None:
        """Return the number of remaining days, if it is low enough to announce."""
        if self.ends is None or self.ended or self.ends - today > SUPPORT_NOTICE:
            return None
        return (self.ends - today).days


def newest_python(today: date) -> str:
    """Return the newest released minor version of Python."""
    return max((name for name, it in PYTHON.items() if it.released <= today), key=numbers)


def support(pin: Pin, newest: str | None, today: date) -> Support:
    """Return the support period of the pinned version.

    Args:
        pin: The pin.
        newest: The newest version, if known.
        today: The current date, in UTC.
    """
    product, release = pin.support or ("", "")
    if product == "EKS":
        ends = STANDARD_SUPPORT_ENDS.get(release)
        return Support(ends=ends, ended=ends is not None and today >= ends)
    if product == "Python":
        ends = PYTHON[release].ends if release in PYTHON else None
        return Support(ends=ends, ended=ends is not None and today > ends)
    if product == "Go":
        return _go(release, newest)
    return Support()


def _go(release: str, newest: str | None) -> Support:
    major, minor = numbers(release)[:2]
    last = minor + _GO_RELEASES
    words = f"with Go {major}.{last}"
    return Support(words=words, ended=newest is not None and numbers(newest)[1] >= last)
