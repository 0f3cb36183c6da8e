"""EKS's errors: JSON with the names of the affected objects.

https://docs.aws.amazon.com/eks/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

from typing import Any, NoReturn

from moto.eks.exceptions import (
    EKSError,
    InvalidParameterException,
    InvalidRequestException,
    ResourceInUseException,
    ResourceNotFoundException,
)


class UnsupportedAvailabilityZoneError(EKSError):
    """A subnet of the control plane is in a zone that EKS does not support."""

    TYPE = "UnsupportedAvailabilityZoneException"
    STATUS = 400


def invalid_parameter(message: str, **about: Any) -> NoReturn:
    """Reject a value.

    Raises:
        InvalidParameterException: always.
    """
    raise InvalidParameterException(message=message, **about)


def invalid_request(message: str, **about: Any) -> NoReturn:
    """Reject a request because of the state of the object.

    Raises:
        InvalidRequestException: always.
    """
    raise InvalidRequestException(message=message, **about)


def in_use(message: str, **about: Any) -> NoReturn:
    """Reject the creation of an existing object, or the deletion of one in use.

    Raises:
        ResourceInUseException: always.
    """
    raise ResourceInUseException(message=message, **about)


def not_found(message: str, **about: Any) -> NoReturn:
    """Report that an object does not exist.

    Raises:
        ResourceNotFoundException: always.
    """
    raise ResourceNotFoundException(message=message, **about)
