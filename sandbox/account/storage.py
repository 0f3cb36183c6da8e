"""What the account stores: buckets, keys, policies, file systems and their security group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from moto.ecr.models import ecr_backends
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.s3.models import s3_backends

from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.fsx import file_systems, openzfs

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
        file_systems.create(
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
