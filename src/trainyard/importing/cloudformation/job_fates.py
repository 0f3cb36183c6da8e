"""What becomes of the properties of a job definition that the conversion does not read."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.reader import Reader
from trainyard.importing.report import Fate
from trainyard.importing.source import leaves

_ECS = "set the keys of the job definition: a job of a stack has one container"
_ROLE = "the stack creates the roles of its jobs; name policies in `iam_policies`"
_VOLUMES = "jobs see the local disks at `/scratch`, and the file systems of `storage`"

_CONTAINER: Mapping[str, tuple[Fate, str]] = {
    "EnableExecuteCommand": ("not supported", "connect to the node with `./trainyard ssm`"),
    "ExecutionRoleArn": ("implied", "the stack creates the roles of its jobs"),
    "FargatePlatformConfiguration": ("not supported", "jobs of a stack run on EC2 instances"),
    "InstanceType": ("dropped", "only multi-node jobs name a type"),
    "JobRoleArn": ("not supported", _ROLE),
    "LinuxParameters.Devices": ("not supported", "containers get the EFA and Neuron devices"),
    "LinuxParameters.InitProcessEnabled": ("not supported", "begin `command` with an init process"),
    "LinuxParameters.MaxSwap": ("not supported", "nodes have no swap"),
    "LinuxParameters.Swappiness": ("not supported", "nodes have no swap"),
    "LinuxParameters.Tmpfs": ("not supported", "use `/scratch`, or `/dev/shm`"),
    "LogConfiguration": ("not supported", "logs go to CloudWatch Logs, in `/aws/batch/job`"),
    "MountPoints": ("not supported", _VOLUMES),
    "Volumes": ("not supported", _VOLUMES),
    "NetworkConfiguration": ("not supported", "jobs of a stack have private addresses"),
    "EphemeralStorage": ("not supported", "set `root_volume.size_gib` of the compute environment"),
    "Privileged": ("not supported", "containers have the devices that they need, and no more"),
    "ReadonlyRootFilesystem": ("not supported", "containers can write to their file system"),
    "RepositoryCredentials": ("not supported", "push the image to `repository`"),
    "ResourceRequirements": ("not supported", "a job requests vCPUs, memory and accelerators"),
    "RuntimePlatform": ("implied", "the instance type decides it"),
    "Secrets": (
        "not supported",
        "set `secrets` of the job definition to the full ARN; the stack makes the role",
    ),
    "Ulimits": (
        "not supported",
        "containers have unlimited locked memory, and a stack of 64 MiB",
    ),
    "User": ("not supported", "set `USER` in the image"),
    "Image": ("not supported", "set `image` of the job definition"),
    "Command": ("not supported", "set `command` of the job definition"),
    "Environment": ("not supported", "set `environment` of the job definition"),
}

JOB_ROWS: Mapping[str, tuple[Fate, str]] = {
    "": ("implied", "the stack has the job definition"),
    "JobDefinitionName": ("dropped", "names begin with that of the stack"),
    "SchedulingPriority": ("not supported", "queues of a stack are first in, first out"),
    "Parameters": (
        "not supported",
        "write the values into `command`: a submission can set another one",
    ),
    "PlatformCapabilities": ("not supported", "jobs of a stack run on EC2 instances"),
    "PropagateTags": ("implied", "`tags` of the stack are those of all resources"),
    "RetryStrategy.EvaluateOnExit": (
        "not supported",
        "an attempt is repeated whatever its exit code is, up to `attempts` times",
    ),
    "ConsumableResourceProperties": ("not supported", "a stack has no consumable resources"),
    "ResourceRetentionPolicy": ("dropped", "Batch keeps earlier revisions as inactive"),
    "EksProperties": (
        "not supported",
        "for jobs on Kubernetes, begin with `./trainyard init NAME --kind eks`",
    ),
    "EcsProperties": ("not supported", _ECS),
    "NodeProperties": ("implied", "all nodes of a job run the same container"),
    "NodeProperties.NodeRangeProperties.EcsProperties": ("not supported", _ECS),
    "NodeProperties.NodeRangeProperties.EksProperties": ("not supported", _ECS),
    "NodeProperties.NodeRangeProperties.ConsumableResourceProperties": (
        "not supported",
        "a stack has no consumable resources",
    ),
    "Tags": ("not supported", "set `tags` of the stack, which all resources get"),
    **{f"ContainerProperties.{key}": row for key, row in _CONTAINER.items()},
    **{
        f"NodeProperties.NodeRangeProperties.Container.{key}": row
        for key, row in _CONTAINER.items()
    },
}


def claim_job_rest(job: Reader, rows: Mapping[str, tuple[Fate, str]]) -> None:
    """Report the values of a definition that the conversion did not read."""
    for location, node in leaves(job.node) if job.node else ():
        source = Reader(node, node.origin or (), job.report)
        path = [str(key) for key in location if isinstance(key, str)]
        if job.report.has_claim(source.location):
            continue
        if node.value in (None, "", []):
            source.implied("it is empty")
            continue
        found = (".".join(path[:end]) for end in range(len(path), -1, -1))
        fate, why = next(rows[each] for each in found if each in rows)
        source.claim(fate, why)
