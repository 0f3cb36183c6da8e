"""AWS's managed IAM policies: read once in a process, though moto reads them for every new account.

There are some fifteen hundred, and reading them is most of the time that a reset would take.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from moto.iam.models import IAMBackend

_READ = IAMBackend._init_aws_policies  # noqa: SLF001 - what is replaced, and used once

_CACHE: dict[str, list[Any]] = {}
"""By account."""


def managed_policies(backend: IAMBackend) -> list[Any]:
    """Return the policies for a new IAM backend (in place of moto's `_init_aws_policies`).

    Each backend gets objects of its own: they count to how many roles they are attached.
    """
    if backend.account_id not in _CACHE:
        _CACHE[backend.account_id] = _READ(backend)
    return [copy(policy) for policy in _CACHE[backend.account_id]]
