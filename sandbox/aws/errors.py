"""Errors as EC2, Auto Scaling and EKS give them.

Codes are those of https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
EC2 does not publish its messages; where one has been seen it stands here in its words.
"""

from __future__ import annotations

from typing import Any, NoReturn

from moto.ec2.exceptions import EC2ClientError


def refuse(code: str, message: str) -> NoReturn:
    """Answer the request at hand with an EC2 error.

    Raises:
        EC2ClientError: always.
    """
    raise EC2ClientError(code, message)


def code_and_message(error: Exception) -> tuple[str, str]:
    """Return AWS's code and message of an error that moto or an extension raised."""
    code = getattr(error, "code", None)
    if not isinstance(code, str):  # moto's older errors hold the HTTP status in `code`
        code = getattr(error, "error_type", None) or type(error).__name__
    message: Any = getattr(error, "message", None) or str(error)
    return str(code), str(message)
