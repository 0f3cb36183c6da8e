"""An FSx for OpenZFS file system with deletion protection.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/fsx/openzfsfilesystem/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.storage.storage_plan import NFS_OPTIONS, NFS_PORTS, OpenZfsPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenZfsArgs:
    """Arguments of `OpenZfs`."""

    plan: OpenZfsPlan
    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]
    client_cidrs: Mapping[str, pulumi.Input[str]]
    """CIDR blocks of clients, by a stable name; see `client_cidrs`."""


class OpenZfs(pulumi.ComponentResource):
    """A file system and its security group, which allows clients by CIDR block.

    ParallelCluster creates the security groups of its nodes after it has checked that their subnets
    are allowed, so the rules contain subnets and not groups. With `deletion_protection`, the engine
    refuses to delete or replace the file system (`protect`), and even a forced deletion keeps it in
    the account (`retain_on_delete`).

    Children: `<name>-servers` (`aws.ec2.SecurityGroup`) with its rules, and `<name>-file-system`
    (`aws.fsx.OpenZfsFileSystem`).
    """

    file_system_id: pulumi.Output[str]
    root_volume_id: pulumi.Output[str]
    """Volume that clients mount."""
    dns_name: pulumi.Output[str]
    ready: Sequence[pulumi.Resource]
    """Resources that must exist before a mount: the file system and its rules."""

    def __init__(
        self, name: str, args: OpenZfsArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:storage:OpenZfs", name, {}, opts)
        plan = args.plan
        group = aws.ec2.SecurityGroup(
            f"{name}-servers",
            vpc_id=args.vpc_id,
            description="NFS traffic of one file system",
            tags={"Name": f"{name}-servers", **plan.tags},
            opts=pulumi.ResourceOptions(parent=self),
        )
        rules = [
            _rule(f"{name}-servers-{network}", group, cidr, protocol, ports, self, plan)
            for network, cidr in args.client_cidrs.items()
            for protocol in ("tcp", "udp")
            for ports in NFS_PORTS
        ]
        kept = pulumi.ResourceOptions(
            parent=self,
            protect=plan.deletion_protection,
            retain_on_delete=plan.deletion_protection,
        )
        made = _file_system(f"{name}-file-system", args, group.id, kept)
        self.file_system_id = made.id
        self.root_volume_id = made.root_volume_id
        self.dns_name = made.dns_name
        self.ready = (made, *rules)
        self.register_outputs(
            {"file_system_id": self.file_system_id, "root_volume_id": self.root_volume_id}
        )


def client_cidrs(plan: OpenZfsPlan, network: NetworkPlan) -> dict[str, pulumi.Input[str]]:
    """Return the CIDR blocks of the client subnets of a file system, by reference.

    Unknown CIDR blocks of existing subnets are read from the account.
    """
    return {reference: _cidr(reference, network) for reference in plan.clients}


def _cidr(reference: str, network: NetworkPlan) -> pulumi.Input[str]:
    known = network.subnet(reference).cidr
    return known if known is not None else aws.ec2.get_subnet_output(id=reference).cidr_block


def _rule(
    name: str,
    group: aws.ec2.SecurityGroup,
    cidr: pulumi.Input[str],
    protocol: str,
    ports: tuple[int, int],
    parent: pulumi.Resource,
    plan: OpenZfsPlan,
) -> pulumi.Resource:
    first, last = ports
    return aws.vpc.SecurityGroupIngressRule(
        f"{name}-{protocol}-{first}",
        security_group_id=group.id,
        cidr_ipv4=cidr,
        ip_protocol=protocol,
        from_port=first,
        to_port=last,
        description="NFS",
        tags=dict(plan.tags),
        opts=pulumi.ResourceOptions(parent=parent),
    )


def _file_system(
    name: str,
    args: OpenZfsArgs,
    security_group_id: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> aws.fsx.OpenZfsFileSystem:
    plan = args.plan
    backups = plan.backup_retention_days
    return aws.fsx.OpenZfsFileSystem(
        name,
        subnet_ids=[args.subnet_id],
        security_group_ids=[security_group_id],
        deployment_type=plan.deployment_type,
        storage_type="SSD",
        storage_capacity=plan.storage_capacity_gib,
        throughput_capacity=plan.throughput_capacity_mbps,
        kms_key_id=plan.kms_key_arn,
        root_volume_configuration=_root_volume(plan),
        weekly_maintenance_start_time=plan.weekly_maintenance,
        automatic_backup_retention_days=backups or None,
        daily_automatic_backup_start_time=plan.backup_time,
        copy_tags_to_backups=True if backups else None,
        # With automatic backups, a final backup is taken too.
        skip_final_backup=not backups,
        tags={"Name": name, **plan.tags},
        opts=opts,
    )


def _root_volume(plan: OpenZfsPlan) -> aws.fsx.OpenZfsFileSystemRootVolumeConfigurationArgs:
    # The security group restricts the clients.
    everyone = aws.fsx.OpenZfsFileSystemRootVolumeConfigurationNfsExportsClientConfigurationArgs(
        clients="*", options=list(NFS_OPTIONS)
    )
    return aws.fsx.OpenZfsFileSystemRootVolumeConfigurationArgs(
        data_compression_type=plan.compression,
        nfs_exports=aws.fsx.OpenZfsFileSystemRootVolumeConfigurationNfsExportsArgs(
            client_configurations=[everyone]
        ),
    )
