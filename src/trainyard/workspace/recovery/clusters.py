"""Objects inside a cluster: Kubernetes objects, and this program's entries in `aws-auth`.

The launcher does not connect to the cluster. The id follows from the inputs, and the engine reads
the object through the provider, which has the kubeconfig. An object that does not exist leaves the
state before the program runs.
"""

from __future__ import annotations

from trainyard.workspace.recovery.account import FoundObject, LookupAccount
from trainyard.workspace.recovery.lookups import Lookup, by_reading
from trainyard.workspace.recovery.operations import PendingCreate

KUBERNETES = "kubernetes:"
AWS_AUTH = "pulumi-python:dynamic/aws-auth:Entry"


def _object(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    metadata = create.inputs["metadata"]
    # https://www.pulumi.com/registry/packages/kubernetes/ids: NAMESPACE/NAME, or NAME if
    # cluster-scoped.
    return [FoundObject("/".join(filter(None, (metadata.get("namespace"), metadata["name"]))))]


def _entry(account: LookupAccount, create: PendingCreate) -> list[FoundObject]:
    return [FoundObject(create.inputs["role_arn"])]


LOOKUPS: dict[str, Lookup] = {
    KUBERNETES: by_reading("the provider's read of NAMESPACE/NAME", _object),
    AWS_AUTH: by_reading("the provider's read of the role's entry", _entry),
}
