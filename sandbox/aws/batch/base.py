"""What the calls of Batch share."""

from __future__ import annotations

from typing import Any

from moto.core.responses import BaseResponse
from moto.ec2.models import ec2_backends

from sandbox.aws.batch.store import BatchStore, batch_stores


class BatchBase(BaseResponse):
    """A response class of Batch: parameters parsed by botocore's model, state in our store."""

    params: Any

    def __init__(self) -> None:
        super().__init__(service_name="batch")
        self.automated_parameter_parsing = True

    @property
    def store(self) -> BatchStore:
        """What Batch holds in the request's account and region."""
        return batch_stores[self.current_account][self.region]

    @property
    def ec2(self) -> Any:
        """EC2's backend of the request's account and region, in moto."""
        return ec2_backends[self.current_account][self.region]
