"""Dry-run RunInstances requests, one for each kind of node.

Requests contain only existing resources: security groups, instance profiles and placement groups
that the stack creates are omitted. Tags and user data are omitted too, because EC2 does not refuse
them.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.reservation_states import why_not_active
from trainyard.components.account.reservations import DESCRIBE
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.compute.root_volume import RootVolume
from trainyard.components.network.network_plan import NetworkPlan


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


def _root_volume(volume: RootVolume | None) -> dict[str, Any]:
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
