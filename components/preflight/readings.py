"""The readings of the preflight for a stack, and the service-linked roles that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from trainyard.components.account.facts import InvitationFacts, TypeFacts, UltraserverFacts
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.account.readings import Reading
from trainyard.components.architectures.registry import account_of
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.vcpu_quotas import VcpuQuota, vcpu_quota
from trainyard.components.checks.check import ServiceRole
from trainyard.components.config.reservations import CapacityBlock

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig


# The service-linked roles that a stack needs.
#
# AWS creates each role when a service first needs it, if the caller can create service-linked
# roles. Without this permission, `up` fails halfway.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
#     https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks-nodegroups.html
#     https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html
#     https://docs.aws.amazon.com/batch/latest/userguide/using-service-linked-roles-batch.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html


def service_roles(config: AnyStackConfig) -> Iterator[ServiceRole]:
    """Yield the roles that a stack needs."""
    yield from account_of(config).needs.service_roles
    spot = next((pool for pool in config.pools() if pool.purchase_option == "spot"), None)
    if spot is not None:
        yield ServiceRole("AWSServiceRoleForEC2Spot", "spot.amazonaws.com", spot.key)


# The readings of the preflight for a stack.
#
# Sources: the API references of the calls, such as
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
#     https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html
#     https://docs.aws.amazon.com/ram/latest/APIReference/API_GetResourceShareInvitations.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockStatus.html


DESCRIBE_TYPES = "ec2:DescribeInstanceTypes"
GET_QUOTA = "servicequotas:GetServiceQuota"
GET_DEFAULT_QUOTA = "servicequotas:GetAWSDefaultServiceQuota"
GET_INVITATIONS = "ram:GetResourceShareInvitations"
GET_ROLE = "iam:GetRole"
DESCRIBE_BLOCK_STATUS = "ec2:DescribeCapacityBlockStatus"


def preflight_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    """Yield the readings for a stack, in any order."""
    yield lambda: {"caller_arn": _caller(reader)}
    if types := sorted({pool.instance_type for pool in config.pools()} & set(INSTANCE_TYPES)):
        yield lambda: {"instance_types": _types(reader, types)}
    for quota in quotas(config):
        yield lambda quota=quota: {"quotas_vcpus": _quota(reader, quota)}
    if any(not isinstance(each, CapacityBlock) for each in config.reservations.values()):
        yield lambda: {"invitations": _invitations(reader)}
    if any(ultraserver_sizes(pool.instance_type) for pool in config.pools()):
        yield lambda: {"ultraservers": _ultraservers(reader)}
    for role in service_roles(config):
        yield lambda role=role: {"role_names": _role(reader, role.name)}
    account = account_of(config)
    yield from account.preflight_readings(reader, config)


def quotas(config: AnyStackConfig) -> tuple[VcpuQuota, ...]:
    """Return the quotas that apply to nodes outside reservations, and to created reservations."""
    created = {name for name, each in config.reservations.items() if each.is_created}
    bought = [
        (
            pool.instance_type,
            "on-demand" if pool.purchase_option in created else pool.purchase_option,
        )
        for pool in config.pools()
    ]
    bought += [(nodes.instance_type, "on-demand") for nodes in config.architecture.own_nodes()]
    found = [
        vcpu_quota(name.partition(".")[0], option)
        for name, option in bought
        if option == "on-demand" or option == "spot"
    ]
    return tuple(dict.fromkeys(quota for quota in found if quota is not None))


def _caller(reader: AccountReader) -> str:
    answer = reader.ask_or_none("sts:GetCallerIdentity", reader.sts.get_caller_identity)
    return answer["Arn"] if answer else ""


def _types(reader: AccountReader, names: list[str]) -> dict[str, TypeFacts]:
    # A filter, because InstanceTypes fails the whole call if the region lacks one type.
    answer = reader.ask_or_none(
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
    answer = reader.ask_or_none(GET_QUOTA, client.get_service_quota, **asked)
    denied = any(line.startswith(f"{GET_QUOTA}:") for line in reader.unreadable)
    if answer is None and not denied:  # never changed from the AWS default
        default = client.get_aws_default_service_quota
        answer = reader.ask_or_none(GET_DEFAULT_QUOTA, default, **asked)
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


def _ultraservers(reader: AccountReader) -> dict[str, UltraserverFacts]:
    """Return the UltraServers by reservation; EC2 reports a block when it has started."""
    do, found = reader.ec2.describe_capacity_block_status, dict[str, UltraserverFacts]()
    try:
        for answer in reader.pages(DESCRIBE_BLOCK_STATUS, do, next_key="NextToken"):
            for each in answer.get("CapacityBlockStatuses", []):
                facts = UltraserverFacts(
                    interconnect=each.get("InterconnectStatus", "insufficient-data"),
                    instances=each.get("TotalCapacity", 0),
                    unavailable=each.get("TotalUnavailableCapacity", 0),
                )
                of = each.get("CapacityReservationStatuses", [])
                found |= {reservation["CapacityReservationId"]: facts for reservation in of}
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{DESCRIBE_BLOCK_STATUS}: {error}")
    return found


def _role(reader: AccountReader, name: str) -> Mapping[str, bool]:
    answer = reader.ask_or_none(GET_ROLE, reader.client("iam").get_role, RoleName=name)
    return {} if answer is None else {name: True}
