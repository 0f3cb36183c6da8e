"""The sandbox's account as the provider's function sees it.

Region, endpoint and credentials stand in the function's environment, as on AWS.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

Clients = Callable[[str], Any]
"""Returns the boto3 client of a service."""


@cache
def client(service: str) -> Any:
    """Return the boto3 client of a service."""
    return boto3.client(service, config=Config(retries={"total_max_attempts": 1}))
