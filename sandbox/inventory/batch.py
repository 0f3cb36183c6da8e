"""AWS Batch resources and image repositories. Jobs are omitted, because they expire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield compute environments, job queues, job definitions and repositories."""
    calls = clients.every("batch", "describe_compute_environments", "computeEnvironments")
    for each in calls:
        resources = each["computeResources"]
        details = {
            "type": resources["type"],
            "instances": sorted(resources["instanceTypes"]),
            "minimum": resources["minvCpus"],
            "maximum": resources["maxvCpus"],
            "template": (resources.get("launchTemplate") or {}).get("launchTemplateId"),
            "version": (resources.get("launchTemplate") or {}).get("version"),
            "subnets": sorted(resources["subnets"]),
            "state": each["state"],
            "status": each["status"],
            "tags": _tags(each.get("tags")),
        }
        yield Item("batch:compute-environment", each["computeEnvironmentName"], details)
    for each in clients.every("batch", "describe_job_queues", "jobQueues"):
        details = {
            "priority": each["priority"],
            "environments": [
                entry["computeEnvironment"].rpartition("/")[2]
                for entry in each["computeEnvironmentOrder"]
            ],
            "state": each["state"],
            "tags": _tags(each.get("tags")),
        }
        yield Item("batch:job-queue", each["jobQueueName"], details)
    yield from _definitions(clients)
    yield from _repositories(clients)


def _definitions(clients: Clients) -> Iterator[Item]:
    """Yield the active job definitions; a deregistered one counts as deleted."""
    calls = clients.every("batch", "describe_job_definitions", "jobDefinitions", status="ACTIVE")
    for each in calls:
        details = {
            "type": each["type"],
            "nodes": (each.get("nodeProperties") or {}).get("numNodes"),
            "tags": _tags(each.get("tags")),
        }
        yield Item(
            "batch:job-definition", f"{each['jobDefinitionName']}:{each['revision']}", details
        )


def _repositories(clients: Clients) -> Iterator[Item]:
    ecr = clients.client("ecr")
    for each in clients.every("ecr", "describe_repositories", "repositories"):
        details = {
            "mutability": each["imageTagMutability"],
            "scan": each["imageScanningConfiguration"]["scanOnPush"],
            "encryption": each["encryptionConfiguration"]["encryptionType"],
            "tags": tags(ecr.list_tags_for_resource(resourceArn=each["repositoryArn"])["tags"]),
        }
        yield Item("ecr:repository", each["repositoryName"], details)


def _tags(described: Mapping[str, str] | None) -> list[str]:
    return sorted(f"{key}:{value}" for key, value in (described or {}).items())
