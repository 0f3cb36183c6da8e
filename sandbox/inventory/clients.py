"""boto3 clients of a sandbox, which faults do not affect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.faults.in_force import OBSERVER


class Clients:
    """boto3 clients of a sandbox.

    Args:
        endpoint: The sandbox's AWS endpoint.
        region: Its region.
    """

    def __init__(self, endpoint: Endpoint, region: str) -> None:
        self._session = boto3.Session(region_name=region, **endpoint.credentials)
        self._endpoint = endpoint.url
        self.client = cache(self._client)

    def _client(self, service: str) -> Any:
        settings = Config(retries={"total_max_attempts": 1}, user_agent_extra=OBSERVER)
        return self._session.client(service, endpoint_url=self._endpoint, config=settings)

    def every(self, service: str, call: str, key: str, **arguments: Any) -> Iterator[Any]:
        """Yield every element of a paginated list operation."""
        client = self.client(service)
        if not client.can_paginate(call):
            yield from getattr(client, call)(**arguments)[key]
            return
        for answer in client.get_paginator(call).paginate(**arguments):
            yield from answer[key]


@cache
def clients_of(endpoint: Endpoint, region: str) -> Clients:
    """Return the cached clients of a sandbox; creating one takes longer than all its calls."""
    return Clients(endpoint, region)
