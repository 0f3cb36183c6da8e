"""What a deleted stack has left in the account.

Nothing is taken from one list alone. The objects that were in the state are looked up by their own
services, as after a kill. Objects that the state never had are found by the tags of the cluster,
and by their names where AWS or a controller makes them without such tags.

`tag:GetResources` also lists what is gone: instances for an hour after their termination, other
objects until its list is updated. So an ARN in it counts only if its own service has the object.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-ec2-instance-termination-works.html
    https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/ (types in ARNs)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from components.tagging import CLUSTER_TAG, EKS_CLUSTER_TAG, PARALLELCLUSTER_TAG
from tools.workspace.exported_state import Deployment, resources_of
from tools.workspace.recovery.account import Account
from tools.workspace.recovery.operations import PendingCreate
from tools.workspace.recovery.table import way_of
from tools.workspace.urns import type_of

TAGS = (
    CLUSTER_TAG,
    EKS_CLUSTER_TAG,
    PARALLELCLUSTER_TAG,
    "aws:eks:cluster-name",
    "cluster.k8s.amazonaws.com/name",
)
"""Keys of tags whose value is the name of the cluster. The last two are those of the security group
that EKS makes (https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html) and of the
network interfaces that the VPC CNI makes (`pkg/awsutils/awsutils.go` of
https://github.com/aws/amazon-vpc-cni-k8s)."""
OWNER_TAG = "kubernetes.io/cluster/{cluster}"
"""Key of the tag of what controllers in a cluster make: volumes, load balancers.
https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html"""
LOG_GROUPS = (
    "/aws/containerinsights/{cluster}/",
    "/aws/eks/{cluster}/",
    "/aws/parallelcluster/{cluster}-",
)
"""How the names of the log groups begin that the CloudWatch agent, EKS and ParallelCluster make:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-view-metrics.html,
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html and
https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudwatch-logs-v3.html"""
Exists = Callable[[Account, str], bool]
"""Asks the service of an object for it, by its id, name or ARN."""
_ARN = re.compile(r"arn:[^:]+:([^:]+):[^:]*:[^:]*:(?:([^:/]+)[:/])?(.+)")
_GONE = frozenset({"DELETE_COMPLETE", "cancelled", "deleted", "terminated"})


@dataclass(frozen=True, slots=True)
class Made:
    """An object of AWS in the state of a stack."""

    urn: str
    identifier: str
    """In the provider's form."""
    inputs: Mapping[str, Any]
    arn: str = ""
    """Empty if the provider returns none."""


def _of_ec2(operation: str, key: str, by: str) -> Exists:
    def exists(account: Account, identifier: str) -> bool:
        wanted = [{"Name": by, "Values": [identifier]}]
        found = account.all("ec2", operation, key, Filters=wanted)
        items = [item for each in found for item in each.get("Instances", [each])]
        return any(_state(item) not in _GONE for item in items)

    return exists


def _of_service(service: str, operation: str, key: str, parameter: str) -> Exists:
    def exists(account: Account, identifier: str) -> bool:
        found = account.one(service, operation, key, **{parameter: identifier})
        items = found if isinstance(found, list) else [found] if found else []
        return any(_state(item) not in _GONE for item in items)

    return exists


def _log_group(account: Account, name: str) -> bool:
    name = name.removesuffix(":*")
    groups = account.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    return any(each["logGroupName"] == name for each in groups)


def _state(item: Any) -> str:
    """Return the state of an object; empty if it has none."""
    values = item if isinstance(item, Mapping) else {}
    state = values.get("State") or values.get("Status") or values.get("StackStatus") or ""
    return str(state["Name"] if isinstance(state, Mapping) else state)


KINDS: Mapping[str, tuple[Exists, str]] = {
    "ec2:elastic-ip": (
        _of_ec2("describe_addresses", "Addresses", "allocation-id"),
        "aws ec2 release-address --allocation-id {}",
    ),
    "ec2:instance": (
        _of_ec2("describe_instances", "Reservations", "instance-id"),
        "aws ec2 terminate-instances --instance-ids {}",
    ),
    "ec2:launch-template": (
        _of_ec2("describe_launch_templates", "LaunchTemplates", "launch-template-id"),
        "aws ec2 delete-launch-template --launch-template-id {}",
    ),
    "ec2:network-interface": (
        _of_ec2("describe_network_interfaces", "NetworkInterfaces", "network-interface-id"),
        "aws ec2 delete-network-interface --network-interface-id {}",
    ),
    "ec2:security-group": (
        _of_ec2("describe_security_groups", "SecurityGroups", "group-id"),
        "aws ec2 delete-security-group --group-id {}",
    ),
    "ec2:snapshot": (
        _of_ec2("describe_snapshots", "Snapshots", "snapshot-id"),
        "aws ec2 delete-snapshot --snapshot-id {}",
    ),
    "ec2:volume": (
        _of_ec2("describe_volumes", "Volumes", "volume-id"),
        "aws ec2 delete-volume --volume-id {}",
    ),
    "cloudformation:stack": (
        _of_service("cloudformation", "describe_stacks", "Stacks", "StackName"),
        "aws cloudformation delete-stack --stack-name {}",
    ),
    "dynamodb:table": (
        _of_service("dynamodb", "describe_table", "Table", "TableName"),
        "aws dynamodb delete-table --table-name {}",
    ),
    "elasticfilesystem:file-system": (
        _of_service("efs", "describe_file_systems", "FileSystems", "FileSystemId"),
        "aws efs delete-file-system --file-system-id {}",
    ),
    "lambda:function": (
        _of_service("lambda", "get_function_configuration", "FunctionArn", "FunctionName"),
        "aws lambda delete-function --function-name {}",
    ),
    "logs:log-group": (_log_group, "aws logs delete-log-group --log-group-name {}"),
}
"""How objects exist, and the command that deletes them, by service and type in their ARN: what AWS,
ParallelCluster and controllers make with tags of the cluster, and no state has."""
DELETED_BY: Mapping[str, str] = {
    "aws:cloudwatch/logGroup:LogGroup": KINDS["logs:log-group"][1],
    "aws:ec2/securityGroup:SecurityGroup": KINDS["ec2:security-group"][1],
    "aws:iam/instanceProfile:InstanceProfile": (
        "aws iam delete-instance-profile --instance-profile-name {}"
    ),
    "aws:iam/role:Role": "aws iam delete-role --role-name {}",
}
"""Commands that delete what a state had, by type; of other types, the type and the id are named."""


def made_in(deployment: Deployment) -> list[Made]:
    """Return the objects of AWS in a state; values that are secret stay encrypted."""
    return [
        Made(
            each["urn"],
            each["id"],
            each.get("inputs") or {},
            str((each.get("outputs") or {}).get("arn") or ""),
        )
        for each in resources_of(deployment)
        if each.get("id") and not each.get("external") and type_of(each["urn"]).startswith("aws:")
    ]


def remains(region: str, cluster: str, made: Iterable[Made] = ()) -> list[str]:
    """Return what an account has of a cluster: a line for each object, with what deletes it.

    Args:
        region: The region of the cluster.
        cluster: Name of the cluster, which is the value of its tags.
        made: The objects that were in the state.

    Raises:
        BotoCoreError: the request could not be sent.
        ClientError: AWS rejected the request.
    """
    account, known = Account(region), list(made)
    found = {
        **_of_state(account, known),
        **_by_name(account, cluster),
        **_by_tag(
            account, cluster, {name for each in known for name in (each.arn, each.identifier)}
        ),
    }
    return [
        f"{what}; delete it: {command}" if command else what
        for what, command in sorted(found.items())
    ]


def _of_state(account: Account, made: Iterable[Made]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in made:
        token = type_of(each.urn)
        way = way_of(token)
        if way is None or way.look is None:
            continue  # AWS deletes it with the object that it is a part of
        for there in way.look(account, PendingCreate(each.urn, each.inputs)):
            command = DELETED_BY.get(token, "").format(there.identifier)
            found[f"{token} {there.identifier}"] = command
    return found


def _by_tag(account: Account, cluster: str, own: Collection[str]) -> dict[str, str]:
    """Return what the tags of the cluster name, except for ids and ARNs that the state had."""
    filters = [{"Key": key, "Values": [cluster]} for key in TAGS]
    found: dict[str, str] = {}
    for each in (*filters, {"Key": OWNER_TAG.format(cluster=cluster)}):
        listed = account.all(
            *("resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList"),
            TagFilters=[each],
        )
        for arn in {item["ResourceARN"] for item in listed} - {*own}:
            service, kind, identifier = _parts(arn)
            if identifier in own:
                continue
            exists, command = KINDS.get(f"{service}:{kind}", (None, ""))
            identifier = arn if service == "cloudformation" else identifier
            if exists is None or exists(account, identifier):
                found[arn] = command.format(identifier)
    return found


def _parts(arn: str) -> tuple[str, str, str]:
    match = _ARN.fullmatch(arn)
    return (match[1], match[2] or "", match[3]) if match else ("", "", arn)


def _by_name(account: Account, cluster: str) -> dict[str, str]:
    """Return what has no tags of the cluster, or is global."""
    groups = [
        group["logGroupName"]
        for prefix in LOG_GROUPS
        for group in account.all(
            *("logs", "describe_log_groups", "logGroups"),
            logGroupNamePrefix=prefix.format(cluster=cluster),
        )
    ]
    roles = _named(account, cluster, "list_roles", "Roles", "RoleName")
    profiles = _named(
        account, cluster, "list_instance_profiles", "InstanceProfiles", "InstanceProfileName"
    )
    security_groups = account.all(
        *("ec2", "describe_security_groups", "SecurityGroups"),
        Filters=[{"Name": "group-name", "Values": [f"eks-cluster-sg-{cluster}-*"]}],
    )
    named = {
        "aws:cloudwatch/logGroup:LogGroup": groups,
        "aws:iam/role:Role": roles,
        "aws:iam/instanceProfile:InstanceProfile": profiles,
        "aws:ec2/securityGroup:SecurityGroup": [each["GroupId"] for each in security_groups],
    }
    return {
        f"{token} {name}": DELETED_BY[token].format(name)
        for token, names in named.items()
        for name in names
    }


def _named(account: Account, cluster: str, operation: str, key: str, name: str) -> list[str]:
    """Return the names of objects of IAM that begin as those of the stack and its nodes do."""
    names = [str(each[name]) for each in account.all("iam", operation, key)]
    return [each for each in names if each.startswith(f"{cluster}-")]
