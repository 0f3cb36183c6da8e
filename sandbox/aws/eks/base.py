"""Common base of the EKS calls."""

from __future__ import annotations

from typing import Any

from moto.core.responses import BaseResponse

from trainyard.sandbox.aws.eks.store import EksStore, eks_stores


class EksBase(BaseResponse):
    """An EKS response class: parameters parsed with botocore's model, state in `EksStore`."""

    params: Any

    def __init__(self) -> None:
        super().__init__(service_name="eks")
        self.automated_parameter_parsing = True

    @property
    def store(self) -> EksStore:
        """The clusters of the request's account and region."""
        return eks_stores[self.current_account][self.region]

    def arn(self, kind: str, *path: str) -> str:
        """Return the ARN of an EKS object."""
        rest = "/".join((kind, *path))
        return f"arn:{self.partition}:eks:{self.region}:{self.current_account}:{rest}"
