"""A cluster that does not respond: deleted outside Pulumi, or only unreachable from here.

pulumi-kubernetes reads and deletes nothing in an unreachable cluster, unless
`PULUMI_K8S_DELETE_UNREACHABLE` is `true`; then it treats every object as deleted. That is correct
only if the cluster is deleted, so the account is checked before the variable is set.

Source: https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go,
`Configure`, `Read` and `Delete`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.plain_text import shell_word
from trainyard.engine.engine_process import EngineFailedError
from trainyard.workspace.exported_state import exported_state, resources_of
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


OPTION = "--cluster-gone"
DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"
_CLUSTER = "aws:eks/cluster:Cluster"
_NOT_FOUND = "ResourceNotFoundException"
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html, Errors"""
_ARN = re.compile(r"arn:aws[a-z-]*:[a-z0-9-]+:([a-z0-9-]*):(\d{12}):")
"""https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html"""


@dataclass(frozen=True, slots=True)
class RecordedCluster:
    """The cluster in the state of a stack."""

    name: str
    regions: frozenset[str]
    accounts: frozenset[str]
    """Account ids of the stack's objects; empty if the state has no ARN."""


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    """The account's answer about the cluster."""

    said: str
    """The answer as a message."""
    gone: bool = False
    """Whether the account of the stack does not have the cluster."""
    active: bool = False


def variables_of_gone_cluster(workspace: Workspace) -> dict[str, str]:
    """Return the variables that make the provider treat the cluster's objects as deleted.

    Raises:
        WrongUseError: the cluster exists, the account cannot be queried, or is not the stack's.
    """
    file = workspace.stack_file
    if not file.facts.has_kubernetes:
        raise failures.WrongUseError(f"{OPTION}: {file.stack} has no EKS cluster")
    answer = _ask(workspace)
    if not answer.gone:
        raise failures.WrongUseError(f"{OPTION}: {answer.said}; nothing was done")
    console.progress(f"{answer.said}: its Kubernetes objects are treated as deleted")
    return {DELETE_UNREACHABLE: "true"}


def why_it_is_unreachable(workspace: Workspace) -> list[str]:
    """Return the account's answer about a cluster that does not respond, and what helps."""
    target, answer = workspace.target, _ask(workspace)
    if answer.gone:
        destroy, refresh = (f"{target.command(name)} {OPTION}" for name in ("destroy", "refresh"))
        return [
            f"{answer.said}: it was deleted outside Pulumi, with everything in it",
            f"  to delete the rest of the stack:  {destroy}",
            f"  to create the cluster again:      {refresh}",
            f"                             then:  {target.command('up')}",
        ]
    if answer.active and not target.is_sandbox:
        return [
            f"the API server of the cluster does not respond; {answer.said}",
            "  a private endpoint is reachable only within the VPC, a public one only from",
            "  architecture.endpoint.public_access_cidrs, and `aws eks get-token` must work",
        ]
    return [f"the API server of the cluster does not respond; {answer.said}"]


def recorded_cluster(resources: Iterable[Mapping[str, Any]], *, named: str) -> RecordedCluster:
    """Return the cluster in a state; `named` is its name in the stack file."""
    name, places = named, set[tuple[str, str]]()
    for resource in resources:
        arn = (resource.get("outputs") or {}).get("arn")
        if isinstance(arn, str) and (found := _ARN.match(arn)):
            places.add((found.group(1), found.group(2)))
        if resource.get("type") == _CLUSTER and resource.get("id"):
            name = str(resource["id"])
    return RecordedCluster(
        name,
        regions=frozenset(region for region, _ in places if region),
        accounts=frozenset(account for _, account in places),
    )


def _ask(workspace: Workspace) -> ClusterAnswer:
    file = workspace.stack_file
    named = file.cluster.get("name") if isinstance(file.cluster, Mapping) else None
    try:
        resources = resources_of(exported_state(workspace.command, file.stack))
        recorded = recorded_cluster(resources, named=str(named or file.stack))
        with workspace.target.access():
            return _answered(recorded, workspace.target)
    except (BotoCoreError, ClientError, EngineFailedError, failures.CommandError) as error:
        return ClusterAnswer(f"could not check whether the account has the cluster: {error}")


def _answered(recorded: RecordedCluster, target: Target) -> ClusterAnswer:
    sts, eks = target.client("sts"), target.client("eks")
    account = sts.get_caller_identity()["Account"]
    where = f"account {account} in {target.region}"
    if account not in recorded.accounts or recorded.regions - {target.region}:
        recorded_in = ", ".join(sorted(recorded.accounts | recorded.regions)) or "no account"
        return ClusterAnswer(
            f"this is {where}, but the state of {target.stack} is for {recorded_in}"
        )
    cluster = f"cluster {shell_word(recorded.name)}"
    try:
        status = eks.describe_cluster(name=recorded.name)["cluster"].get("status", "")
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") != _NOT_FOUND:
            raise
        return ClusterAnswer(f"{where} has no {cluster}", gone=True)
    return ClusterAnswer(
        f"{where} has the {cluster}, with status {status}", active=status == "ACTIVE"
    )
