"""What a deleted stack has left in the account.

Nothing is taken from one list alone. The objects that were in the state are looked up by their own
services, as after a kill. Objects that the state never had are found by the tags of the cluster,
and by their names where AWS or a controller makes them without such tags.

`tag:GetResources` also lists what is gone: instances for an hour after their termination, other
objects for hours, deregistered job definitions for half a year. So an ARN in it counts only if its
own service has the object. It does not list roles and Auto Scaling groups.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-ec2-instance-termination-works.html
    https://github.com/boto/boto3/issues/3341
    https://docs.aws.amazon.com/batch/latest/APIReference/API_DeregisterJobDefinition.html
    https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/supported-services.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/ (types in ARNs)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.naming import partition
from trainyard.components.tagging import CLUSTER_TAG, EKS_CLUSTER_TAG, PARALLELCLUSTER_TAG
from trainyard.workspace.arns import Arn, arn_of
from trainyard.workspace.exported_state import Deployment, resources_of
from trainyard.workspace.recovery.account import Look, LookupAccount, tag_map
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.table import lookup_of
from trainyard.workspace.urns import type_of

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
    r"/aws/containerinsights/{cluster}/.+",
    r"/aws/eks/{cluster}/.+",
    r"/aws/parallelcluster/{cluster}-\d{{12}}",
)
"""Names of the log groups that the CloudWatch agent, EKS and ParallelCluster make:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-view-metrics.html,
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html and
https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudwatch-logs-v3.html, whose last part is
the minute of the creation."""
KEPT_LOG_GROUPS = r"/aws/lambda/pcluster-cfn-.+"
"""Names of the log group of ParallelCluster's own function, which its template always keeps, for 90
days: `PclusterCfnFunctionLogGroup` in cloudformation/custom_resource/cluster.yaml of
https://github.com/aws/aws-parallelcluster"""
LOG_GROUPS_OF_CLUSTER = r"/aws/parallelcluster/{cluster}-\d{{12}}|/aws/lambda/pcluster-.+"
"""Names of those that ParallelCluster keeps with `DeletionPolicy: Retain`: `cluster_stack.py` and
`cdk_builder_utils.py` in cli/src/pcluster/templates of the same repository."""
_PATH_OF_ROLES = re.compile(r"/parallelcluster/([^/]+)/")
"""Path of the roles and profiles of ParallelCluster: `_cluster_scoped_iam_path` there."""
Exists = Callable[[LookupAccount, str], bool]
"""Asks the service of an object for it, by its id, name or ARN."""
_GONE = frozenset({"cancelled", "delete_complete", "deleted", "expired", "inactive", "terminated"})
"""States of objects that are over, in lower case."""
_ENDED = frozenset({"failed", "succeeded"})
"""States of jobs that are over."""


@dataclass(frozen=True, slots=True)
class MadeObject:
    """An object of AWS in the state of a stack."""

    urn: str
    identifier: str
    """In the provider's form."""
    inputs: Mapping[str, Any]
    arn: str = ""
    """Empty if the provider returns none."""


def _of_ec2(operation: str, key: str, by: str) -> Exists:
    def exists(account: LookupAccount, identifier: str) -> bool:
        wanted = [{"Name": by, "Values": [identifier]}]
        found = account.all("ec2", operation, key, Filters=wanted)
        items = [item for each in found for item in each.get("Instances", [each])]
        return any(_state(item) not in _GONE for item in items)

    return exists


def _of_service(service: str, operation: str, key: str, parameter: str) -> Exists:
    """Return a lookup by a parameter; one whose name ends with `[]` is a list."""

    def exists(account: LookupAccount, identifier: str) -> bool:
        value = [identifier] if parameter.endswith("[]") else identifier
        found = account.one(service, operation, key, **{parameter.removesuffix("[]"): value})
        items = found if isinstance(found, list) else [found] if found else []
        return any(_state(item) not in _GONE for item in items)

    return exists


