"""FSx for Lustre file systems with deletion protection, their security group, and volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws

from trainyard.components.config.fsx_lustre import DataRepository
from trainyard.components.storage.storage_plan import (
    LUSTRE_PORTS,
    LUSTRE_VERSION,
    FsxLustrePlan,
    LustreSettings,
)

# The security group of a Lustre file system, and the rules between it and its clients.
#
# Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html


ALL_PROTOCOLS = "-1"

GroupId = pulumi.Input[str]
Ports = tuple[int, int] | None
"""TCP ports; None for all traffic, which EFA needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreClientRulesArgs:
    """Arguments of `LustreClientRules`."""

    servers: GroupId
    """Security group of the file system."""
    clients: GroupId
    """Security group of the nodes."""
    efa_clients: GroupId | None
    """Security group of the nodes' EFA interfaces, if the file system supports EFA."""
    tags: Mapping[str, str]


class LustreSecurityGroup(pulumi.ComponentResource):
    """The security group of a file system, which allows traffic between its servers.

    It does not depend on the cluster, so it can stay with its file system when the cluster is
    deleted. It has no egress to the internet: servers connect to clients only. `LustreClientRules`
    allows clients; clients that are not yet known are allowed by CIDR block.

    Children: `<name>-group` (`aws.ec2.SecurityGroup`), its rules to itself, and those for
    `client_cidrs`.
    """

    security_group_id: pulumi.Output[str]
    rules: list[pulumi.Resource]
    """Rules that must exist before the file system, because FSx checks them."""

    def __init__(
        self,
        name: str,
        *,
        vpc_id: pulumi.Input[str],
        efa: bool,
        tags: Mapping[str, str],
        client_cidrs: Sequence[str] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:storage:LustreSecurityGroup", name, {}, opts)
        group = aws.ec2.SecurityGroup(
            f"{name}-group",
            vpc_id=vpc_id,
            description="Lustre traffic of one file system",
            tags={"Name": name, **tags},
            opts=pulumi.ResourceOptions(parent=self),
        )
        rules = _Rules(name, self, tags)
        for ports in [None] if efa else LUSTRE_PORTS:
            rules.both_ways("servers", group.id, "servers", group.id, ports)
        for cidr in client_cidrs:
            for ports in LUSTRE_PORTS:
                rules.both_ways_by_address("servers", group.id, cidr, ports)
        self.rules = rules.made
        self.security_group_id = group.id
        self.register_outputs({"security_group_id": self.security_group_id})


class LustreClientRules(pulumi.ComponentResource):
    """Allows traffic between nodes and a file system in both directions, by group id.

    Children: standalone rules in the group of the file system and in that of the nodes.
    """

    made: list[pulumi.Resource]

    def __init__(
        self,
        name: str,
        args: LustreClientRulesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:storage:LustreClientRules", name, {}, opts)
        rules = _Rules(name, self, args.tags)
        for ports in LUSTRE_PORTS:
            rules.both_ways("servers", args.servers, "clients", args.clients, ports)
            rules.both_ways("clients", args.clients, "servers", args.servers, ports)
        if args.efa_clients is not None:
            rules.both_ways("servers", args.servers, "efa", args.efa_clients, None)
            rules.both_ways("efa", args.efa_clients, "servers", args.servers, None)
        self.made = rules.made
        self.register_outputs({})


class _Rules:
    """Registers rules of security groups under the names `<name>-<group>-<direction>-…`."""

    def __init__(self, name: str, parent: pulumi.Resource, tags: Mapping[str, str]) -> None:
        self.made: list[pulumi.Resource] = []
        self._name = name
        self._tags = dict(tags)
        self._opts = pulumi.ResourceOptions(parent=parent)

    def both_ways(self, one: str, group: GroupId, other: str, peer: GroupId, ports: Ports) -> None:
        """Allow ingress to a group from another group, and egress to it."""
        for direction in ("ingress", "egress"):
            self._add(direction, f"{one}-{direction}-{other}", group, ports, peer=peer)

    def both_ways_by_address(self, one: str, group: GroupId, cidr: str, ports: Ports) -> None:
        """Allow ingress to a group from a CIDR block, and egress to it."""
        for direction in ("ingress", "egress"):
            role = f"{one}-{direction}-{cidr.replace('/', '-')}"
            self._add(direction, role, group, ports, cidr=cidr)

    def _add(
        self,
        direction: Literal["ingress", "egress"],
        role: str,
        group: GroupId,
        ports: Ports,
        *,
        peer: GroupId | None = None,
        cidr: str | None = None,
    ) -> None:
        kinds = {
            "ingress": aws.vpc.SecurityGroupIngressRule,
            "egress": aws.vpc.SecurityGroupEgressRule,
        }
        first, last = ports or (None, None)
        suffix = "all" if ports is None else str(first)
        rule = kinds[direction](
            f"{self._name}-{role}-{suffix}",
            security_group_id=group,
            referenced_security_group_id=peer,
            cidr_ipv4=cidr,
            ip_protocol=ALL_PROTOCOLS if ports is None else "tcp",
            from_port=first,
            to_port=last,
            description="Lustre" if ports else "Lustre over EFA",
            tags=self._tags,
            opts=self._opts,
        )
        self.made.append(rule)


# An FSx for Lustre file system with deletion protection.
#
# Source: https://www.pulumi.com/registry/packages/aws/api-docs/fsx/lustrefilesystem/


FIXED_AT_CREATION = ("copyTagsToBackups",)
"""FSx cannot change it, so enabling backups later would replace the file system.
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html"""

NOT_OF_ADOPTED = ("tags", "rootSquashConfiguration")
"""What a stack file does not describe, so that an adopted file system keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FsxLustreArgs:
    """Arguments of `FsxLustre`."""

    plan: FsxLustrePlan
    """Plan of a new or adopted file system."""
    vpc_id: pulumi.Input[str]
    subnet_id: pulumi.Input[str]


class FsxLustre(pulumi.ComponentResource):
    """A file system with its security group and S3 data repository associations.

    With `deletion_protection`, the engine refuses to delete or replace it (`protect`), and even a
    forced deletion keeps it in the account (`retain_on_delete`). The file system and its group do
    not depend on the cluster, so everything else can be destroyed.

    An adopted file system is imported by the first update and keeps its security groups, tags and
    links to S3. The protection also holds for the import: if it would be replaced, the update fails
    and changes nothing.

    Children: `<name>-servers` (`LustreSecurityGroup`), `<name>-file-system`
    (`aws.fsx.LustreFileSystem`), `<name>-data-<n>` (`aws.fsx.DataRepositoryAssociation`).
    """

    file_system_id: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    mount_name: pulumi.Output[str]
    security_group_id: pulumi.Output[str] | str | None
    """Of the servers; None if the stack adds no rules to the group of an adopted file system."""

    def __init__(
        self, name: str, args: FsxLustreArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:storage:FsxLustre", name, {}, opts)
        plan, settings = args.plan, args.plan.settings
        if settings is None:
            raise ValueError(f"{name}: the stack does not own the file system")
        kept = pulumi.ResourceOptions(
            parent=self,
            protect=plan.deletion_protection,
            retain_on_delete=plan.deletion_protection,
            ignore_changes=[*FIXED_AT_CREATION],
        )
        if plan.file_system_id is not None:
            self.security_group_id = plan.security_group_id
            kept.import_ = plan.file_system_id
            kept.ignore_changes = [*FIXED_AT_CREATION, *NOT_OF_ADOPTED]
        else:
            group = LustreSecurityGroup(
                f"{name}-servers",
                vpc_id=args.vpc_id,
                efa=settings.efa_enabled,
                tags=plan.tags,
                opts=pulumi.ResourceOptions(parent=self),
            )
            self.security_group_id = group.security_group_id
            kept.depends_on = group.rules
        made = _file_system(f"{name}-file-system", args, settings, self.security_group_id, kept)
        for index, repository in enumerate(settings.data_repositories):
            _associate(f"{name}-data-{index}", repository, made, plan, self)
        self.file_system_id = made.id
        self.dns_name = made.dns_name
        self.mount_name = made.mount_name
        self.register_outputs(
            {
                "file_system_id": self.file_system_id,
                "dns_name": self.dns_name,
                "mount_name": self.mount_name,
            }
        )


def _file_system(
    name: str,
    args: FsxLustreArgs,
    settings: LustreSettings,
    servers: pulumi.Input[str] | None,
    opts: pulumi.ResourceOptions,
) -> aws.fsx.LustreFileSystem:
    backups = settings.backup_retention_days
    # What an adopted file system was created with, and the group, which FSx does not return.
    adopted = args.plan.file_system_id is not None
    return aws.fsx.LustreFileSystem(
        name,
        # Only one subnet; the property has the plural name of the FSx API.
        subnet_ids=args.subnet_id,
        security_group_ids=None if adopted or servers is None else [servers],
        storage_capacity=args.plan.capacity_gib,
        storage_type=settings.storage_type,
        deployment_type=settings.deployment_type,
        file_system_type_version=None if adopted else LUSTRE_VERSION,
        per_unit_storage_throughput=settings.per_unit_storage_throughput,
        drive_cache_type=settings.drive_cache_type,
        data_compression_type=settings.compression,
        kms_key_id=settings.kms_key_arn,
        efa_enabled=settings.efa_enabled or None,
        metadata_configuration=_metadata(settings, adopted=adopted),
        import_path=settings.import_path,
        export_path=settings.export_path,
        auto_import_policy=settings.auto_import_policy,
        weekly_maintenance_start_time=settings.weekly_maintenance,
        automatic_backup_retention_days=backups or None,
        daily_automatic_backup_start_time=settings.backup_time,
        copy_tags_to_backups=True if backups else None,
        # With automatic backups, a final backup is taken too.
        skip_final_backup=not backups,
        tags={"Name": name, **args.plan.tags},
        opts=opts,
    )


def _metadata(
    settings: LustreSettings, *, adopted: bool
) -> aws.fsx.LustreFileSystemMetadataConfigurationArgs | None:
    if not settings.has_metadata_configuration:
        return None
    if settings.metadata_iops is None:
        if adopted:
            return None  # one without a metadata configuration keeps that
        return aws.fsx.LustreFileSystemMetadataConfigurationArgs(mode="AUTOMATIC")
    return aws.fsx.LustreFileSystemMetadataConfigurationArgs(
        mode="USER_PROVISIONED", iops=settings.metadata_iops
    )


def _associate(
    name: str,
    repository: DataRepository,
    file_system: aws.fsx.LustreFileSystem,
    plan: FsxLustrePlan,
    parent: pulumi.Resource,
) -> None:
    """Associate a directory with S3; kept with the file system and never deletes data."""
    aws.fsx.DataRepositoryAssociation(
        name,
        file_system_id=file_system.id,
        file_system_path=repository.file_system_path,
        data_repository_path=repository.s3_path,
        batch_import_meta_data_on_create=True,
        delete_data_in_filesystem=False,
        s3=_events(repository),
        tags=dict(plan.tags),
        opts=pulumi.ResourceOptions(parent=parent, protect=plan.deletion_protection),
    )


def _events(repository: DataRepository) -> aws.fsx.DataRepositoryAssociationS3Args:
    imported, exported = list(repository.import_events), list(repository.export_events)
    return aws.fsx.DataRepositoryAssociationS3Args(
        auto_import_policy=aws.fsx.DataRepositoryAssociationS3AutoImportPolicyArgs(events=imported)
        if imported
        else None,
        auto_export_policy=aws.fsx.DataRepositoryAssociationS3AutoExportPolicyArgs(events=exported)
        if exported
        else None,
    )
