"""The launch template of a node group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location

_DATA = "LaunchTemplateData"
_ROOT_DEVICES = ("/dev/xvda", "/dev/sda1")
"""Root devices of Amazon Linux and Ubuntu."""
_VOLUME = {
    "VolumeSize": "volumeSize",
    "VolumeType": "volumeType",
    "Iops": "volumeIOPS",
    "Throughput": "volumeThroughput",
    "Encrypted": "volumeEncrypted",
    "KmsKeyId": "volumeKmsKeyID",
}
_METADATA = "every node requires IMDSv2, and pods reach the metadata only if they need it"


def template_of(group: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return id and version of the launch template of a node group, or None without one."""
    mixed = ((group.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}).get(
        "LaunchTemplateSpecification"
    )
    given = group.get("launchTemplate") or group.get("LaunchTemplate") or mixed
    if not given:
        return None
    found = given.get("id") or given.get("LaunchTemplateId")
    version = given.get("version") or given.get("Version") or "$Default"
    return (str(found), str(version)) if found else None


def read_template(
    source: Reader, template: Reader, at: Location, name: str, config: Rewritten
) -> bool:
    """Read a launch template, and return whether its nodes launch into a reservation."""
    data = template.at(_DATA)
    kind = data.at("InstanceType")
    if (*at, "instanceTypes", 0) not in config.values:
        config.take((*at, "instanceType"), kind)
    kind.implied("the node group names the type")
    config.take((*at, "ssh", "publicKeyName"), data.at("KeyName"))
    _read_volumes(data.at("BlockDeviceMappings"), at, config)
    has_efa = _read_interfaces(data.at("NetworkInterfaces"), str(kind.value), at, name, config)
    market = data.at("InstanceMarketOptions", "MarketType")
    if market.value == "spot":
        config.take((*at, "spot"), market, lambda _: True)
    else:
        config.take((*at, "instanceMarketOptions", "marketType"), market)
    is_reserved = _read_target(data.at("CapacityReservationSpecification"), at, config)
    _read_placement(data.at("Placement", "GroupName"), at, config, is_reserved=is_reserved,
                    has_efa=has_efa)  # fmt: skip
    metadata = data.at("MetadataOptions")
    config.take(
        (*at, "disableIMDSv1"), metadata.at("HttpTokens"), lambda tokens: tokens == "required"
    )
    if metadata.at("HttpPutResponseHopLimit").value == 1:
        config.take((*at, "disablePodIMDS"), metadata.at("HttpPutResponseHopLimit"), lambda _: True)
    metadata.implied(_METADATA)
    said = data.at("UserData")
    said.at("nodeConfig").implied("the stack writes the NodeConfig")
    said.at("localStorage").implied("it is the default of `local_nvme`")
    return is_reserved


def _read_volumes(source: Reader, at: Location, config: Rewritten) -> None:
    for mapping in source.items():
        if mapping.at("DeviceName").value not in _ROOT_DEVICES:
            config.take((*at, "additionalVolumes"), mapping)
            continue
        mapping.at("DeviceName").implied("it is the root volume")
        volume = mapping.at("Ebs")
        for theirs, ours in _VOLUME.items():
            config.take((*at, ours), volume.at(theirs))
        if volume.at("DeleteOnTermination").flag is not False:
            volume.at("DeleteOnTermination").implied("the root volume is deleted with the node")


def _read_interfaces(
    source: Reader, instance_type: str, at: Location, name: str, config: Rewritten
) -> bool:
    """Read the interfaces, and return whether one carries EFA."""
    kinds = [str(each.at("InterfaceType").value) for each in source.items()]
    count = sum(kind.startswith("efa") for kind in kinds)
    if not count:
        return False
    known = INSTANCE_TYPES.get(instance_type)
    if known is not None and count < known.efa_interfaces:
        source.claim(
            "taken over better",
            f"nodes have {count} of the {known.efa_interfaces} EFA interfaces of {instance_type}; "
            "the stack uses all",
            ours=("architecture", "node_groups", name, "efa_enabled"),
        )
    config.take((*at, "efaEnabled"), source, lambda _: True)
    return True


def _read_target(source: Reader, at: Location, config: Rewritten) -> bool:
    reserved = (*at, "capacityReservation")
    target = source.at("CapacityReservationTarget")
    names = {
        "CapacityReservationId": "capacityReservationID",
        "CapacityReservationResourceGroupArn": "capacityReservationResourceGroupARN",
    }
    for theirs, ours in names.items():
        config.take((*reserved, "capacityReservationTarget", ours), target.at(theirs))
    preference = source.at("CapacityReservationPreference")
    if preference.value == "capacity-reservations-only" and target.exists:
        preference.implied("nodes launch in the reservation and nowhere else")
    else:
        config.take((*reserved, "capacityReservationPreference"), preference)
    return target.exists


def _read_placement(
    group: Reader, at: Location, config: Rewritten, *, is_reserved: bool, has_efa: bool
) -> None:
    # The configuration has the key, so that no group is assumed that eksctl would create.
    config.put((*at, "placement"), {})
    if is_reserved:
        group.dropped("nodes of a reservation launch into the placement group of the reservation")
    elif has_efa:
        group.implied("nodes with EFA launch into a cluster placement group of the stack")
    else:
        config.take((*at, "placement", "groupName"), group)


def complete_nodes(source: Reader, template: Reader, name: str, cluster: Draft) -> None:
    """Set keys of a node group for which eksctl has none."""
    data = template.at(_DATA)
    nodes = cluster.section("architecture").section("node_groups").section(name)
    kinds = {str(each.at("InterfaceType").value) for each in data.at("NetworkInterfaces").items()}
    if "efa" in kinds and "efa-only" not in kinds:
        nodes.put("interface_layout", "efa")
    said = data.at("UserData")
    known = INSTANCE_TYPES.get(str(nodes.values.get("instance_type")))
    if known and known.local_nvme_disks and said.at("nodeConfig").value and not said.at(
        "localStorage"
    ).exists:  # fmt: skip
        nodes.put("local_nvme", "none")
    if name not in cluster.values.get("reservations", {}):
        return
    wanted = data.at("CapacityReservationSpecification", "CapacityReservationTarget")
    for each in source.at("DescribeCapacityReservations").items():
        identity = each.at("CapacityReservationId").value
        if identity == wanted.at("CapacityReservationId").value:
            _read_reservation(each, cluster.section("reservations").section(name), source)


def _read_reservation(found: Reader, reservation: Draft, source: Reader) -> None:
    group = found.at("PlacementGroupArn")
    if not group.exists or reservation.values.get("kind") != "odcr":
        return
    owner, _, name = str(group.value).partition(":placement-group/")
    if f":{owner.rpartition(':')[2]}:" in str(source.at("DescribeCluster", "arn").value):
        reservation.take("placement_group", group, change=lambda _: name)
    else:
        reservation.take("provenance", group, change=lambda _: "aws-assisted",
                         why="AWS owns the placement group")  # fmt: skip
