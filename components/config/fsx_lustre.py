"""FSx for Lustre file systems of a stack file, and the combinations that FSx accepts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import (
    EffectiveWith,
    KmsKeyArn,
    StrictModel,
    SubnetId,
    Switch,
    Zone,
)
from trainyard.components.config.problems import (
    Contradiction,
    fault,
    place_faults,
    raise_all,
)
from trainyard.components.config.storage_fields import (
    OF_BACKUPS,
    ClaimName,
    DailyTime,
    Event,
    FileSystemPath,
    FsxDnsName,
    FsxId,
    LustreMountName,
    MountedStorage,
    MountOption,
    S3Path,
    SecurityGroupId,
    StorageGib,
    WeeklyTime,
    s3_parts,
)

# Valid combinations of capacity, throughput and deployment type of FSx for Lustre.
#
# Source:
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html,
#     StorageCapacity
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
#     https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html, step 1 (with EFA)


LustreDeploymentType = Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
StorageType = Literal["SSD", "HDD"]

SMALLEST_GIB = 1200
SSD_STEP_GIB = 2400
SCRATCH_1_STEP_GIB = 3600
HDD_STEP_GIB: Mapping[int, int] = {12: 6000, 40: 1800}
"""Steps of HDD capacity in GiB, by throughput in MB/s/TiB."""
EFA_STEP_GIB: Mapping[int, int] = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""Steps of capacity with EFA in GiB, by throughput in MB/s/TiB."""
METADATA_IOPS_STEP = 12000
METADATA_IOPS_MAXIMUM = 192000
SMALL_METADATA_IOPS = (1500, 3000, 6000)

THROUGHPUTS: Mapping[tuple[LustreDeploymentType, StorageType], tuple[int, ...]] = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""Configurable throughputs in MB/s/TiB; scratch types have a fixed throughput."""


@dataclass(frozen=True, slots=True)
class CapacityRule:
    """Allowed capacities of one combination, in GiB: small sizes, then multiples of a step."""

    small: tuple[int, ...]
    step: int

    def allows(self, capacity: int) -> bool:
        """Return whether the file system can have this capacity."""
        return capacity in self.small or (capacity > 0 and capacity % self.step == 0)

    def nearest(self, capacity: int) -> int:
        """Return the smallest allowed capacity that is at least as large."""
        above = -(-max(capacity, 1) // self.step) * self.step
        return min((size for size in (*self.small, above) if size >= capacity), default=above)

    def __str__(self) -> str:
        """Return the rule in words."""
        multiples = f"multiples of {self.step} GiB"
        return f"{', '.join(map(str, self.small))} or {multiples}" if self.small else multiples


def capacity_rule(
    deployment: LustreDeploymentType, storage: StorageType, throughput: int | None, *, efa: bool
) -> CapacityRule | None:
    """Return the allowed capacities; None if they depend on an invalid throughput."""
    if deployment == "SCRATCH_1":
        return CapacityRule((1200, 2400), SCRATCH_1_STEP_GIB)
    if storage == "HDD":
        step = HDD_STEP_GIB.get(throughput or 0)
        return CapacityRule((), step) if step else None
    if efa:
        step = EFA_STEP_GIB.get(throughput or 0)
        return CapacityRule((), step) if step else None
    return CapacityRule((SMALLEST_GIB,), SSD_STEP_GIB)


def metadata_iops_allowed(iops: int) -> bool:
    """Return whether an SSD file system supports this number of metadata IOPS."""
    large = iops % METADATA_IOPS_STEP == 0 and 0 < iops <= METADATA_IOPS_MAXIMUM
    return iops in SMALL_METADATA_IOPS or large


def is_persistent(deployment: LustreDeploymentType) -> bool:
    """Return whether data survives the loss of a file server."""
    return deployment.startswith("PERSISTENT")


# FSx for Lustre file systems of a stack file.
#
# Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html


_OF_PODS = EffectiveWith(
    (Switch("/architecture.kind", ("eks",)),),
    why="it sets how pods of an EKS cluster mount the file system; on ParallelCluster, nodes mount "
    "it at `mount_directory`",
)
_OF_IMPORTS = EffectiveWith(
    (Switch("import_path"),), why="it applies to the S3 prefix of `import_path`"
)


class _LustreMount(MountedStorage):
    mount_options: Annotated[tuple[MountOption, ...], _OF_PODS] = ("flock",)
    """Mount options of pods, on EKS. FSx recommends `flock`."""
    claim_name: Annotated[ClaimName | None, _OF_PODS] = None
    """Name of the PersistentVolumeClaim for pods, on EKS. If omitted, the name of the entry."""
    claim_namespace: Annotated[ClaimName, _OF_PODS] = "default"
    """Namespace of the PersistentVolumeClaim, on EKS. It must exist."""


class DataRepository(StrictModel):
    """A directory of the file system that is linked to an S3 prefix."""

    file_system_path: FileSystemPath
    """Directory. Directories of the same file system cannot overlap."""
    s3_path: S3Path
    """Bucket and prefix. The bucket must be in the stack's region. The program does not read or
    change it."""
    import_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ("NEW", "CHANGED", "DELETED")
    """Changes in S3 that FSx imports into the directory."""
    export_events: Annotated[tuple[Event, ...], Field(max_length=3)] = ()
    """Changes in the directory that FSx exports to S3."""


class AdoptedFsxLustre(StrictModel):
    """An existing FSx for Lustre file system that becomes part of the stack, as it is."""

    file_system_id: FsxId
    """ID of the file system, which must be in the cluster's VPC."""
    security_group_id: SecurityGroupId | None = None
    """Security group of the file system, to which the stack adds rules for its nodes; `destroy`
    removes them. If omitted, the file system must already allow traffic from the nodes."""


