"""Parallel calls to AWS.

Each call takes a round trip; in parallel, all of them take little more than the longest chain.
Clients of boto3 are thread-safe, sessions are not:
https://docs.aws.amazon.com/boto3/latest/guide/clients.html#multithreading-or-multiprocessing-with-clients
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from trainyard.components.account.answers import UnexpectedAnswerError, last_call

Reading = Callable[[], Mapping[str, Any]]
"""Calls AWS and returns fields of a facts record, by name."""

_AT_ONCE = 16
"""Maximum number of concurrent calls: EC2 refills its request buckets with 20 tokens per second.

https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
"""


def read_side_by_side(readings: Iterable[Reading]) -> dict[str, Any]:
    """Return the fields of all readings; mappings of the same field are merged.

    Raises:
        AccountUnreachableError: the error of the first failed reading.
    """
    fields: dict[str, Any] = {}
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        for answer in [pool.submit(_read, reading) for reading in readings]:
            for name, value in answer.result().items():
                fields[name] = _joined(fields.get(name), value)
    return fields


def _read(reading: Reading) -> Mapping[str, Any]:
    try:
        return reading()
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # The types are right but a value cannot be parsed, such as an invalid CIDR block.
        problem = f"{type(error).__name__}: {error}"
        raise UnexpectedAnswerError(last_call(), problem) from error


def _joined(known: Any, value: Any) -> Any:
    if isinstance(known, Mapping) and isinstance(value, Mapping):
        return {**cast("Mapping[str, Any]", known), **cast("Mapping[str, Any]", value)}
    return value
