"""When the support of a pinned version ends, from dated tables and published rules.

Read in November 2026:

- EKS: ``components.catalog.versions.STANDARD_SUPPORT_ENDS``, with its own sources.
- Python: https://devguide.python.org/versions/, "Status of Python versions"; a release is supported
  until the end of the month.
- Go: https://go.dev/doc/devel/release#policy: until there are two newer major releases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from components.catalog.versions import STANDARD_SUPPORT_ENDS, SUPPORT_NOTICE
from tools.pins import Pin, numbers


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
"""Major releases that the Go team supports at a time."""


@dataclass(frozen=True, kw_only=True)
class Support:
    """How long a version is supported."""

    ends: date | None = None
    ended: bool = False
    words: str = ""
    """What there is to say instead of a date."""

    def days_left(self, today: date) -> int | None:
        """Return how many days are left, where that is few enough to be announced."""
        if self.ends is None or self.ended or self.ends - today > SUPPORT_NOTICE:
            return None
        return (self.ends - today).days


def newest_python(today: date) -> str:
    """Return the newest minor version of Python that is released."""
    return max((name for name, it in PYTHON.items() if it.released <= today), key=numbers)


def support(pin: Pin, newest: str | None, today: date) -> Support:
    """Return how long the pinned version is supported.

    Args:
        pin: The pin.
        newest: The newest version, where it is known.
        today: The day, in UTC.
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