class NewFsxLustre(_LustreMount):
    """An FSx for Lustre file system that the stack creates, or that it adopts."""

    kind: Literal["fsx-lustre"]
    """FSx for Lustre, new."""
    deployment_type: Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"] = (
        "PERSISTENT_2"
    )
    """Deployment type, which determines durability. Changing it replaces the file system."""
    storage_type: Literal["SSD", "HDD"] = "SSD"
    """Storage type. `HDD` is valid with `PERSISTENT_1` only. Changing it replaces the file system.
    """
    storage_capacity_gib: StorageGib = 1200
    """Capacity in GiB: 1200 or multiples of 2400; other steps with HDD and with EFA. Increasing it
    is an update; reducing it replaces the file system."""
    per_unit_storage_throughput: int | None = None
    """Throughput in MB/s per TiB. Required for persistent deployment types, and valid only there.
    """
    drive_cache: Literal["NONE", "READ"] | None = None
    """SSD cache of HDD storage. Valid for HDD only. If omitted, `NONE`."""
    compression: Literal["LZ4", "NONE"] = "LZ4"
    """Compression of new data. It also saves bandwidth."""
    kms_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts the data. Valid for persistent deployment types only. If omitted, the
    AWS managed key of FSx."""
    efa_enabled: bool = False
    """Whether clients can use EFA and GPUDirect Storage. Valid for `PERSISTENT_2` on SSD only."""
    metadata_iops: int | None = None
    """Provisioned metadata IOPS. Valid for `PERSISTENT_2` only. If omitted, they grow with the
    capacity."""
    import_path: S3Path | None = None
    """S3 prefix whose objects FSx imports. Not valid with `PERSISTENT_2`."""
    export_path: Annotated[S3Path | None, _OF_IMPORTS] = None
    """S3 prefix for exported files, in the bucket of `import_path`."""
    auto_import: Annotated[
        Literal["NONE", "NEW", "NEW_CHANGED", "NEW_CHANGED_DELETED"] | None, _OF_IMPORTS
    ] = None
    """Which later changes of objects under `import_path` FSx imports."""
    data_repositories: tuple[DataRepository, ...] = ()
    """Directories linked to S3, at most 8, instead of `import_path`."""
    weekly_maintenance: WeeklyTime | None = None
    """Start of the weekly maintenance window, such as `"7:03:00"` (Sunday, 03:00 UTC). If omitted,
    AWS chooses it."""
    backup_retention_days: Annotated[int, Field(ge=0, le=90)] = 0
    """Days to keep automatic daily backups. 0 disables them. Valid for persistent deployment types
    that are not linked to S3 only."""
    backup_time: Annotated[DailyTime | None, OF_BACKUPS] = None
    """Start time of daily backups in UTC, such as `"03:00"`. If omitted, AWS chooses it."""
    availability_zone: Zone | None = None
    """Zone, by name or zone id. If omitted, the zone of the node groups with EFA. On
    ParallelCluster, the subnet of the queues."""
    subnet_id: SubnetId | None = None
    """Private subnet, instead of `availability_zone`. Changing it replaces the file system."""
    deletion_protection: bool = True
    """Whether `destroy` keeps the file system and updates that would replace it fail."""
    adopt: AdoptedFsxLustre | None = None
    """An existing file system, which the stack imports instead of creating one. The other keys
    must describe it. Keep it after the import. For EKS only."""


class ExistingFsxLustre(_LustreMount):
    """An existing FSx for Lustre file system. The stack mounts it and never changes it."""

    kind: Literal["existing-fsx-lustre"]
    """FSx for Lustre, existing."""
    file_system_id: FsxId
    """ID of the file system, which must be in the cluster's VPC."""
    security_group_id: SecurityGroupId | None = None
    """Security group of the file system, to which the stack adds rules for its nodes; `destroy`
    removes them. If omitted, the file system must already allow traffic from the nodes."""
    dns_name: FsxDnsName | None = None
    """DNS name that clients mount. If omitted, it is read from the account."""
    mount_name: LustreMountName | None = None
    """Mount name of the Lustre file system. If omitted, it is read from the account."""
    storage_capacity_gib: StorageGib | None = None
    """Capacity in GiB. If omitted, it is read from the account."""


