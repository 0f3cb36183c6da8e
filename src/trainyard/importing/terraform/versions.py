"""Versions of the EKS module and of the provider that are read, and those that a file asks for.

https://developer.hashicorp.com/terraform/language/expressions/version-constraints
"""

from __future__ import annotations

import re

from trainyard.importing.source import Node, child

OTHER_VERSION = "eks-of-another-version"
"""Section of an EKS module of a version whose inputs are not in the key table."""
_FIRST_MODULE = (18,)
LAST_MODULE = (21, 19)
"""The last version of the EKS module whose inputs are in the key table; the first is 18.0."""
LAST_PROVIDER = (5, 100)
"""Version of the AWS provider whose attributes are in the key table: the last one before 6.0."""
_AFTER = {LAST_MODULE: (21, 20), LAST_PROVIDER: (6,)}
"""The first version that has others."""
_PART = re.compile(r"(?P<operator>~>|>=|<=|!=|[<>=])?\s*v?(?P<version>\d+(?:\.\d+)*)")
_REF = re.compile(r"[?&]ref=v?(?P<version>\d+(?:\.\d+)*)")
_Version = tuple[int, ...]
_NEWEST = (10**6,)


def _bounds(constraint: str) -> tuple[_Version, _Version]:
    """Return the oldest version that a constraint permits, and one that all others are below."""
    lowest: _Version = (0,)
    highest = _NEWEST
    for match in _PART.finditer(constraint):
        version = tuple(map(int, match["version"].split(".")))
        after = (*version[:-1], version[-1] + 1)
        operator = match["operator"] or "="
        if operator in ("=", ">=", ">", "~>"):
            lowest = max(lowest, version)
        if operator in ("=", "<="):
            highest = min(highest, after)
        elif operator == "<":
            highest = min(highest, version)
        elif operator == "~>" and len(version) > 1:
            highest = min(highest, (*version[:-2], version[-2] + 1))
    return lowest, highest


def wanted_version(module: Node) -> str:
    """Return the constraint of a module: its `version`, or the `ref` of its source in Git."""
    version, source = child(module, "version"), child(module, "source")
    if version is not None and isinstance(version.value, str | int | float) and not version.tag:
        return str(version.value)
    found = _REF.search(str(source.value)) if source is not None else None
    return found["version"] if found else ""


def is_read(constraint: str) -> bool:
    """Return whether a constraint of the EKS module permits a version that is read."""
    lowest, highest = _bounds(constraint)
    return _plain(highest) > _FIRST_MODULE and lowest[0] <= LAST_MODULE[0]


def _plain(version: _Version) -> _Version:
    """Return a version without zeros at its end, so that 18 and 18.0.0 are equal."""
    while len(version) > 1 and not version[-1]:
        version = version[:-1]
    return version


def is_known(constraint: str, last: tuple[int, ...]) -> bool:
    """Return whether a constraint permits no version after the last one that is read."""
    _, highest = _bounds(constraint)
    return _plain(highest) <= _AFTER[last]
