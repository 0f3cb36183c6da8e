"""Rows for instance types, vCPU quotas, images, and dry runs of launches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained, says_nothing_of_the_request
from trainyard.components.account.facts import (
    AccountFacts,
    ImageFacts,
    PreflightFacts,
    TypeFacts,
    why_not_active,
)
from trainyard.components.account.lookup import (
    AccountReader,
    AccountUnreachableError,
    look_up_image,
)
from trainyard.components.account.readings import read_side_by_side
from trainyard.components.account.reservations import DESCRIBE
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.vcpu_quotas import VcpuQuota, vcpu_quota
from trainyard.components.checks.check import Row, ok, refused, skipped, warning
from trainyard.components.checks.pool_check import DESCRIBE_IMAGES, GET_PARAMETER
from trainyard.components.compute.node_pool_plan import NodePoolPlan, RootVolumePlan
from trainyard.components.config.node_pool import OwnNodes
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.preflight.readings import DESCRIBE_TYPES, GET_DEFAULT_QUOTA, GET_QUOTA

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


# Dry-run RunInstances requests, one for each kind of node.
#
# Requests contain only existing resources: security groups, instance profiles and placement groups
# that the stack creates are omitted. Tags and user data are omitted too, because EC2 does not
# refuse them.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """A dry-run request."""

    launch: NodePoolPlan
    subnet_id: str

    def request(self, image_id: str) -> dict[str, Any]:
        """Return the arguments of RunInstances."""
        launch = self.launch
        return {
            "DryRun": True,
            "MinCount": 1,
            "MaxCount": 1,
            "InstanceType": launch.instance_type.name,
            "ImageId": image_id,
            "MetadataOptions": {"HttpTokens": "required", "HttpEndpoint": "enabled"},
            **_network(launch, self.subnet_id),
            **_capacity(launch),
            **({"Placement": {"GroupName": launch.placement.name}} if _in_group(launch) else {}),
            **({"KeyName": launch.ssh_key_name} if launch.ssh_key_name else {}),
            **_root_volume(launch.root_volume),
        }


def plan_dry_run(launch: NodePoolPlan, network: NetworkPlan, facts: AccountFacts) -> DryRun | str:
    """Return the request for one node, or the reason why there is none."""
    if network.is_new:
        return "the stack creates its VPC, so there is no subnet yet"
    if launch.capacity.creation is not None and launch.capacity.reservation_id is None:
        return "the stack creates its reservation, so there is nothing to launch into yet"
    reservation = facts.reservations.get(launch.capacity.reservation_id or "")
    if reservation is not None:
        reason = why_not_active(reservation.state, reservation.starts_at)
        if reason is not None:
            return f"EC2 rejects every launch into {reservation.reservation_id}: {reason}"
    elif launch.capacity.kind == "capacity-block" and facts.could_read(DESCRIBE):
        return f"{launch.capacity.reservation_id} is over"
    return DryRun(launch=launch, subnet_id=launch.subnets[0])


def _in_group(launch: NodePoolPlan) -> bool:
    return launch.placement.group != "none" and launch.placement.name is not None


def _network(launch: NodePoolPlan, subnet_id: str) -> dict[str, Any]:
    if launch.interfaces is None:
        return {"SubnetId": subnet_id}
    return {
        "NetworkInterfaces": [
            {
                "NetworkCardIndex": each.network_card_index,
                "DeviceIndex": each.device_index,
                "InterfaceType": each.interface_type,
                "SubnetId": subnet_id,
                "DeleteOnTermination": True,
            }
            for each in launch.interfaces.interfaces
        ]
    }


def _capacity(launch: NodePoolPlan) -> dict[str, Any]:
    capacity = launch.capacity
    target: Mapping[str, str] = {}
    if capacity.reservation_id is not None:
        target = {"CapacityReservationId": capacity.reservation_id}
    elif capacity.reservation_group_arn is not None:
        target = {"CapacityReservationResourceGroupArn": capacity.reservation_group_arn}
    request: dict[str, Any] = {}
    if capacity.market_type is not None:
        request["InstanceMarketOptions"] = {"MarketType": capacity.market_type}
    if target:
        preference = capacity.preference
        request["CapacityReservationSpecification"] = {
            "CapacityReservationTarget": target,
            **({"CapacityReservationPreference": preference} if preference else {}),
        }
    return request


def _root_volume(volume: RootVolumePlan | None) -> dict[str, Any]:
    if volume is None:
        return {}
    ebs = {
        "VolumeSize": volume.size_gib,
        "VolumeType": volume.volume_type,
        "Iops": volume.iops,
        "Throughput": volume.throughput_mibps,
        "Encrypted": True,
        "DeleteOnTermination": True,
    }
    return {"BlockDeviceMappings": [{"DeviceName": volume.device_name, "Ebs": ebs}]}


# Rows for the results of dry runs.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html


LAUNCH = "EC2 would launch a node (dry run)"

WOULD_HAVE_SUCCEEDED = "DryRunOperation"
_MAY_NOT = frozenset({"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"})
_BUSY = frozenset({"RequestLimitExceeded", "Throttling", "InternalError", "Unavailable"})
_UNAVAILABLE = {
    "InsufficientInstanceCapacity": "EC2 has no capacity at the moment",
    "InsufficientCapacity": "EC2 has no capacity at the moment",
    "ReservationCapacityExceeded": "the reservation has no available instance at the moment",
    "InsufficientFreeAddressesInSubnet": "the subnet has no free IP address at the moment",
    "InstanceLimitExceeded": "one more node would exceed the instance quota",
    "VcpuLimitExceeded": "one more node would exceed the vCPU quota",
    "MaxSpotInstanceCountExceeded": "one more node would exceed the Spot Instance quota",
}
"""Error codes that are temporary or can be caused by the stack's own nodes: not refused."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    key: str
    """Key relative to the node pool."""
    problem: str
    remedy: str