def _log_group(account: LookupAccount, name: str) -> bool:
    groups = account.all("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=name)
    return any(each["logGroupName"] == name for each in groups)


def _rule(account: LookupAccount, name: str) -> bool:
    rules = account.all("events", "list_rules", "Rules", NamePrefix=name)
    return any(each["Name"] == name for each in rules)


def _job(account: LookupAccount, identifier: str) -> bool:
    found = account.one("batch", "describe_jobs", "jobs", jobs=[identifier])
    return any(_state(each) not in _ENDED for each in found or ())


def _state(item: Any) -> str:
    """Return the state of an object, in lower case; empty if it has none."""
    values = item if isinstance(item, Mapping) else {}
    keys = ("status", "State", "Status", "StackStatus")
    state = next((values[key] for key in keys if values.get(key)), "")
    return str(state["Name"] if isinstance(state, Mapping) else state).lower()


KINDS: Mapping[str, tuple[Exists, str]] = {
    "batch:compute-environment": (
        _of_service(
            *("batch", "describe_compute_environments", "computeEnvironments"),
            "computeEnvironments[]",
        ),
        "aws batch delete-compute-environment --compute-environment {}",
    ),
    "batch:job": (_job, "aws batch terminate-job --job-id {} --reason left"),
    "batch:job-definition": (
        _of_service("batch", "describe_job_definitions", "jobDefinitions", "jobDefinitions[]"),
        "aws batch deregister-job-definition --job-definition {}",
    ),
    "batch:job-queue": (
        _of_service("batch", "describe_job_queues", "jobQueues", "jobQueues[]"),
        "aws batch delete-job-queue --job-queue {}",
    ),
    "cloudformation:stack": (
        _of_service("cloudformation", "describe_stacks", "Stacks", "StackName"),
        "aws cloudformation delete-stack --stack-name {}",
    ),
    "cloudwatch:alarm": (
        _of_service("cloudwatch", "describe_alarms", "MetricAlarms", "AlarmNames[]"),
        "aws cloudwatch delete-alarms --alarm-names {}",
    ),
    "dynamodb:table": (
        _of_service("dynamodb", "describe_table", "Table", "TableName"),
        "aws dynamodb delete-table --table-name {}",
    ),
    "ec2:capacity-reservation": (
        _of_service(
            *("ec2", "describe_capacity_reservations", "CapacityReservations"),
            "CapacityReservationIds[]",
        ),
        "aws ec2 cancel-capacity-reservation --capacity-reservation-id {}",
    ),
    "ec2:elastic-ip": (
        _of_ec2("describe_addresses", "Addresses", "allocation-id"),
        "aws ec2 release-address --allocation-id {}",
    ),
    "ec2:instance": (
        _of_ec2("describe_instances", "Reservations", "instance-id"),
        "aws ec2 terminate-instances --instance-ids {}",
    ),
    "ec2:internet-gateway": (
        _of_ec2("describe_internet_gateways", "InternetGateways", "internet-gateway-id"),
        "aws ec2 delete-internet-gateway --internet-gateway-id {}",
    ),
    "ec2:launch-template": (
        _of_service(
            *("ec2", "describe_launch_templates", "LaunchTemplates"),
            "LaunchTemplateIds[]",
        ),
        "aws ec2 delete-launch-template --launch-template-id {}",
    ),
    "ec2:natgateway": (
        _of_service("ec2", "describe_nat_gateways", "NatGateways", "NatGatewayIds[]"),
        "aws ec2 delete-nat-gateway --nat-gateway-id {}",
    ),
    "ec2:network-interface": (
        _of_ec2("describe_network_interfaces", "NetworkInterfaces", "network-interface-id"),
        "aws ec2 delete-network-interface --network-interface-id {}",
    ),
    "ec2:placement-group": (
        _of_ec2("describe_placement_groups", "PlacementGroups", "group-name"),
        "aws ec2 delete-placement-group --group-name {}",
    ),
    "ec2:route-table": (
        _of_ec2("describe_route_tables", "RouteTables", "route-table-id"),
        "aws ec2 delete-route-table --route-table-id {}",
    ),
    "ec2:security-group": (
        _of_ec2("describe_security_groups", "SecurityGroups", "group-id"),
        "aws ec2 delete-security-group --group-id {}",
    ),
    "ec2:security-group-rule": (
        _of_ec2("describe_security_group_rules", "SecurityGroupRules", "security-group-rule-id"),
        "",
    ),
    "ec2:snapshot": (
        _of_ec2("describe_snapshots", "Snapshots", "snapshot-id"),
        "aws ec2 delete-snapshot --snapshot-id {}",
    ),
    "ec2:subnet": (
        _of_ec2("describe_subnets", "Subnets", "subnet-id"),
        "aws ec2 delete-subnet --subnet-id {}",
    ),
    "ec2:volume": (
        _of_ec2("describe_volumes", "Volumes", "volume-id"),
        "aws ec2 delete-volume --volume-id {}",
    ),
    "ec2:vpc": (_of_ec2("describe_vpcs", "Vpcs", "vpc-id"), "aws ec2 delete-vpc --vpc-id {}"),
    "ec2:vpc-endpoint": (
        _of_ec2("describe_vpc_endpoints", "VpcEndpoints", "vpc-endpoint-id"),
        "aws ec2 delete-vpc-endpoints --vpc-endpoint-ids {}",
    ),
    "ec2:vpc-flow-log": (
        _of_service("ec2", "describe_flow_logs", "FlowLogs", "FlowLogIds[]"),
        "aws ec2 delete-flow-logs --flow-log-ids {}",
    ),
    "ecr:repository": (
        _of_service("ecr", "describe_repositories", "repositories", "repositoryNames[]"),
        "aws ecr delete-repository --force --repository-name {}",
    ),
    "eks:cluster": (
        _of_service("eks", "describe_cluster", "cluster", "name"),
        "aws eks delete-cluster --name {}",
    ),
    "elasticfilesystem:file-system": (
        _of_service("efs", "describe_file_systems", "FileSystems", "FileSystemId"),
        "aws efs delete-file-system --file-system-id {}",
    ),
    "events:rule": (_rule, "aws events delete-rule --name {}"),
    "fsx:association": (
        _of_service(
            *("fsx", "describe_data_repository_associations", "Associations"),
            "AssociationIds[]",
        ),
        "aws fsx delete-data-repository-association --association-id {}",
    ),
    "fsx:file-system": (
        _of_service("fsx", "describe_file_systems", "FileSystems", "FileSystemIds[]"),
        "aws fsx delete-file-system --file-system-id {}",
    ),
    "iam:instance-profile": (
        _of_service("iam", "get_instance_profile", "InstanceProfile", "InstanceProfileName"),
        "aws iam delete-instance-profile --instance-profile-name {}",
    ),
    "lambda:function": (
        _of_service("lambda", "get_function_configuration", "FunctionArn", "FunctionName"),
        "aws lambda delete-function --function-name {}",
    ),
    "logs:log-group": (_log_group, "aws logs delete-log-group --log-group-name {}"),
    "sns:": (
        _of_service("sns", "get_topic_attributes", "Attributes", "TopicArn"),
        "aws sns delete-topic --topic-arn {}",
    ),
}
"""How objects exist, and the command that deletes them, by service and type in their ARN: what the
stacks, AWS, ParallelCluster and controllers make with tags of the cluster."""
_BY_ARN = ("cloudformation:stack", "sns:")
"""Kinds whose service takes the ARN."""
_LAST_PART = ("fsx:association", "iam:instance-profile")
"""Kinds whose service takes what is after the last slash: a parent, or a path, is before it."""
DELETED_BY: Mapping[str, str] = {
    "aws:cloudwatch/logGroup:LogGroup": KINDS["logs:log-group"][1],
    "aws:ec2/securityGroup:SecurityGroup": KINDS["ec2:security-group"][1],
    "aws:iam/instanceProfile:InstanceProfile": KINDS["iam:instance-profile"][1],
    "aws:iam/role:Role": "aws iam delete-role --role-name {}",
}
"""Commands that delete what a state had, by type; of other types, the type and the id are named."""


def made_in(deployment: Deployment) -> list[MadeObject]:
    """Return the objects of AWS in a state; values that are secret stay encrypted."""
    return [
        MadeObject(
            each["urn"],
            each["id"],
            each.get("inputs") or {},
            str((each.get("outputs") or {}).get("arn") or ""),
        )
        for each in resources_of(deployment)
        if each.get("id") and not each.get("external") and type_of(each["urn"]).startswith("aws:")
    ]


def remains(
    region: str,
    cluster: str,
    made: Iterable[MadeObject] = (),
    settings: ProviderSettings = OF_ENVIRONMENT,
) -> list[str]:
    """Return what an account has of a cluster: a line for each object, with what deletes it.

    Log groups that the cluster keeps, as its configuration says, are not among them.

    Args:
        region: The region of the cluster.
        cluster: Name of the cluster, which is the value of its tags.
        made: The objects that were in the state.
        settings: How the account is reached.

    Raises:
        BotoCoreError: the request could not be sent.
        ClientError: AWS rejected the request.
    """
    account, known = LookupAccount(region, settings), list(made)
    # What the state had and no lookup finds must be found by its tags.
    own = {name for each in known if _look(each) for name in (each.arn, each.identifier)}
    found = {
        **_of_state(account, known),
        **_by_name(account, region, cluster, own),
        **_by_tag(account, cluster, own),
    }
    kept = _kept_log_groups(cluster, known)
    return [
        f"{what}; delete it: {_in_region(command, region)}" if command else what
        for what, command in sorted(found.items())
        if not kept.fullmatch(_log_group_in(what))
    ]


def _in_region(command: str, region: str) -> str:
    is_global = command.startswith("aws iam ")
    return command if is_global else f"{command} --region {region}"


def _log_group_in(what: str) -> str:
    """Return the name of the log group that a line is about; empty if it is about none."""
    of_state = "aws:cloudwatch/logGroup:LogGroup "
    if what.startswith(of_state):
        return what.removeprefix(of_state)
    arn = arn_of(what)
    return arn.identifier if arn is not None and arn.service == "logs" else ""


def _kept_log_groups(cluster: str, made: Iterable[MadeObject]) -> re.Pattern[str]:
    """Return a pattern of the names of log groups that stay on purpose."""
    keeps = any(
        properties.get("ClusterConfiguration", {})
        .get("Monitoring", {})
        .get("Logs", {})
        .get("CloudWatch", {})
        .get("DeletionPolicy")
        == "Retain"
        for properties in _resources_in(made)
    )
    own = [LOG_GROUPS_OF_CLUSTER.format(cluster=re.escape(cluster))] if keeps else []
    return re.compile("|".join([KEPT_LOG_GROUPS, *own]))


def _resources_in(made: Iterable[MadeObject]) -> Iterator[Mapping[str, Any]]:
    """Yield the properties of the resources in CloudFormation templates of a state."""
    for each in made:
        body = each.inputs.get("templateBody")
        if type_of(each.urn) == "aws:cloudformation/stack:Stack" and isinstance(body, str):
            for resource in json.loads(body)["Resources"].values():
                yield resource.get("Properties", {})


def _look(made: MadeObject) -> Look | None:
    """Return how recovery looks an object up; None if it does not."""
    lookup = lookup_of(type_of(made.urn))
    return lookup.look if lookup else None


def _of_state(account: LookupAccount, made: Iterable[MadeObject]) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in made:
        token, look = type_of(each.urn), _look(each)
        if look is None:
            continue  # AWS deletes it with the object that it is a part of, or its tags find it
        for there in look(account, PendingCreate(each.urn, each.inputs)):
            command = DELETED_BY.get(token, "").format(there.identifier)
            found[f"{token} {there.identifier}"] = command
    return found


def _by_tag(account: LookupAccount, cluster: str, own: Collection[str]) -> dict[str, str]:
    """Return what the tags of the cluster name, except for ids and ARNs that the state had."""
    filters = [{"Key": key, "Values": [cluster]} for key in TAGS]
    listed = {
        item["ResourceARN"]
        for each in (*filters, {"Key": OWNER_TAG.format(cluster=cluster)})
        for item in account.all(
            *("resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList"),
            TagFilters=[each],
        )
    }
    found: dict[str, str] = {}
    for text in sorted(listed):
        arn = arn_of(text)
        text, kind, identifier = _named(text, arn) if arn else (text, "", text)
        if {text, identifier} & {*own}:
            continue
        exists, command = KINDS.get(kind, (None, ""))
        if exists is None or exists(account, identifier):
            found[text] = command.format(identifier)
    return found


def _named(text: str, arn: Arn) -> tuple[str, str, str]:
    """Return the ARN, the key in `KINDS`, and what the service of an object takes.

    Node groups, add-ons and other parts of an EKS cluster are there as long as the cluster is, in
    whose place they stand.
    """
    text, identifier = text.removesuffix(":*"), arn.identifier.removesuffix(":*")
    if arn.service == "eks":
        identifier = identifier.partition("/")[0]
        text = f"arn:{arn.partition}:eks:{arn.region}:{arn.account}:cluster/{identifier}"
        return text, "eks:cluster", identifier
    kind = f"{arn.service}:{arn.kind}"
    if kind in _BY_ARN:
        return text, kind, text
    return text, kind, identifier.rpartition("/")[2] if kind in _LAST_PART else identifier


def _by_name(
    account: LookupAccount, region: str, cluster: str, own: Collection[str]
) -> dict[str, str]:
    """Return what has no tags of the cluster, or is global, except for names of the state.

    Objects of a region are named by ARN, as in the list of tags.
    """
    groups, command = _log_groups(account, cluster), KINDS["logs:log-group"][1]
    found = {arn: command.format(name) for name, arn in groups.items() if name not in own}
    command = KINDS["ec2:security-group"][1]
    for each in account.all(
        *("ec2", "describe_security_groups", "SecurityGroups"),
        Filters=[{"Name": "group-name", "Values": [f"eks-cluster-sg-{cluster}-*"]}],
    ):
        identifier = each["GroupId"]
        begin = f"arn:{partition(region)}:ec2:{region}:{each['OwnerId']}"
        found[f"{begin}:security-group/{identifier}"] = command.format(identifier)
    for token, names in (
        ("aws:iam/role:Role", _roles(account, cluster)),
        ("aws:iam/instanceProfile:InstanceProfile", _profiles(account, cluster)),
    ):
        found |= {
            f"{token} {name}": DELETED_BY[token].format(name) for name in names if name not in own
        }
    return found


def _log_groups(account: LookupAccount, cluster: str) -> dict[str, str]:
    """Return the ARNs of the log groups with the names of a cluster, by name."""
    found: dict[str, str] = {}
    for pattern in LOG_GROUPS:
        name = re.compile(pattern.format(cluster=re.escape(cluster)))
        prefix = pattern.partition("{cluster}")[0] + cluster
        for group in account.all(
            *("logs", "describe_log_groups", "logGroups"), logGroupNamePrefix=prefix
        ):
            if name.fullmatch(group["logGroupName"]):
                found[group["logGroupName"]] = str(group["arn"]).removesuffix(":*")
    return found


def _roles(account: LookupAccount, cluster: str) -> Iterator[str]:
    for role in account.all("iam", "list_roles", "Roles"):
        name = str(role["RoleName"])
        if _begins(name, cluster):
            described = account.one("iam", "get_role", "Role", RoleName=name)
            if described is not None and _is_of(cluster, role["Path"], described):
                yield name


def _profiles(account: LookupAccount, cluster: str) -> Iterator[str]:
    for profile in account.all("iam", "list_instance_profiles", "InstanceProfiles"):
        name = str(profile["InstanceProfileName"])
        if _begins(name, cluster):
            wanted = {"InstanceProfileName": name}
            described = account.one("iam", "get_instance_profile", "InstanceProfile", **wanted)
            if described is not None and _is_of(cluster, profile["Path"], described):
                yield name


def _begins(name: str, cluster: str) -> bool:
    """Return whether a name begins as those of a stack and its nodes do, and perhaps of others."""
    return name.startswith(f"{cluster}-")


def _is_of(cluster: str, path: str, described: Mapping[str, Any]) -> bool:
    """Return whether an object of IAM with such a name is of a cluster, and not of `CLUSTER-2`.

    Tags decide, which lists of IAM do not have; of ParallelCluster also the path. Without both, it
    counts: nobody says whose it is.
    """
    of_path = _PATH_OF_ROLES.match(path)
    tags = tag_map(described.get("Tags"))
    owners = {tags[key] for key in TAGS if key in tags} | ({of_path[1]} if of_path else set())
    return cluster in owners or not owners
