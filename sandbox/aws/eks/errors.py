"""EKS's errors: JSON with the names that the error is about.

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
    """A subnet of the control plane lies in a zone that EKS does not serve."""

    TYPE = "UnsupportedAvailabilityZoneException"
    STATUS = 400


def invalid_parameter(message: str, **about: Any) -> NoReturn:
    """Refuse a value.

    Raises:
        InvalidParameterException: always.
    """
    raise InvalidParameterException(message=message, **about)


def invalid_request(message: str, **about: Any) -> NoReturn:
    """Refuse a request that the state of the object does not allow.

    Raises:
        InvalidRequestException: always.
    """
    raise InvalidRequestException(message=message, **about)


def in_use(message: str, **about: Any) -> NoReturn:
    """Refuse to make what exists, or to delete what is used.

    Raises:
        ResourceInUseException: always.
    """
    raise ResourceInUseException(message=message, **about)


def not_found(message: str, **about: Any) -> NoReturn:
    """Say that an object does not exist.

    Raises:
        ResourceNotFoundException: always.
    """
    raise ResourceNotFoundException(message=message, **about)
