"""The readings of the preflight for a stack.

Sources: the API references of the calls, such as
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
    https://docs.aws.amazon.com/ram/latest/APIReference/API_GetResourceShareInvitations.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from components.account.lookup import AccountReader, AccountUnreachableError
from components.account.readings import Reading
from components.catalog.instance_types import INSTANCE_TYPES
from components.catalog.vcpu_quotas import VcpuQuota, vcpu_quota
from components.config.node_pool import Placement
from components.config.pools import pools
from components.config.reservations import CapacityBlock
from components.config.stack_models import is_batch, is_eks, is_parallelcluster
from components.preflight.facts import FunctionFacts, InvitationFacts, TypeFacts, VersionFacts
from components.preflight.service_roles import service_roles

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig

DESCRIBE_TYPES = "ec2:DescribeInstanceTypes"
DESCRIBE_GROUPS = "ec2:DescribePlacementGroups"
GET_QUOTA = "servicequotas:GetServiceQuota"
GET_DEFAULT_QUOTA = "servicequotas:GetAWSDefaultServiceQuota"
GET_INVITATIONS = "ram:GetResourceShareInvitations"
GET_ROLE = "iam:GetRole"
DESCRIBE_VERSIONS = "eks:DescribeClusterVersions"
GET_FUNCTION = "lambda:GetFunctionConfiguration"
_ALL_VERSIONS = 100


def preflight_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    """Yield the readings for a stack, in any order."""
    yield lambda: {"caller_arn": _caller(reader)}
    if types := sorted({pool.instance_type for pool in pools(config)} & set(INSTANCE_TYPES)):
        yield lambda: {"instance_types": _types(reader, types)}
    for quota in quotas(config):
        yield lambda quota=quota: {"quotas_vcpus": _quota(reader, quota)}
    if any(not isinstance(each, CapacityBlock) for each in config.reservations.values()):
        yield lambda: {"invitations": _invitations(reader)}
    for role in service_roles(config):
        yield lambda role=role: {"role_names": _role(reader, role.name)}
    for name in sorted(group_names(config)):
        yield lambda name=name: {"placement_groups": _group(reader, name)}
    if is_eks(config):
        yield lambda: {"kubernetes_versions": _versions(reader)}
    if arn := provider_function(config):
        yield lambda: {"provider_functions": _function(reader, arn)}


def quotas(config: AnyStackConfig) -> tuple[VcpuQuota, ...]:
    """Return the quotas that apply to nodes outside reservations."""
    bought = [(pool.instance_type, pool.purchase_option) for pool in pools(config)]
    if is_eks(config):
        bought.append((config.architecture.system_node_group.instance_type, "on-demand"))
    found = [
        vcpu_quota(name.partition(".")[0], option)
        for name, option in bought
        if option == "on-demand" or option == "spot"
    ]
    return tuple(dict.fromkeys(quota for quota in found if quota is not None))


def group_names(config: AnyStackConfig) -> dict[str, str]:
    """Return the placement groups in the stack file, each with its key."""
    named = {
        placement.name: f"{key}.placement.name"
        for key, placement in _placements(config)
        if placement.name is not None
    }
    for name, reservation in config.reservations.items():
        group = None if isinstance(reservation, CapacityBlock) else reservation.placement_group
        if group is not None:
            named.setdefault(group, f"reservations.{name}.placement_group")
    return named


def provider_function(config: AnyStackConfig) -> str | None:
    """Return the function of the provider stack in the stack file, if any."""
    if not is_parallelcluster(config):
        return None
    return config.architecture.deployment.provider_service_token


def _placements(config: AnyStackConfig) -> Iterator[tuple[str, Placement]]:
    if is_eks(config):
        for name, group in config.architecture.node_groups.items():
            yield f"architecture.node_groups.{name}", group.placement
    elif is_batch(config):
        for name, environment in config.architecture.compute_environments.items():
            yield f"architecture.compute_environments.{name}", environment.placement
    elif is_parallelcluster(config):
        for name, queue in config.architecture.queues.items():
            for resource, each in queue.compute_resources.items():
                key = f"architecture.queues.{name}.compute_resources.{resource}"
                yield key, each.placement


def _asked(reader: AccountReader, call: str, do: Callable[..., Any], **arguments: Any) -> Any:
    """Return a response, or None: a failed call does not end the preflight."""
    try:
        return reader.ask(call, do, **arguments)
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{call}: {error}")
        return None


def _caller(reader: AccountReader) -> str:
    answer = _asked(reader, "sts:GetCallerIdentity", reader.sts.get_caller_identity)
    return answer["Arn"] if answer else ""


def _types(reader: AccountReader, names: list[str]) -> dict[str, TypeFacts]:
    # A filter, because InstanceTypes fails the whole call if the region lacks one type.
    answer = _asked(
        reader,
        DESCRIBE_TYPES,
        reader.ec2.describe_instance_types,
        Filters=[{"Name": "instance-type", "Values": names}],
    )
    return {
        each["InstanceType"]: TypeFacts(
            efa_interfaces=each["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
            network_cards=each["NetworkInfo"].get("MaximumNetworkCards", 1),
            placement_strategies=frozenset(
                each.get("PlacementGroupInfo", {}).get("SupportedStrategies", ())
            ),
            usage_classes=frozenset(each.get("SupportedUsageClasses", ())),
        )
        for each in (answer or {}).get("InstanceTypes", [])
    }


def _quota(reader: AccountReader, quota: VcpuQuota) -> dict[str, float]:
    client = reader.client("service-quotas")
    asked = {"ServiceCode": "ec2", "QuotaCode": quota.code}
    answer = _asked(reader, GET_QUOTA, client.get_service_quota, **asked)
    denied = any(line.startswith(f"{GET_QUOTA}:") for line in reader.unreadable)
    if answer is None and not denied:  # never changed from the AWS default
        default = client.get_aws_default_service_quota
        answer = _asked(reader, GET_DEFAULT_QUOTA, default, **asked)
    return {quota.code: answer["Quota"]["Value"]} if answer else {}


def _invitations(reader: AccountReader) -> tuple[InvitationFacts, ...]:
    do = reader.client("ram").get_resource_share_invitations
    found: list[InvitationFacts] = []
    try:
        for answer in reader.pages(GET_INVITATIONS, do):
            found += [
                InvitationFacts(
                    share_arn=each["resourceShareArn"],
                    share_name=each.get("resourceShareName", ""),
                    sender_id=each.get("senderAccountId", ""),
                    status=each["status"],
                )
                for each in answer.get("resourceShareInvitations", [])
            ]
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{GET_INVITATIONS}: {error}")
    return tuple(found)


def _role(reader: AccountReader, name: str) -> Mapping[str, bool]:
    answer = _asked(reader, GET_ROLE, reader.client("iam").get_role, RoleName=name)
    return {} if answer is None else {name: True}


def _group(reader: AccountReader, name: str) -> dict[str, str]:
    answer = _asked(
        reader, DESCRIBE_GROUPS, reader.ec2.describe_placement_groups, GroupNames=[name]
    )
    return {each["GroupName"]: each["State"] for each in (answer or {}).get("PlacementGroups", [])}


def _versions(reader: AccountReader) -> dict[str, VersionFacts]:
    # All versions, because the API does not document its response to unknown versions.
    answer = _asked(
        reader, DESCRIBE_VERSIONS, reader.eks.describe_cluster_versions, maxResults=_ALL_VERSIONS
    )
    return {
        each["clusterVersion"]: VersionFacts(
            status=each.get("versionStatus", ""),
            standard_support_ends=_day(each.get("endOfStandardSupportDate")),
        )
        for each in (answer or {}).get("clusterVersions", [])
    }


def _day(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _function(reader: AccountReader, arn: str) -> dict[str, FunctionFacts]:
    answer = _asked(
        reader, GET_FUNCTION, reader.client("lambda").get_function_configuration, FunctionName=arn
    )
    return {arn: FunctionFacts(state=answer.get("State", "Active"))} if answer else {}
