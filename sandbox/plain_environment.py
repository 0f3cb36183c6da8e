"""The part of the user's environment that the sandbox inherits: general variables, no secrets.

This is an allowlist, because names of secrets cannot be enumerated: tokens of other tools,
passwords in proxy URLs, keys. The sandbox listens on the loopback interface and downloads nothing,
so it needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping

# https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap08.html, and variables of
# terminals, dynamic linkers and CI.
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
    """Return the general variables of a user's environment."""
    return {
        name: value
        for name, value in user.items()
        if name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }
