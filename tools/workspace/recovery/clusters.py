"""What is inside a cluster: objects of Kubernetes, and our lines in `aws-auth`.

The launcher does not reach into a cluster. The id follows from the inputs, and the engine asks the
provider, which has the kubeconfig: an object that is not there leaves the state again before the
program runs.
"""

from __future__ import annotations

from tools.workspace.recovery.account import Account, Found
from tools.workspace.recovery.operations import PendingCreate
from tools.workspace.recovery.ways import Way, by_reading

KUBERNETES = "kubernetes:"
AWS_AUTH = "pulumi-python:dynamic/aws-auth:Entry"


def _object(account: Account, create: PendingCreate) -> list[Found]:
    metadata = create.inputs["metadata"]
    # https://www.pulumi.com/registry/packages/kubernetes/ids: NAMESPACE/NAME, NAME without one.
    return [Found("/".join(filter(None, (metadata.get("namespace"), metadata["name"]))))]


def _entry(account: Account, create: PendingCreate) -> list[Found]:
    return [Found(create.inputs["role_arn"])]


WAYS: dict[str, Way] = {
    KUBERNETES: by_reading("the provider's read of NAMESPACE/NAME", _object),
    AWS_AUTH: by_reading("the provider's read of the role's entry", _entry),
}