_REFUSALS = {
    "Unsupported": _Refusal(
        "instance_type",
        "EC2 cannot launch this node in this subnet",
        "use a subnet in one of the zones that the message lists, or another instance type",
    ),
    "InvalidParameterCombination": _Refusal(
        "instance_type",
        "EC2 rejects this combination of settings",
        (
            "change the setting that the message names: interfaces, placement group, market or "
            "reservation"
        ),
    ),
    "OptInRequired": _Refusal(
        "instance_type",
        "the account has not subscribed to the AMI",
        "subscribe at the URL in the message, or use another AMI",
    ),
    "InvalidCapacityReservationState": _Refusal(
        "purchase_option",
        "EC2 launches no instance into the reservation in its current state",
        "use another reservation",
    ),
}
_OTHER = _Refusal(
    "instance_type",
    "EC2 rejects the launch of this node",
    "change the setting that the message names",
)


@dataclass(frozen=True, slots=True)
class DryRunAnswer:
    """The response of EC2 to a dry run, which is always an error."""

    code: str
    message: str


def dry_run_row(dry_run: DryRun, image_id: str, answer: DryRunAnswer) -> Row:
    """Return the row of a node pool for a response."""
    launch = dry_run.launch
    said = f"{answer.code}: {answer.message}"
    if answer.code == WOULD_HAVE_SUCCEEDED:
        name = launch.instance_type.name
        return ok(launch.key, LAUNCH, f"{name} from {image_id} in {dry_run.subnet_id}")
    if answer.code in _MAY_NOT:
        return skipped(launch.key, LAUNCH, f"ec2:RunInstances: {answer.code}")
    if answer.code in _BUSY:
        return skipped(launch.key, LAUNCH, said)
    if answer.code in _UNAVAILABLE:
        return warning(launch.key, LAUNCH, f"{_UNAVAILABLE[answer.code]} ({said})")
    refusal = _REFUSALS.get(answer.code, _OTHER)
    problem = Problem(
        path=f"{ROOT}.{launch.key}.{refusal.key}",
        found=said,
        problem=refusal.problem,
        remedy=refusal.remedy,
    )
    return refused(LAUNCH, problem)


IMAGE = "the AMI fits the instance type and the platform of its reservation"


