"""What becomes of fields of Batch objects that a template has no property for."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.report import Fate, FateRow

_STATE: tuple[Fate, str] = ("dropped", "it is the state of what runs, not its configuration")
_ITS_OWN: tuple[Fate, str] = ("dropped", "the stack has its own")
_OF_VERSION: tuple[Fate, str] = ("dropped", "it is of the version, not of the nodes")
OF_REQUEST: Mapping[str, tuple[Fate, str]] = {
    **dict.fromkeys(
        ("DryRun", "ClientToken"), ("dropped", "it is of the request, not of the nodes")
    ),
    "TagSpecifications": ("dropped", "the stack writes the launch template"),
}
"""Rows of the arguments of CreateLaunchTemplate that no answer has."""

ROWS: Mapping[str, Mapping[str, tuple[Fate, str]]] = {
    "computeEnvironments": {
        **dict.fromkeys(("status", "statusReason"), _STATE),
        **dict.fromkeys(("computeEnvironmentArn", "ecsClusterArn", "uuid"), _ITS_OWN),
        "containerOrchestrationType": ("dropped", "a stack runs jobs of Batch on ECS"),
        "context": ("dropped", "Batch does not use it"),
        "ecsSettings": ("not supported", "set `monitoring` of the stack for metrics of nodes"),
        "computeResources.capacityTags": (
            "not supported",
            "set `tags` of the stack, which all resources get",
        ),
        "computeResources.managedInstancesProvider": (
            "not supported",
            "nodes of a stack are EC2 instances that Batch launches, not ECS Managed Instances",
        ),
    },
    "jobQueues": {
        **dict.fromkeys(("status", "statusReason"), _STATE),
        "jobQueueArn": _ITS_OWN,
        "jobQueueType": ("dropped", "it is that of the compute environments"),
    },
    "jobDefinitions": {
        "jobDefinitionArn": ("dropped", "the stack has a definition of its own"),
        "revision": ("dropped", "the definition of the stack begins with revision 1"),
        "status": ("dropped", "the definition of the stack is active"),
        "containerOrchestrationType": ("dropped", "a stack runs jobs of Batch on ECS"),
    },
    "LaunchTemplateVersions": {
        "LaunchTemplateId": _ITS_OWN,
        **dict.fromkeys(
            ("VersionNumber", "CreateTime", "CreatedBy", "DefaultVersion", "Operator"), _OF_VERSION
        ),
        **OF_REQUEST,
    },
}
"""Rows by the list of an answer that has the objects, and by the path below an object."""


def fates_below(prefix: str, listed: str) -> Mapping[tuple[str, ...], FateRow]:
    """Return the rows of the objects of a list, which are below a key; empty for the document."""
    begin = (prefix,) if prefix else ()
    return {(*begin, *path.split(".")): FateRow(*row) for path, row in ROWS[listed].items()}
