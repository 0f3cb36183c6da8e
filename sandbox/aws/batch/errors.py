"""Batch's client error, `ClientException`.

https://docs.aws.amazon.com/batch/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from moto.batch.exceptions import ClientException


def refuse(message: str) -> NoReturn:
    """Respond to the current request with a Batch error.

    Raises:
        ClientException: always.
    """
    raise ClientException(message)


def only(asked: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Reject fields that the sandbox would ignore.

    Raises:
        NotImplementedError: It names them.
    """
    unknown = sorted(key for key in asked.keys() - set(known) if asked[key] not in (None, [], {}))
    if unknown:
        raise NotImplementedError(f"{where} with {', '.join(unknown)}")
