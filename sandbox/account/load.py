"""Puts the account of `fixture.yaml` into moto."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.amp.models import amp_backends
from moto.ec2.models import ec2_backends
from moto.ecr.models import ecr_backends
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.logs.models import logs_backends
from moto.moto_api._internal import mock_random
from moto.resourcegroups.models import resourcegroups_backends
from moto.s3.models import s3_backends

from trainyard.sandbox.account.fixture import fixture, moment
from trainyard.sandbox.account.images import load_ecs_images, load_images, register
from trainyard.sandbox.aws.batch.scheduler import LOG_GROUP as BATCH_LOG_GROUP
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    group_members,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.placement_groups import placement_group_arn, placement_groups_of
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.fsx import lustre, openzfs
from trainyard.sandbox.aws.resource_shares import ResourceShare, shares_of

# The VPC of the account, its gateways, routes and subnets, and the key pairs.
#
# moto chooses ids itself. Each object is made through moto, so that it is complete, and then moved
# to the fixture's id before anything refers to it.


WORLD = "0.0.0.0/0"


def load_network(ec2: Any, account: Mapping[str, Any]) -> None:
    """Make VPC, internet gateway, route tables, subnets, NAT gateway and default routes."""
    vpc = _vpc(ec2, account["vpc"])
    gateway = ec2.create_internet_gateway()
    _rename(ec2.internet_gateways, gateway, account["internet_gateway"]["id"])
    ec2.attach_internet_gateway(gateway.id, vpc.id)
    tables = {table["name"]: _route_table(ec2, vpc.id, table) for table in account["route_tables"]}
    for subnet in account["subnets"]:
        _subnet(ec2, vpc.id, subnet, tables[subnet["routes"]])
    nat = _nat_gateway(ec2, account["nat_gateway"])
    for table in account["route_tables"]:
        through = (
            {"gateway_id": gateway.id}
            if table["default_route"] == "internet_gateway"
            else {"nat_gateway_id": nat.id}
        )
        ec2.create_route(table["id"], WORLD, **through)


def load_key_pairs(ec2: Any, key_pairs: Sequence[Mapping[str, str]]) -> None:
    """Import the key pairs; EC2 knows only their public halves."""
    for each in key_pairs:
        key_pair = ec2.import_key_pair(each["name"], each["public_key"].encode(), tags={})
        key_pair.id = each["id"]


def _vpc(ec2: Any, wanted: Mapping[str, str]) -> Any:
    vpc = ec2.create_vpc(wanted["cidr"])
    made = vpc.id
    _rename(ec2.vpcs, vpc, wanted["id"])
    # The objects that EC2 creates together with a VPC refer to it by its id.
    ec2.groups[vpc.id] = ec2.groups.pop(made)
    for group in ec2.groups[vpc.id].values():
        group.vpc_id = vpc.id
    for each in [*ec2.route_tables.values(), *ec2.network_acls.values()]:
        if each.vpc_id == made:
            each.vpc_id = vpc.id
    vpc.enable_dns_hostnames = True
    vpc.add_tag("Name", wanted["name"])
    return vpc


def _route_table(ec2: Any, vpc_id: str, wanted: Mapping[str, str]) -> str:
    table = ec2.create_route_table(vpc_id)
    _rename(ec2.route_tables, table, wanted["id"])
    table.add_tag("Name", wanted["name"])
    return table.id


def _subnet(ec2: Any, vpc_id: str, wanted: Mapping[str, str], route_table_id: str) -> None:
    subnet = ec2.create_subnet(vpc_id, wanted["cidr"], availability_zone=wanted["zone"])
    made = subnet.id
    _rename(ec2.subnets[wanted["zone"]], subnet, wanted["id"])
    for acl in ec2.network_acls.values():
        for association in acl.associations:
            if association.subnet_id == made:
                association.subnet_id = subnet.id
    subnet.default_for_az = False
    subnet.map_public_ip_on_launch = wanted["routes"] == "public"
    subnet.add_tag("Name", wanted["name"])
    ec2.associate_route_table(route_table_id, subnet_id=subnet.id)


def _nat_gateway(ec2: Any, wanted: Mapping[str, str]) -> Any:
    address = ec2.allocate_address("vpc", address=wanted["address"])
    nat = ec2.create_nat_gateway(wanted["subnet"], address.allocation_id)
    # EC2 answers the mode of every gateway; moto's model has none.
    nat.availability_mode = "zonal"
    _rename(ec2.nat_gateways, nat, wanted["id"])
    return nat


def _rename(registry: dict[str, Any], item: Any, wanted_id: str) -> None:
    del registry[item.id]
    item.id = wanted_id
    registry[wanted_id] = item


RESERVATION_POOL = [
    {"Type": "AWS::EC2::CapacityReservationPool"},
    {
        "Type": "AWS::ResourceGroups::Generic",
        "Parameters": [
            {"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]
"""Configuration of a group that instances can be launched into.

