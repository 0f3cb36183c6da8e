"""Names of objects for which the program gives none."""

from __future__ import annotations

import hashlib
import secrets

RANDOM_DIGITS = 7
"""As pulumi-aws: the logical name, `-`, seven hexadecimal digits."""


def automatic_name(logical_name: str, random_seed: bytes, limit: int) -> str:
    """Return a name that starts with the logical name and fits the limit.

    The engine's seed makes preview and update agree.
    """
    digits = (
        hashlib.sha512(random_seed).hexdigest() if random_seed else secrets.token_hex(RANDOM_DIGITS)
    )[:RANDOM_DIGITS]
    return f"{logical_name[: limit - RANDOM_DIGITS - 1]}-{digits}"
