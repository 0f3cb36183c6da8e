"""What a sandbox gets of its user's environment: what programs need to run, and no secret.

A list of what is kept, not of what is left out: tokens of other tools, passwords in the address of
a proxy and keys have names that nobody can list. The sandbox listens on the loopback and fetches
nothing, so that it needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

# https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap08.html, and what terminals,
# dynamic linkers and CI are known by.
_KEPT = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "PWD"),
        *("LANG", "LANGUAGE", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR"),
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
        *("NO_PROXY", "no_proxy", "CI", "GITHUB_ACTIONS"),
    }
)
_KEPT_PREFIXES = ("LC_", "XDG_", "TRAINYARD_")


def plain_environment(user: Mapping[str, str]) -> dict[str, str]:
    """Return the part of a user's environment that every program may know."""
    return {
        name: value
        for name, value in user.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
