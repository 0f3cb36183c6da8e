"""An account that has only one image."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

from tests.support.stack_files import AMI


class ReaderOfOneImage:
    """Replaces `AccountReader`."""

    region = "us-west-2"

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    def client(self, _service: str) -> ReaderOfOneImage:
        """Return a client that answers every call with an empty result."""
        return self

    def get_paginator(self, _operation: str) -> MagicMock:
        """Return a paginator without pages."""
        return MagicMock()

    def ask(self, call: str, _do: Any, **arguments: Any) -> dict[str, Any]:
        """Return the image if it is that of the account, and nothing of other objects."""
        asked = call == "ec2:DescribeImages" and arguments.get("ImageIds") == [AMI]
        return {"Images": [{"ImageId": AMI}]} if asked else {}

    @property
    def ec2(self) -> MagicMock:
        """A client whose methods are not called."""
        return MagicMock()

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments, **_options: {}