def launch_rows(reader: AccountReader, plan: AnyPlan, facts: AccountFacts) -> list[Row]:
    """Return rows for the AMI and the dry run of each kind of node.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    asked = plan.node_pools
    answers = read_side_by_side(
        [lambda launch=launch: {launch.key: _rows(reader, launch, plan, facts)} for launch in asked]
    )
    return [row for launch in asked for row in answers[launch.key]]


def _rows(
    reader: AccountReader, launch: NodePoolPlan, plan: AnyPlan, facts: AccountFacts
) -> list[Row]:
    source = launch.image
    image_id = source.image_id or facts.pool_image_ids.get(str(source))
    image = look_up_image(reader, image_id) if image_id else None
    if image is None:
        denied = [line for line in reader.not_read() if _is_about_images(line)]
        why = denied[0] if denied else f"not found: {image_id or source}"
        return [
            skipped(launch.key, IMAGE, why),
            skipped(launch.key, LAUNCH, "no AMI for the dry run"),
        ]
    rows = [image_row(launch, image, facts)]
    dry_run = plan_dry_run(launch, plan.network, facts)
    if isinstance(dry_run, str):
        return [*rows, skipped(launch.key, LAUNCH, dry_run)]
    answer = _ask(reader, dry_run, image.image_id)
    return [*rows, dry_run_row(dry_run, image.image_id, answer)]


def image_row(launch: NodePoolPlan, image: ImageFacts, facts: AccountFacts) -> Row:
    """Return the row on whether an AMI fits the type and the reservation of its nodes."""
    ours = launch.instance_type
    found = f"{image.image_id}, {image.architecture}, {image.platform or 'platform unknown'}"
    reservation = facts.reservations.get(launch.capacity.reservation_id or "")
    if image.architecture and image.architecture != ours.architecture:
        problem = f"{ours.name} cannot run an AMI for another architecture"
        return refused(IMAGE, _unfit(launch, found, problem, f"an image for {ours.architecture}"))
    if reservation and image.platform and image.platform != reservation.platform:
        problem = (
            f"{reservation.reservation_id} has the platform {reservation.platform}, and EC2 "
            "launches only AMIs of the same platform into it"
        )
        return refused(
            IMAGE, _unfit(launch, found, problem, f"an image of platform {reservation.platform}")
        )
    return ok(launch.key, IMAGE, found)


def _unfit(launch: NodePoolPlan, found: str, problem: str, allowed: str) -> Problem:
    return Problem(
        path=f"{ROOT}.{launch.key}",
        found=found,
        problem=problem,
        allowed=allowed,
        remedy="set such an AMI (custom_ami_id), or use another reservation or instance type",
    )


def _is_about_images(line: str) -> bool:
    return line.startswith((GET_PARAMETER, DESCRIBE_IMAGES))


def _ask(reader: AccountReader, dry_run: DryRun, image_id: str) -> DryRunAnswer:
    try:
        answer: Any = reader.ec2.run_instances(**dry_run.request(image_id))
    except ClientError as error:
        if says_nothing_of_the_request(error):
            raise AccountUnreachableError(explained("ec2:RunInstances", error)) from error
        said = error.response.get("Error", {})
        return DryRunAnswer(said.get("Code", ""), said.get("Message", ""))
    except BotoCoreError as error:
        raise AccountUnreachableError(explained("ec2:RunInstances", error)) from error
    return DryRunAnswer(WOULD_HAVE_SUCCEEDED, str(answer))


TYPE = "the catalog matches the instance type in EC2"
MARKET = "EC2 offers the purchase option for the instance type"
QUOTA = "the vCPU quota is sufficient for the nodes"


def type_rows(launches: Sequence[NodePoolPlan], more: PreflightFacts) -> Iterator[Row]:
    """Yield rows that compare the catalog with EC2 for the instance types of the nodes."""
    for launch in launches:
        if launch.key == "architecture.system_node_group":
            continue
        reason = more.why_not(DESCRIBE_TYPES)
        facts = more.instance_types.get(launch.instance_type.name)
        if reason is not None:
            yield skipped(launch.key, TYPE, reason)
        elif facts is not None:
            yield _agreement(launch, facts)
            yield from _market(launch, facts)


def _agreement(launch: NodePoolPlan, facts: TypeFacts) -> Row:
    ours = launch.instance_type
    found = (
        f"{ours.name}: {facts.efa_interfaces} EFA interfaces on {facts.network_cards} cards"
        if facts.efa_interfaces
        else f"{ours.name}: no EFA"
    )
    if launch.interfaces is not None and facts.efa_interfaces < launch.interfaces.efa_interfaces:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.instance_type",
                found=found,
                problem=(
                    f"the nodes would request {launch.interfaces.efa_interfaces} EFA interfaces, "
                    "more than the instance type supports"
                ),
                allowed=f"at most {facts.efa_interfaces}",
                remedy="set efa_enabled to false, or use another instance type",
            ),
        )
    if launch.placement.group != "none" and "cluster" not in facts.placement_strategies:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.placement",
                found=f"{ours.name}: {', '.join(sorted(facts.placement_strategies)) or 'none'}",
                problem="EC2 does not support this type in a cluster placement group",
                remedy="set placement.group to none, or use another instance type",
            ),
        )
    if (facts.efa_interfaces, facts.network_cards) != (
        ours.efa_interfaces,
        len(ours.network_cards),
    ):
        return warning(
            launch.key,
            TYPE,
            f"{found}; the catalog says {ours.efa_interfaces} on {len(ours.network_cards)}: run "
            "`python -m tools.catalog.compare`",
        )
    return ok(launch.key, TYPE, found)


def _market(launch: NodePoolPlan, facts: TypeFacts) -> Iterator[Row]:
    market = launch.capacity.market_type or "on-demand"
    if not facts.usage_classes or market in facts.usage_classes:
        return
    yield refused(
        MARKET,
        Problem(
            path=f"{ROOT}.{launch.key}.purchase_option",
            found=launch.capacity.purchase_option,
            problem=f"EC2 does not offer {launch.instance_type.name} as {market} in this region",
            allowed=", ".join(sorted(facts.usage_classes)),
            remedy="use one of these purchase options, or another instance type",
        ),
    )


class _User(NamedTuple):
    """Nodes that count towards a quota."""

    key: str
    wanted_vcpus: int
    most_vcpus: int


def quota_rows(
    launches: Sequence[NodePoolPlan], own: Sequence[OwnNodes], more: PreflightFacts
) -> Iterator[Row]:
    """Yield rows on whether vCPU quotas are large enough for nodes and created reservations.

    A reservation counts from its creation, so nodes in one are not counted again.
    Other instances in the account are not counted. A quota that is too small for the nodes that the
    stack always launches is refused; one that is too small only for the maximum number of nodes is
    a warning.

    Args:
        launches: The planned node pools.
        own: Nodes besides the pools. Those that are not a planned pool, such as the head node, are
            one On-Demand Instance.
        more: The quotas.
    """
    users: dict[VcpuQuota, list[_User]] = defaultdict(list)
    planned = {launch.key for launch in launches}
    for nodes in own:
        found = INSTANCE_TYPES.get(nodes.instance_type)
        quota = vcpu_quota(found.family, "on-demand") if found else None
        if found is not None and quota is not None and nodes.key not in planned:
            users[quota].append(_User(nodes.key, found.vcpus, found.vcpus))
    for quota, user in _created(launches).values():
        users[quota].append(user)
    for launch in launches:
        kind = launch.capacity.kind
        if kind == "on-demand" or kind == "spot":
            quota, vcpus = vcpu_quota(launch.instance_type.family, kind), launch.instance_type.vcpus
            if quota is not None:
                user = _User(launch.key, launch.nodes * vcpus, launch.most_nodes * vcpus)
                users[quota].append(user)
    for quota, launched in users.items():
        yield _quota_row(quota, launched, more)


def _created(launches: Sequence[NodePoolPlan]) -> dict[str, tuple[VcpuQuota, _User]]:
    """Return the reservations that the stack creates, by entry; pools can share one."""
    found: dict[str, tuple[VcpuQuota, _User]] = {}
    for launch in launches:
        creation, option = launch.capacity.creation, launch.capacity.purchase_option
        quota = vcpu_quota(launch.instance_type.family, "on-demand")
        if creation is not None and quota is not None:
            vcpus = creation.instance_count * launch.instance_type.vcpus
            key = f"reservations.{option}.instance_count"
            found[option] = (quota, _User(key, vcpus, vcpus))
    return found


def _quota_row(quota: VcpuQuota, launched: list[_User], more: PreflightFacts) -> Row:
    key = launched[-1].key
    reason = more.why_not(GET_QUOTA, GET_DEFAULT_QUOTA)
    held = more.quotas_vcpus.get(quota.code)
    if held is None:
        return skipped(key, QUOTA, reason or f"{quota.name} ({quota.code}): the value is unknown")
    wanted = sum(each.wanted_vcpus for each in launched)
    most = sum(each.most_vcpus for each in launched)
    found = f"{quota.name}: {held:g} vCPUs, {most} needed by this stack"
    if most <= held:
        return ok(key, QUOTA, found)
    if wanted <= held:
        largest = f"{found} at its maximum size; EC2 rejects nodes for jobs beyond the quota"
        return warning(key, QUOTA, largest)
    return refused(
        QUOTA,
        Problem(
            path=f"{ROOT}.{key}",
            found=found,
            problem="EC2 rejects nodes beyond the quota with VcpuLimitExceeded",
            allowed=f"{held:g} vCPUs, shared by {', '.join(each.key for each in launched)}",
            remedy=(
                "request an increase (`aws service-quotas request-service-quota-increase "
                f"--service-code ec2 --quota-code {quota.code} --desired-value {most}`), or use "
                "fewer nodes"
            ),
        ),
    )