https://docs.aws.amazon.com/ARG/latest/APIReference/about-slg-types.html
"""


def load_placement_groups(ec2: Any, groups: Sequence[Mapping[str, str]]) -> None:
    """Make the account's own placement groups."""
    for group in groups:
        arn = placement_group_arn(ec2.partition, ec2.region_name, ec2.account_id, group["name"])
        placement_groups_of(ec2).add(group["name"], group["strategy"], arn, group["id"])


def load_reservations(ec2: Any, reservations: Sequence[Mapping[str, Any]]) -> None:
    """Make the reservations that the account sees, its own and shared ones."""
    for each in reservations:
        reservations_of(ec2).add(reservation(ec2, each))
        if "name" in each:
            ec2.create_tags([each["id"]], {"Name": each["name"]})


def reservation(ec2: Any, each: Mapping[str, Any]) -> CapacityReservation:
    """Return a reservation of the fixture."""
    start = CLOCK.now()
    zone_ids = {zone.name: zone.zone_id for zone in ec2.zones[ec2.region_name]}
    is_block = each.get("kind") == "capacity-block"
    return CapacityReservation(
        reservation_id=each["id"],
        owner_id=each.get("owner", ec2.account_id),
        region=ec2.region_name,
        availability_zone=each["zone"],
        availability_zone_id=zone_ids[each["zone"]],
        instance_type=each["type"],
        instance_count=each["count"],
        reservation_type="capacity-block" if is_block else "default",
        instance_match_criteria="targeted",
        created_at=min(start, moment(each["starts"], start)),
        starts_at=moment(each["starts"], start),
        ends_at=moment(each["ends"], start) if "ends" in each else None,
        placement_group_arn=_placement_group_arn(ec2, each),
    )


def load_resource_shares(ec2: Any, shares: Sequence[Mapping[str, Any]]) -> None:
    """Invite the account to shares of other accounts, with the reservations in them."""
    for each in shares:
        shares_of(ec2).add(
            ResourceShare(
                arn=each["arn"],
                name=each["name"],
                owner_id=each["owner"],
                reservations=tuple(
                    reservation(ec2, {"owner": each["owner"], **member})
                    for member in each["reservations"]
                ),
            )
        )


def load_reservation_groups(ec2: Any, groups: Sequence[Mapping[str, Any]]) -> None:
    """Make the resource groups that hold reservations, so that a launch can target them.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    """
    backend = resourcegroups_backends[ec2.account_id][ec2.region_name]
    for group in groups:
        # moto takes a group without a query as this.
        query: Any = None
        backend.create_group(group["name"], query, configuration=RESERVATION_POOL)
        members = [reservations_of(ec2).by_id[each].arn for each in group["members"]]
        group_members(ec2).by_name[group["name"]] = members


def _placement_group_arn(ec2: Any, reservation: Mapping[str, Any]) -> str | None:
    if "placement_group" in reservation:
        return placement_groups_of(ec2).named(reservation["placement_group"])["GroupArn"]
    return reservation.get("placement_group_arn")


_PARTITION = "aws"


