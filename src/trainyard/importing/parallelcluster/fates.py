"""What becomes of the keys of a ParallelCluster configuration that the conversion does not read.

A row is for a key and for all keys below it. The conversion reads the other keys.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.report import Fate, FateRow

_SECURITY_GROUPS = (
    "ParallelCluster creates the security groups of the nodes; add rules for other sources to "
    "those groups, or allow the subnets of the cluster in the groups of the other side"
)
_PROXY = (
    "nodes reach AWS through a NAT gateway or interface endpoints of the network; for a proxy, "
    "set it in a script in `custom_actions`"
)
_ROLE = (
    "ParallelCluster creates the roles; name policies in `iam_policies` and buckets in `s3_access`"
)
_DCV = "connect with `./trainyard ssh` or `ssm`; install Amazon DCV with a script if you need it"
_UPDATED = "run the script with `./trainyard ssm`: a stack has no scripts for updates"
_TAGS = "set `tags` of the stack, which all resources get"
_SCRATCH = "the instance store of the head node is not mounted by a stack; use `storage`"
_DEVELOPMENT = "it is a setting for the development of ParallelCluster"
_PRIORITY = "Slurm prefers static nodes, with the default priorities of ParallelCluster"
_EARLIER = "it is no key of ParallelCluster 3.16"
_HOMES = (
    "home directories are on the root volume of the head node; for many nodes, put them on `efs` "
    "or `fsx-lustre` in `storage`"
)
_USERS = (
    "the cluster has its default user only; join a directory with a script in "
    "`custom_actions.on_node_configured`"
)

_HEAD = "HeadNode"
_QUEUE = "Scheduling.SlurmQueues"
_RESOURCE = "Scheduling.SlurmQueues.ComputeResources"
_SLURM = "Scheduling.SlurmSettings"
_STORAGE = "SharedStorage"

_ROWS: Mapping[str, tuple[Fate, str]] = {
    "Imds.ImdsSupport": ("implied", "every node requires IMDSv2"),
    f"{_HEAD}.Networking.AdditionalSecurityGroups": ("not supported", _SECURITY_GROUPS),
    f"{_HEAD}.Networking.SecurityGroups": ("not supported", _SECURITY_GROUPS),
    f"{_HEAD}.Networking.Proxy": ("not supported", _PROXY),
    f"{_HEAD}.LocalStorage.EphemeralVolume": ("not supported", _SCRATCH),
    f"{_HEAD}.SharedStorageType": (
        "not supported",
        _HOMES,
    ),
    f"{_HEAD}.SharedStorageEfsSettings": ("dropped", "home directories are not on EFS"),
    f"{_HEAD}.Dcv": ("not supported", _DCV),
    **{
        f"{node}.CustomActions.{event}": ("dropped", "an event has a `Script` or a `Sequence`")
        for node in (_HEAD, _QUEUE)
        for event in ("OnNodeStart", "OnNodeConfigured")
    },
    f"{_HEAD}.CustomActions.OnNodeUpdated": ("not supported", _UPDATED),
    f"{_HEAD}.Iam.InstanceRole": ("not supported", _ROLE),
    f"{_HEAD}.Iam.InstanceProfile": ("not supported", _ROLE),
    f"{_HEAD}.Imds": (
        "not supported",
        "access to the instance metadata of the head node is limited, as by default",
    ),
    f"{_HEAD}.Image": ("not supported", "all nodes but those of queues have `custom_ami_id`"),
    f"{_SLURM}.Dns": (
        "not supported",
        "the stack uses the host names and the hosted zone that ParallelCluster creates",
    ),
    f"{_SLURM}.Database": (
        "not supported",
        "the stack has no Slurm accounting; configure it with a script in `custom_actions`",
    ),
    f"{_SLURM}.ExternalSlurmdbd": (
        "not supported",
        "the stack has no Slurm accounting; set `AccountingStorageHost` with a script",
    ),
    f"{_SLURM}.CustomSlurmSettingsIncludeFile": (
        "not supported",
        "write the parameters of the file into `slurm.settings`, where `check` reads them",
    ),
    f"{_SLURM}.MungeKeySecretArn": (
        "not supported",
        "ParallelCluster creates the munge key of the cluster",
    ),
    f"{_QUEUE}.Networking.AdditionalSecurityGroups": ("not supported", _SECURITY_GROUPS),
    f"{_QUEUE}.Networking.SecurityGroups": ("not supported", _SECURITY_GROUPS),
    f"{_QUEUE}.Networking.Proxy": ("not supported", _PROXY),
    f"{_QUEUE}.Networking.PlacementGroup": (
        "dropped",
        "every compute resource of the queue has its own placement group setting",
    ),
    f"{_QUEUE}.Iam.InstanceRole": ("not supported", _ROLE),
    f"{_QUEUE}.Iam.InstanceProfile": ("not supported", _ROLE),
    f"{_QUEUE}.Tags": ("not supported", _TAGS),
    f"{_RESOURCE}.SpotPrice": (
        "not supported",
        "Spot Instances cost at most the On-Demand price, which is the default",
    ),
    f"{_RESOURCE}.HealthChecks": (
        "not supported",
        "set `gpu_health_check` of the queue, for all of its compute resources",
    ),
    f"{_RESOURCE}.Tags": ("not supported", _TAGS),
    f"{_RESOURCE}.StaticNodePriority": ("not supported", _PRIORITY),
    f"{_RESOURCE}.DynamicNodePriority": ("not supported", _PRIORITY),
    f"{_RESOURCE}.LaunchTemplateOverrides": (
        "not supported",
        "the stack writes interfaces, placement and reservation of the nodes; set their keys",
    ),
    f"{_STORAGE}.EbsSettings.SnapshotId": (
        "not supported",
        "create a volume from the snapshot, and mount it as `kind: existing-ebs`",
    ),
    f"{_STORAGE}.EfsSettings.AccessPointId": (
        "dropped",
        "a new file system has no access point yet",
    ),
    f"{_STORAGE}.FsxLustreSettings.BackupId": (
        "not supported",
        "restore the backup with FSx, and mount it as `kind: existing-fsx-lustre`",
    ),
    f"{_STORAGE}.FsxLustreSettings.CopyTagsToBackups": (
        "not supported",
        "backups get no tags; tag them with FSx",
    ),
    f"{_STORAGE}.FsxLustreSettings.ImportedFileChunkSize": (
        "not supported",
        "files are striped in chunks of 1024 MiB, the default of FSx",
    ),
    f"{_STORAGE}.FsxLustreSettings.DataRepositoryAssociations.Name": (
        "dropped",
        "an association is identified by its directory",
    ),
    f"{_STORAGE}.FsxLustreSettings.DataRepositoryAssociations.BatchImportMetaDataOnCreate": (
        "not supported",
        "start the import of existing objects with a data repository task of FSx",
    ),
    f"{_STORAGE}.FsxLustreSettings.DataRepositoryAssociations.ImportedFileChunkSize": (
        "not supported",
        "files are striped in chunks of 1024 MiB, the default of FSx",
    ),
    **{
        f"{_STORAGE}.{kind}Settings": ("dropped", "the settings are not of this StorageType")
        for kind in ("Ebs", "Efs", "FsxLustre", "FsxOpenZfs", "FsxOntap", "FileCache")
    },
    "Monitoring.Logs.Rotation": (
        "not supported",
        "logs are rotated, so that they do not fill the root volume",
    ),
    "LoginNodes": (
        "not supported",
        "users log in to the head node: choose `head_node.instance_type` for them",
    ),
    "DirectoryService": (
        "not supported",
        _USERS,
    ),
    "Iam": (
        "not supported",
        "ParallelCluster creates its roles under its own names, without a boundary",
    ),
    "AdditionalPackages": (
        "not supported",
        "install the packages with a script in `custom_actions`, or in your AMI",
    ),
    "AdditionalResources": (
        "not supported",
        "create the resources of the template in a stack of their own",
    ),
    "CustomS3Bucket": ("dropped", "ParallelCluster uses its own bucket of the region"),
    "DeploymentSettings": (
        "not supported",
        "the default user has `sudo`, a home in /home, and the functions run outside of the VPC",
    ),
    "DevSettings": ("not supported", _DEVELOPMENT),
    "Scheduling.AwsBatchQueues": (
        "not supported",
        f"{_EARLIER}; begin with `./trainyard init NAME --kind batch`",
    ),
    "Scheduling.AwsBatchSettings": ("not supported", _EARLIER),
    "Scheduling.SchedulerQueues": ("not supported", f"{_EARLIER}; use `SlurmQueues`"),
    "Scheduling.SchedulerSettings": ("not supported", f"{_EARLIER}; use `SlurmSettings`"),
}
"""Rows by the path of the key."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    tuple(path.split(".")): FateRow(*row) for path, row in _ROWS.items()
}
