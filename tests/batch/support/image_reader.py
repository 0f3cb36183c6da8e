"""An account that has only one image."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

from tests.support.account import image
from tests.support.stack_files import AMI
from trainyard.components.account.facts import ImageFacts


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

    def images(self, image_id: str) -> dict[str, ImageFacts]:
        """Return the image if it is that of the account."""
        return {AMI: image(AMI)} if image_id == AMI else {}

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments, **_options: {}