def load_security_groups(
    ec2: Any, groups: Sequence[Mapping[str, Any]], vpc: Mapping[str, str]
) -> None:
    """Make security groups that let the VPC in on some ports.

    Args:
        ec2: moto's EC2 backend.
        groups: `security_groups` of the fixture; a port is `988/tcp`, a range `1018-1023/tcp`.
        vpc: `vpc` of the fixture.
    """
    for wanted in groups:
        group = ec2.create_security_group(wanted["name"], wanted["description"], vpc["id"])
        _rename_group(ec2, group, wanted["id"])
        for opening in wanted["ports"]:
            ports, _, protocol = opening.partition("/")
            first, _, last = ports.partition("-")
            ec2.authorize_security_group_ingress(
                group.id,
                protocol,
                first,
                last or first,
                [{"CidrIp": vpc["cidr"]}],
                vpc_id=vpc["id"],
            )


def _rename_group(ec2: Any, group: Any, identifier: str) -> None:
    groups = ec2.groups[group.vpc_id]
    del groups[group.id]
    group.arn = group.arn.replace(group.id, identifier)
    group.id = group.group_id = identifier
    for rule in group.egress_rules:
        rule.group_id = identifier
    groups[identifier] = group


def load_buckets(region: str, buckets: Sequence[Mapping[str, Any]]) -> None:
    """Make the buckets with their objects."""
    s3 = s3_backends[ACCOUNT_ID][_PARTITION]
    for wanted in buckets:
        s3.create_bucket(wanted["name"], wanted.get("region", region))
        # ParallelCluster rejects a custom bucket without it.
        s3.put_bucket_versioning(wanted["name"], "Enabled")
        for key, content in wanted.get("objects", {}).items():
            s3.put_object(wanted["name"], key, content.encode())


def load_kms_keys(region: str, keys: Sequence[Mapping[str, str]]) -> None:
    """Make the KMS keys, with the ids and states of the fixture."""
    kms: Any = kms_backends[ACCOUNT_ID][region]
    for wanted in keys:
        usage = wanted.get("usage", "ENCRYPT_DECRYPT")
        spec = wanted.get("spec", "SYMMETRIC_DEFAULT")
        key = kms.create_key("", usage, spec, "", [])
        del kms.keys[key.id]
        key.arn, key.id = key.arn.replace(key.id, wanted["id"]), wanted["id"]
        kms.keys[key.id] = key
        if wanted["state"] == "PendingDeletion":
            kms.schedule_key_deletion(key.id, 7)
        elif wanted["state"] == "Disabled":
            kms.disable_key(key.id)


def load_policies(names: Sequence[str]) -> None:
    """Make customer managed IAM policies, which allow reads of S3."""
    allowed = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
    for each in names:
        path, _, name = each.rpartition("/")
        iam_backends[ACCOUNT_ID][_PARTITION].create_policy("", f"/{path}/", document, name, [])


def load_repositories(region: str, names: Sequence[str]) -> None:
    """Make the repositories of ECR, without tags and images."""
    for name in names:
        ecr_backends[ACCOUNT_ID][region].create_repository(name, ACCOUNT_ID, {}, {}, "MUTABLE", [])


def load_file_systems(region: str, systems: Mapping[str, Any]) -> None:
    """Make the file systems.

    Args:
        region: Region of the account.
        systems: `file_systems` of the fixture.
    """
    for wanted in systems["efs"]:
        _efs(region, wanted)
    fsx = fsx_backends[ACCOUNT_ID][region]
    for wanted in systems["lustre"]:
        lustre.create(
            fsx,
            {
                "FileSystemType": "LUSTRE",
                "FileSystemTypeVersion": "2.15",
                "StorageCapacity": wanted["capacity_gib"],
                "SubnetIds": [wanted["subnet"]],
                "SecurityGroupIds": [wanted["security_group"]],
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 250,
                },
                "Tags": [{"Key": "Name", "Value": wanted["name"]}],
            },
            identifier=wanted["id"],
        )
    for wanted in systems["openzfs"]:
        openzfs.load(fsx, wanted)


