"""Rows for instance types, vCPU quotas, images, and dry runs of launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained, says_nothing_of_the_request
from trainyard.components.account.check import Row, ok, refused, skipped, warning
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.reader import (
    AccountReader,
    AccountUnreachableError,
    read_side_by_side,
)
from trainyard.components.capacity.facts import why_not_active
from trainyard.components.capacity.reservations import DESCRIBE
from trainyard.components.compute.facts import ImageFacts
from trainyard.components.compute.lookup import DESCRIBE_IMAGES, GET_PARAMETER, look_up_image
from trainyard.components.compute.node_pool_plan import NodePoolPlan, RootVolumePlan
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.network.network_plan import NetworkPlan

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


def launch_rows(
    reader: AccountReader,
    launches: Sequence[NodePoolPlan],
    network: NetworkPlan,
    facts: AccountFacts,
) -> list[Row]:
    """Return rows for the AMI and the dry run of each kind of node.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answers = read_side_by_side(
        [
            lambda launch=launch: {launch.key: _rows(reader, launch, network, facts)}
            for launch in launches
        ]
    )
    return [row for launch in launches for row in answers[launch.key]]


def _rows(
    reader: AccountReader, launch: NodePoolPlan, network: NetworkPlan, facts: AccountFacts
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
    dry_run = plan_dry_run(launch, network, facts)
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
