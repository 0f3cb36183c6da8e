"""Errors of EC2, Auto Scaling and EKS.

Codes are those of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html. EC2
does not publish its messages; observed messages are used where available.
"""

from __future__ import annotations

from typing import Any, NoReturn

from moto.ec2.exceptions import EC2ClientError


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