def _efs(region: str, wanted: Mapping[str, Any]) -> None:
    """Make an EFS file system with mount targets and an access point; moto's ids are short."""
    efs: Any = efs_backends[ACCOUNT_ID][region]
    system = efs.create_file_system(
        creation_token=wanted["name"],
        performance_mode="generalPurpose",
        encrypted=True,
        kms_key_id="",
        throughput_mode="elastic",
        provisioned_throughput_in_mibps=0,
        availability_zone_name=None,
        backup=False,
        tags=[],
    )
    del efs.file_systems_by_id[system.file_system_id]
    system.file_system_arn = system.file_system_arn.replace(system.file_system_id, wanted["id"])
    system.file_system_id = wanted["id"]
    efs.file_systems_by_id[system.file_system_id] = system
    efs.tagging_service.tag_resource(wanted["id"], [{"Key": "Name", "Value": wanted["name"]}])
    for subnet in wanted["subnets"]:
        efs.create_mount_target(wanted["id"], subnet, security_groups=[wanted["security_group"]])
    point = efs.create_access_point(wanted["name"], [], wanted["id"], {}, {"Path": "/"})
    del efs.access_points[point.access_point_id]
    point.access_point_arn = point.access_point_arn.replace(
        point.access_point_id, wanted["access_point"]
    )
    point.access_point_id = wanted["access_point"]
    efs.access_points[point.access_point_id] = point


def load_workspaces(region: str, ids: Iterable[str]) -> None:
    """Make the workspaces, with fixed ids instead of moto's random ones."""
    backend = amp_backends[ACCOUNT_ID][region]
    for workspace_id in ids:
        made = backend.create_workspace(alias="", tags={})
        del backend.workspaces[made.workspace_id]
        made.arn = made.arn.replace(made.workspace_id, workspace_id)
        made.endpoint = made.endpoint.replace(made.workspace_id, workspace_id)
        made.workspace_id = workspace_id
        backend.workspaces[workspace_id] = made


# ParallelCluster's machine images: the official ones, and ones that the account has built.
#
# Source: https://github.com/aws/aws-parallelcluster/tree/v3.16.1/cli/src/pcluster
#     `aws/ec2.py`: the names `aws-parallelcluster-<version>-<system>-<architecture>-<date>`, by
#     which
#         `pcluster` finds the images
#     `constants.py`: systems (`OS_TO_IMAGE_NAME_PART_MAP` without `PRIVATE_OSES`, to which
#     Rocky
#         Linux belongs), their platforms (`CAPACITY_RESERVATION_OS_MAP`), root volumes


PARALLELCLUSTER_VERSION = "3.16.1"
"""The version whose images the account has: the one that the sandbox runs."""

_SYSTEMS = {
    "alinux2023": "amzn2023-hvm",
    "ubuntu2204": "ubuntu-2204-lts-hvm",
    "ubuntu2404": "ubuntu-2404-lts-hvm",
    "rhel8": "rhel8-hvm",
    "rhel9": "rhel9-hvm",
}
"""Systems that an image is published for, with their part of its name."""

_ARCHITECTURES = ("x86_64", "arm64")
_RELEASED = "202609081200"
_VOLUME_GIB = 45
"""Size of the images' root volume: the default that ParallelCluster gives its nodes
(`EBS_ROOT_VOLUME_SIZE_DEFAULT`), which is not smaller than an image."""


@dataclass(frozen=True)
class OfficialImage:
    """One image that the team of ParallelCluster has published."""

    operating_system: str
    """As `Image/Os` names it: `alinux2023`."""
    architecture: str
    """`x86_64` or `arm64`."""

    @property
    def image_id(self) -> str:
        """Its id: readable, and the same in every sandbox."""
        system = [*_SYSTEMS].index(self.operating_system) + 1
        architecture = _ARCHITECTURES.index(self.architecture) + 1
        version = PARALLELCLUSTER_VERSION.replace(".", "")
        return f"ami-0c{version:0<13}{system}{architecture}"

    @property
    def name(self) -> str:
        """Its name."""
        system = f"{_SYSTEMS[self.operating_system]}-{self.architecture}"
        return f"aws-parallelcluster-{PARALLELCLUSTER_VERSION}-{system}-{_RELEASED}"


