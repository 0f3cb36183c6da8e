"""Why nodes of a group are missing: instances that EC2 did not launch or that did not join.

Sources:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Activity.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.diagnosis.failed_pool import causes, commands
from trainyard.diagnosis.known_errors import NOT_JOINED, known_error
from trainyard.workspace.target import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFacts:
    """The account's data on a node group."""

    name: str
    """Entry in the stack file."""
    scaling_group: str
    """Name of its Auto Scaling group; empty before EKS has created one."""
    desired: int
    """Desired capacity of its Auto Scaling group, or of the managed group before it has one."""
    instance_ids: tuple[str, ...]
    """Instances in service."""
    refusal: str
    """Why its last launch failed; empty if it succeeded."""
    issues: tuple[str, ...]
    """Health issues of a managed group: code and message."""
    role_arn: str
    managed: bool
    let_in: bool | None
    """Whether the cluster admits the role; None if EKS manages access or it is unknown."""


@dataclass(frozen=True, slots=True)
class NodeGroupPlace:
    """Cluster and region for the commands."""

    region: str
    cluster: str
    account: Account


def read_group(
    eks: Any,
    autoscaling: Any,
    *,
    cluster: str,
    name: str,
    output: Mapping[str, Any],
    mapped_roles: Collection[str],
) -> GroupFacts:
    """Read a node group from the account.

    Args:
        eks: A boto3 EKS client.
        autoscaling: A boto3 Auto Scaling client.
        cluster: Name of the cluster.
        name: Entry in the stack file.
        output: The node group in the stack's outputs.
        mapped_roles: Role ARNs in the cluster's aws-auth.

    Raises:
        botocore.exceptions.ClientError: AWS rejected a request.
    """
    managed = output.get("node_group")
    issues: tuple[str, ...] = ()
    wanted = 0
    scaling_group = output.get("autoscaling_group") or ""
    if managed:
        found = _managed_group(eks, cluster, managed)
        scaling_group = _scaling_group(found)
        issues = health_issues(found)
        wanted = found.get("scalingConfig", {}).get("desiredSize", 0)
    group = described_scaling_group(autoscaling, scaling_group)
    role_arn = output.get("role_arn") or ""
    return GroupFacts(
        name=name,
        scaling_group=scaling_group,
        desired=group["DesiredCapacity"] if scaling_group else wanted,
        instance_ids=tuple(
            each["InstanceId"]
            for each in group["Instances"]
            if each["LifecycleState"] == "InService"
        ),
        refusal=latest_refusal(autoscaling, scaling_group),
        issues=issues,
        role_arn=role_arn,
        managed=bool(managed),
        let_in=None if managed else _let_in(eks, cluster, role_arn, mapped_roles),
    )


def what_it_lacks(group: GroupFacts, joined: Collection[str], place: NodeGroupPlace) -> list[str]:
    """Return why a node group has too few nodes; empty if all have joined.

    Args:
        group: The node group.
        joined: Ids of the instances that are nodes of the cluster.
        place: Cluster and region for the commands.
    """
    found: list[str] = []
    if not group.scaling_group:
        found.append(
            f"node group {group.name}: EKS has not created its Auto Scaling group, so none of its "
            f"{group.desired} instances is launched"
        )
    elif len(group.instance_ids) < group.desired:
        found.append(
            f"node group {group.name}: {len(group.instance_ids)} of {group.desired} instances are "
            "in service; "
            + (f"EC2 says: {group.refusal}" if group.refusal else "others are starting")
        )
        refused = known_error(group.refusal, "aws")
        found += [f"  {refused.more}"] if refused else []
    for issue in group.issues:
        found.append(f"node group {group.name}: EKS says: {issue}")
        known = known_error(issue, "aws")
        found += [f"  {known.more}"] if known else []
    absent = [each for each in group.instance_ids if each not in joined]
    if absent:
        found.append(
            f"node group {group.name}: {', '.join(absent)} are running but have not joined the "
            "cluster; check these causes in order:"
        )
        found += [
            f"  {cause}"
            for cause in causes(role_arn=group.role_arn, let_in=group.let_in, managed=group.managed)
        ]
        look = commands(
            region=place.region,
            cluster=place.cluster,
            instance_ids=absent,
            account=place.account,
        )
        found += [*(f"  {command}" for command in look), f"  {NOT_JOINED.more}"]
    return found


def scaling_group_of(eks: Any, cluster: str, output: Mapping[str, Any]) -> str:
    """Return the name of the Auto Scaling group of a node group in the stack's outputs.

    Empty before EKS has created it, and if it could not.

    Raises:
        botocore.exceptions.ClientError: EKS rejected the request.
    """
    managed = output.get("node_group")
    if not managed:
        return str(output["autoscaling_group"])
    return _scaling_group(_managed_group(eks, cluster, managed))


def health_issues(described: Mapping[str, Any]) -> tuple[str, ...]:
    """Return code and message of the health issues in an answer of EKS, both optional there."""
    issues = (described.get("health") or {}).get("issues") or []
    return tuple(
        f"{each.get('code', 'unknown issue')}: {each.get('message', 'EKS gives no reason')}"
        for each in issues
    )


def _managed_group(eks: Any, cluster: str, name: str) -> dict[str, Any]:
    return eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]


def _scaling_group(managed_group: Mapping[str, Any]) -> str:
    """Return the name of the Auto Scaling group; empty without `resources`, as in `CREATING`.

    aws/aws-cli, awscli/examples/eks/create-nodegroup.rst at 07c4fe36
    """
    groups = managed_group.get("resources", {}).get("autoScalingGroups", [])
    return groups[0]["name"] if groups else ""


def described_scaling_group(autoscaling: Any, name: str) -> Mapping[str, Any]:
    """Return an Auto Scaling group, which is empty if it does not exist or `name` is empty.

    Raises:
        botocore.exceptions.ClientError: Auto Scaling rejected the request.
    """
    nothing = {"DesiredCapacity": 0, "Instances": []}
    if not name:
        return nothing
    answer = autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
    return next(iter(answer["AutoScalingGroups"]), nothing)


def latest_refusal(autoscaling: Any, scaling_group: str) -> str:
    """Return why the newest scaling activity of a group failed; empty if it did not fail.

    Also empty if `scaling_group` is.

    Raises:
        botocore.exceptions.ClientError: Auto Scaling rejected the request.
    """
    if not scaling_group:
        return ""
    activities = autoscaling.describe_scaling_activities(AutoScalingGroupName=scaling_group)
    newest = next(iter(activities["Activities"]), None)
    if newest is None or newest["StatusCode"] != "Failed":
        return ""
    return newest.get("StatusMessage") or newest.get("Description") or "no reason given"


def _let_in(eks: Any, cluster: str, role_arn: str, mapped_roles: Collection[str]) -> bool | None:
    if not role_arn:
        return None
    if role_arn in mapped_roles:
        return True
    if eks.describe_cluster(name=cluster)["cluster"]["accessConfig"]["authenticationMode"] == (
        "CONFIG_MAP"
    ):
        return False
    pages = eks.get_paginator("list_access_entries").paginate(clusterName=cluster)
    return any(role_arn in page["accessEntries"] for page in pages)
