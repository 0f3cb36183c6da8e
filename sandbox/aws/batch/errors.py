"""Batch's one kind of refusal, `ClientException`.

https://docs.aws.amazon.com/batch/latest/APIReference/CommonErrors.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from moto.batch.exceptions import ClientException


def refuse(message: str) -> NoReturn:
    """Answer the request at hand with an error of Batch.

    Raises:
        ClientException: always.
    """
    raise ClientException(message)


def only(asked: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    """Refuse fields that the sandbox would not heed.

    Raises:
        NotImplementedError: It names them.
    """
    unknown = sorted(key for key in asked.keys() - set(known) if asked[key] not in (None, [], {}))
    if unknown:
        raise NotImplementedError(f"{where} with {', '.join(unknown)}")
