"""Errors of EC2, Auto Scaling and EKS.

Codes are those of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. EC2
does not publish its messages; observed messages are used where available.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import moto.ec2.exceptions
from moto.ec2.exceptions import EC2ClientError

_MISSING = {
    "InvalidAllocationIdError": (
        "InvalidAllocationID.NotFound",
        "The allocation ID '{}' does not exist",
    ),
    "InvalidInternetGatewayIdError": (
        "InvalidInternetGatewayID.NotFound",
        "The internetGateway ID '{}' does not exist",
    ),
    "InvalidSecurityGroupNotFoundError": (
        "InvalidGroup.NotFound",
        "The security group '{}' does not exist",
    ),
    "InvalidVolumeIdError": ("InvalidVolume.NotFound", "The volume '{}' does not exist."),
}
"""What recorded answers say of ids that do not exist, where moto has other words:
tests/witness/tables/errors.json."""


def refuse(code: str, message: str) -> NoReturn:
    """Respond to the current request with an EC2 error.

    Raises:
        EC2ClientError: always.
    """
    raise EC2ClientError(code, message)


def code_and_message(error: Exception) -> tuple[str, str]:
    """Return AWS's code and message of an error from moto or an extension."""
    code = getattr(error, "code", None)
    if not isinstance(code, str):  # moto's older errors have the HTTP status in `code`
        code = getattr(error, "error_type", None) or type(error).__name__
    message: Any = getattr(error, "message", None) or str(error)
    return str(code), str(message)


def use_words_of_aws() -> None:
    """Replace the messages of moto about ids that do not exist."""
    for name, (code, text) in _MISSING.items():
        error: Any = getattr(moto.ec2.exceptions, name)
        error.__init__ = _refusing(code, text)


def _refusing(code: str, text: str) -> Callable[[Any, str | Iterable[str]], None]:
    def refuse_ids(error: Any, ids: str | Iterable[str]) -> None:
        # moto passes one id or a set of them, which it would print as a Python set.
        first = ids if isinstance(ids, str) else min(ids)
        EC2ClientError.__init__(error, code, text.format(first))

    return refuse_ids
