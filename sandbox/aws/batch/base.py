"""Common base of the Batch calls."""

from __future__ import annotations

from typing import Any

from moto.core.responses import BaseResponse
from moto.ec2.models import ec2_backends

from trainyard.sandbox.aws.batch.store import BatchStore, batch_stores


class BatchBase(BaseResponse):
    """A Batch response class: parameters parsed with botocore's model, state in `BatchStore`."""

    params: Any

    def __init__(self) -> None:
        super().__init__(service_name="batch")
        self.automated_parameter_parsing = True

    @property
    def store(self) -> BatchStore:
        """The Batch objects of the request's account and region."""
        return batch_stores[self.current_account][self.region]

    @property
    def ec2(self) -> Any:
        """EC2 backend of moto for the request's account and region."""
        return ec2_backends[self.current_account][self.region]
