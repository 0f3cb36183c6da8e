"""The launch template of a compute environment: interfaces, reservation and root volume."""

from __future__ import annotations

import re

from trainyard.components.catalog.batch import MINIMUM_ROOT_VOLUME_GIB
from trainyard.importing.cloudformation.template import Resource
from trainyard.importing.cloudformation.values import claim_unknown, is_known, whole
from trainyard.importing.draft import Draft
from trainyard.importing.market import claim_market
from trainyard.importing.placeholders import id_for
from trainyard.importing.reader import Reader

_ROOTS = ("/dev/xvda", "/dev/sda1")
"""Root devices of Amazon Linux and of Ubuntu.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html"""
_MIME_LINE = re.compile(r"--\S*|(?:MIME-Version|Content-[\w-]+):.*|\s*#.*|\s*")


def read_launch_template(template: Resource, draft: Draft, cluster: Draft) -> None:
    """Read the data of a launch template into a compute environment."""
    data = template.at("LaunchTemplateData")
    _read_interfaces(data.at("NetworkInterfaces"), draft)
    _read_capacity(data, draft, cluster)
    read_volumes(data, draft)
    _read_metadata(data.at("MetadataOptions"))
    text = data.at("UserData")
    if isinstance(text.value, str) and has_only_comments(text.value):
        text.dropped("it has comments only")


def has_only_comments(user_data: str) -> bool:
    """Return whether no line of user data does anything."""
    return all(map(_MIME_LINE.fullmatch, user_data.splitlines()))


def _read_interfaces(interfaces: Reader, draft: Draft) -> None:
    kinds = [each.at("InterfaceType") for each in interfaces.items()]
    with_efa = [each for each in kinds if each.value in ("efa", "efa-only")]
    for kind in with_efa:
        kind.claim("taken over", "all EFA interfaces of the type", ours=(*draft.at, "efa_enabled"))
    if with_efa:
        draft.put("efa_enabled", value=True)
    for interface in interfaces.items():
        public = interface.at("AssociatePublicIpAddress")
        if str(public.flag).lower() == "true":
            public.unsupported(
                "nodes launch in private subnets, without public addresses",
                rule="A10" if with_efa else "",
            )


def _read_capacity(data: Reader, draft: Draft, cluster: Draft) -> None:
    specification = data.at("CapacityReservationSpecification")
    target = specification.at("CapacityReservationTarget")
    market = data.at("InstanceMarketOptions", "MarketType")
    by_id = target.at("CapacityReservationId")
    by_group = target.at("CapacityReservationResourceGroupArn")
    is_block = market.value == "capacity-block"
    by_id = by_id if by_id.value != "" else Reader(None, by_id.location, by_id.report)
    if market.value == "spot":
        draft.take("purchase_option", market)
        target.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
        return
    if not (by_id.exists or by_group.exists or is_block):
        return
    kind = "capacity-block" if is_block else "odcr" if by_id.exists else "odcr-group"
    source = by_group if kind == "odcr-group" else by_id
    name = _reservation(kind, source, cluster)
    reservation = cluster.section("reservations").section(name)
    reservation.put("kind", kind)
    if kind != "odcr-group":
        if not is_known(source):
            claim_unknown(source, (*reservation.at, "reservation_id"))
            reservation.needs("reservation_id", id_for("cr"))
        reservation.take_id("reservation_id", source, "cr")
        by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    elif is_known(source):
        reservation.take("group_arn", source)
    else:
        claim_unknown(source, (*reservation.at, "group_arn"))
        reservation.needs(
            "group_arn", "arn:aws:resource-groups:us-east-1:111122223333:group/reservations"
        )
    draft.put("purchase_option", name)
    claim_market(market, ours=(*reservation.at, "kind"))


def _reservation(kind: str, source: Reader, cluster: Draft) -> str:
    """Return the name of a reservation, the same for the same value."""
    named = {"capacity-block": "block", "odcr": "reservation", "odcr-group": "group"}[kind]
    listed = cluster.values.get("reservations", {})
    for name, each in listed.items():
        known = each.get("reservation_id", each.get("group_arn"))
        if each["kind"] == kind and (known == source.value or not is_known(source)):
            return str(name)
    number = sum(name.startswith(named) for name in listed) + 1
    return named if number == 1 else f"{named}-{number}"


def read_volumes(data: Reader, draft: Draft) -> None:
    """Read the volumes in the data of a launch template: the root volume, and others."""
    for mapping in data.at("BlockDeviceMappings").items():
        _read_volume(mapping, draft)


def _read_volume(mapping: Reader, draft: Draft) -> None:
    device, volume = mapping.at("DeviceName"), mapping.at("Ebs")
    if device.value not in _ROOTS:
        mapping.unsupported(
            f"a node has its root volume and local disks: set `root_volume` if {device.value} is "
            "the root device of your AMI, or `storage` for shared data; the ECS-optimized AMIs "
            f"have {_ROOTS[0]}, and Ubuntu {_ROOTS[1]}"
        )
        return
    root = draft.section("root_volume", mapping)
    device.implied("it is the root device of the AMI")
    size = volume.at("VolumeSize")
    gib = whole(size)
    if gib is not None and gib < MINIMUM_ROOT_VOLUME_GIB and not draft.has("custom_ami_id"):
        root.better(
            "size_gib",
            size,
            MINIMUM_ROOT_VOLUME_GIB,
            "the ECS-optimized AMIs need more",
            rule="E16",
        )
    else:
        _take_whole(root, "size_gib", size)
    kind = volume.at("VolumeType")
    if kind.value in (None, "gp3"):
        kind.implied("root volumes are gp3")
        _take_whole(root, "iops", volume.at("Iops"))
        _take_whole(root, "throughput_mibps", volume.at("Throughput"))
    for source in (kind, volume.at("Iops"), volume.at("Throughput")):
        source.claim("taken over better", "root volumes are gp3: faster and cheaper than others")
    encrypted = volume.at("Encrypted")
    if str(encrypted.flag).lower() != "true":
        encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
    encrypted.implied("root volumes are encrypted")
    ends = volume.at("DeleteOnTermination")
    if str(ends.flag).lower() == "true":
        ends.implied("the root volume is deleted with the node")
    ends.unsupported("keep data in `storage`: the root volume is deleted with the node")
    volume.at("KmsKeyId").unsupported(
        "volumes are encrypted with the default EBS key of the account"
    )
    if not root.values:
        del draft.values["root_volume"]


def _take_whole(draft: Draft, key: str, source: Reader) -> None:
    if whole(source) is not None:
        draft.take(key, source, change=lambda _: whole(source))
    else:
        claim_unknown(source, (*draft.at, key))


def _read_metadata(options: Reader) -> None:
    tokens = options.at("HttpTokens")
    if tokens.value == "optional":
        tokens.claim("taken over better", "every node requires IMDSv2", rule="E15")