def official_images() -> list[OfficialImage]:
    """Return the official images, one a system and architecture."""
    return [
        OfficialImage(system, architecture)
        for system in _SYSTEMS
        for architecture in _ARCHITECTURES
    ]


def load_parallelcluster_images(ec2: Any, images: Mapping[str, Any]) -> None:
    """Register the official images and those that the account has built.

    Args:
        ec2: moto's EC2 backend.
        images: `parallelcluster_images` of the fixture.
    """
    for image in official_images():
        register(
            ec2,
            image.image_id,
            image.name,
            images["owner"],
            architecture=image.architecture,
            root_device=_root_device(image.operating_system),
            volume_gib=_VOLUME_GIB,
            platform=platform_of(image.operating_system),
        )
    for built in images["custom"]:
        register(
            ec2,
            built["id"],
            built["name"],
            ACCOUNT_ID,
            root_device=_root_device(built["os"]),
            volume_gib=_VOLUME_GIB,
            platform=platform_of(built["os"]),
            tags=_tags(built),
        )


def _tags(built: Mapping[str, str]) -> dict[str, str]:
    """Return the tags with which `pcluster build-image` marks what it has built.

    https://docs.aws.amazon.com/parallelcluster/latest/ug/building-custom-ami-v3.html
    """
    return {
        "parallelcluster:image_id": built["name"],
        "parallelcluster:version": built.get("version", PARALLELCLUSTER_VERSION),
        "parallelcluster:os": built["os"],
        "parallelcluster:build_status": "available",
    }


def platform_of(operating_system: str) -> str:
    """Return the platform of a system's images, which a capacity reservation must have too."""
    return "Red Hat Enterprise Linux" if operating_system.startswith("rhel") else "Linux/UNIX"


def _root_device(operating_system: str) -> str:
    return "/dev/xvda" if operating_system == "alinux2023" else "/dev/sda1"


def load_second_account(region: str, account: Mapping[str, Any]) -> None:
    """Fill another account with a network and reservations, and roles that the first can assume."""
    ec2 = ec2_backends[account["id"]][region]
    load_network(ec2, account)
    load_reservations(ec2, account["reservations"])
    iam: Any = iam_backends[account["id"]][_PARTITION]
    for role in account["roles"]:
        statement: dict[str, Any] = {
            "Effect": "Allow",
            "Principal": {"AWS": [f"arn:aws:iam::{each}:root" for each in role["trusts"]]},
            "Action": "sts:AssumeRole",
        }
        if "external_id" in role:
            statement["Condition"] = {"StringEquals": {"sts:ExternalId": role["external_id"]}}
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.create_role(role["name"], trust, "/", None, "", [], "43200")


def load_account(region: str) -> None:
    """Fill the account; expects an empty one.

    Args:
        region: `us-west-2`; the fixture's zones are those of this region.
    """
    account = fixture()
    ec2 = ec2_backends[ACCOUNT_ID][region]
    load_network(ec2, account)
    load_key_pairs(ec2, account["key_pairs"])
    load_placement_groups(ec2, account["placement_groups"])
    load_reservations(ec2, account["reservations"])
    load_reservation_groups(ec2, account["reservation_groups"])
    load_resource_shares(ec2, account["resource_shares"])
    load_images(region, account["images"])
    load_ecs_images(ec2)
    load_parallelcluster_images(ec2, account["parallelcluster_images"])
    load_security_groups(ec2, account["security_groups"], account["vpc"])
    load_buckets(region, account["buckets"])
    load_file_systems(region, account["file_systems"])
    load_kms_keys(region, account["kms_keys"])
    load_policies(account["policies"])
    load_repositories(region, account["repositories"])
    load_workspaces(region, account["prometheus_workspaces"])
    # The ids that moto generates later do not depend on how many the other account takes.
    state = mock_random.getstate()
    load_second_account(region, account["second_account"])
    mock_random.setstate(state)
    # Batch creates it with the first job of an account, and never deletes it.
    logs_backends[ACCOUNT_ID][region].create_log_group(BATCH_LOG_GROUP, {})
