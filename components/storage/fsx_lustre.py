"""An FSx for Lustre file system with deletion protection.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/fsx/lustrefilesystem/
"""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.config.fsx_lustre import DataRepository
from trainyard.components.storage.fsx_lustre_plan import (
    LUSTRE_VERSION,
    FsxLustrePlan,
    LustreSettings,
)
from trainyard.components.storage.lustre_security_group import LustreSecurityGroup

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