def adopted_or_existing(wanted: StrictModel) -> AdoptedFsxLustre | ExistingFsxLustre | None:
    """Return where an entry of `storage` names a Lustre file system; None if it names none."""
    if isinstance(wanted, NewFsxLustre):
        return wanted.adopt
    return wanted if isinstance(wanted, ExistingFsxLustre) else None


# Contradictions in one FSx for Lustre file system of a stack file.
#
# Source: the pages of `trainyard.components.config.fsx_lustre`, and
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-backups-fsx.html (no backups with S3).


MOST_DATA_REPOSITORIES = 8


def without_contradictions(wanted: NewFsxLustre) -> NewFsxLustre:
    """Return a file system that AWS would accept.

    Raises:
        PydanticCustomError: AWS would refuse some of its settings.
    """
    raise_all(
        [
            *_type(wanted),
            *_throughput(wanted),
            *_capacity(wanted),
            *_efa(wanted),
            *_metadata(wanted),
            *_s3(wanted),
            *_data_repositories(wanted),
            *_backups(wanted),
            *place_faults(subnet_id=wanted.subnet_id, availability_zone=wanted.availability_zone),
        ]
    )
    return wanted


def _type(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if wanted.storage_type == "HDD" and wanted.deployment_type != "PERSISTENT_1":
        yield fault(
            "storage_type",
            f"is HDD with {wanted.deployment_type}",
            why="FSx supports HDD storage for PERSISTENT_1 only",
            allowed="SSD, or deployment_type: PERSISTENT_1",
            remedy="remove storage_type",
        )
    if wanted.drive_cache is not None and wanted.storage_type != "HDD":
        yield fault(
            "drive_cache",
            "is given for SSD storage",
            why="the drive cache is an SSD cache for HDD storage",
            allowed="no drive_cache, or storage_type: HDD",
            remedy="remove drive_cache",
        )
    if wanted.kms_key_arn is not None and not is_persistent(wanted.deployment_type):
        yield fault(
            "kms_key_arn",
            f"is given for {wanted.deployment_type}",
            why="FSx encrypts scratch file systems with its own key",
            allowed="no kms_key_arn, or a persistent deployment type",
            remedy="remove kms_key_arn",
        )


def _throughput(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    given = wanted.per_unit_storage_throughput
    if not is_persistent(wanted.deployment_type):
        if given is not None:
            yield fault(
                "per_unit_storage_throughput",
                f"is given for {wanted.deployment_type}",
                why="scratch file systems have a fixed throughput of 200 MB/s/TiB",
                allowed="no per_unit_storage_throughput, or a persistent deployment type",
                remedy="remove per_unit_storage_throughput",
            )
        return
    allowed = THROUGHPUTS.get((wanted.deployment_type, wanted.storage_type))
    # HDD with PERSISTENT_2 is a separate problem that no throughput can fix.
    if allowed is None or given in allowed:
        return
    kind = f"{wanted.deployment_type} on {wanted.storage_type}"
    yield fault(
        "per_unit_storage_throughput",
        f"is missing for {kind}" if given is None else f"is {given}, which {kind} does not support",
        why="persistent file systems have a fixed set of throughputs, in MB/s/TiB",
        allowed=", ".join(map(str, allowed)),
        remedy=f"set per_unit_storage_throughput: {_nearest(given, allowed)}",
    )


def _nearest(given: int | None, allowed: tuple[int, ...]) -> int:
    return min(allowed, key=lambda value: (abs(value - (given or 0)), value))


def _capacity(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    rule = capacity_rule(
        wanted.deployment_type,
        wanted.storage_type,
        wanted.per_unit_storage_throughput,
        efa=wanted.efa_enabled,
    )
    if rule is None or rule.allows(wanted.storage_capacity_gib):
        return
    with_efa = " with EFA" if wanted.efa_enabled else ""
    yield fault(
        "storage_capacity_gib",
        f"is {wanted.storage_capacity_gib}",
        why=(
            f"{wanted.deployment_type} on {wanted.storage_type}{with_efa} scales by whole file "
            "servers"
        ),
        allowed=str(rule),
        remedy=f"set storage_capacity_gib: {rule.nearest(wanted.storage_capacity_gib)}",
    )


def _efa(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if wanted.efa_enabled and (wanted.deployment_type, wanted.storage_type) != (
        "PERSISTENT_2",
        "SSD",
    ):
        yield fault(
            "efa_enabled",
            f"is on for {wanted.deployment_type} on {wanted.storage_type}",
            why="only PERSISTENT_2 file systems on SSD support EFA",
            allowed="false, or deployment_type: PERSISTENT_2 and storage_type: SSD",
            remedy="remove efa_enabled",
        )


def _metadata(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    iops = wanted.metadata_iops
    if iops is None:
        return
    if wanted.deployment_type != "PERSISTENT_2":
        yield fault(
            "metadata_iops",
            f"is given for {wanted.deployment_type}",
            why="only PERSISTENT_2 file systems have provisioned metadata IOPS",
            allowed="no metadata_iops, or deployment_type: PERSISTENT_2",
            remedy="remove metadata_iops",
        )
    elif not metadata_iops_allowed(iops):
        small = ", ".join(map(str, SMALL_METADATA_IOPS))
        yield fault(
            "metadata_iops",
            f"is {iops}",
            why="FSx provisions metadata IOPS in steps",
            allowed=(f"{small} or multiples of {METADATA_IOPS_STEP} up to {METADATA_IOPS_MAXIMUM}"),
            remedy="change it to an allowed value, or remove it so that it grows with the capacity",
        )


def _s3(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if wanted.import_path is None:
        return
    if wanted.deployment_type == "PERSISTENT_2":
        yield fault(
            "import_path",
            "is given for PERSISTENT_2",
            why="PERSISTENT_2 is linked to S3 through data repository associations",
            allowed="data_repositories, or another deployment type",
            remedy=(
                "set data_repositories: "
                f'[{{file_system_path: /, s3_path: "{wanted.import_path}"}}] '
                "and remove import_path"
            ),
        )
    if wanted.data_repositories:
        yield fault(
            "data_repositories",
            "is given together with import_path",
            why="a file system is linked to S3 in only one of these ways",
            allowed="one of data_repositories and import_path",
            remedy="remove import_path, export_path and auto_import",
        )
    if wanted.export_path is not None and _bucket(wanted.export_path) != _bucket(
        wanted.import_path
    ):
        yield fault(
            "export_path",
            "is in another bucket than import_path",
            why="FSx exports to the bucket that it imports from",
            allowed=f"a prefix of s3://{_bucket(wanted.import_path)}",
            remedy="change the bucket of one of them",
        )


def _bucket(path: str) -> str:
    bucket, _ = s3_parts(path) or (path, "")
    return bucket


def _data_repositories(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    linked = wanted.data_repositories
    if linked and wanted.deployment_type == "SCRATCH_1":
        yield fault(
            "data_repositories",
            "is given for SCRATCH_1",
            why="SCRATCH_1 is linked to S3 through import_path only",
            allowed="import_path, or another deployment type",
            remedy="change deployment_type to SCRATCH_2",
        )
    if len(linked) > MOST_DATA_REPOSITORIES:
        yield fault(
            "data_repositories",
            f"has {len(linked)} entries",
            why="FSx links at most 8 directories of a file system to S3",
            allowed=f"at most {MOST_DATA_REPOSITORIES}",
            remedy="remove entries",
        )
    paths = [f"{each.file_system_path.rstrip('/')}/" for each in linked]
    for index, path in enumerate(paths):
        outer = next((other for other in paths[:index] if _overlap(path, other)), None)
        if outer is not None:
            yield fault(
                f"data_repositories[{index}].file_system_path",
                f"overlaps with {outer}",
                why="one directory is linked to one S3 prefix",
                allowed="directories that do not contain one another",
                remedy="change one of the two directories",
            )


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _backups(wanted: NewFsxLustre) -> Iterator[Contradiction]:
    if not wanted.backup_retention_days:
        return
    linked = wanted.import_path is not None or wanted.data_repositories
    if not is_persistent(wanted.deployment_type) or linked:
        yield fault(
            "backup_retention_days",
            "enables backups of a "
            + ("file system that is linked to S3" if linked else "scratch file system"),
            why="FSx backs up persistent file systems that are not linked to S3",
            allowed="0",
            remedy="remove backup_retention_days",
        )
