"""Containers of jobs: their resources, and why one does not start on a node.

The sandbox runs no containers. A container starts if its image exists, the node has its devices,
and its execution role may read its secrets, whose values go nowhere; `runs` decides what it does
then.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html and
        https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html:
        `valueFrom`, the ARN of a parameter, or of a secret with `:KEY:STAGE:VERSION` after it
    https://github.com/aws/amazon-ecs-agent, agent/taskresource/asmsecret/asmsecret.go,
        agent/taskresource/ssmsecret/ssmsecret.go and agent/asm/asm.go: why the agent does not get a
        secret
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPES
from moto.ecr.models import ecr_backends
from moto.moto_api._internal import mock_random
from moto.secretsmanager.exceptions import SecretsManagerClientError
from moto.secretsmanager.models import secretsmanager_backends
from moto.ssm.models import ssm_backends

from trainyard.sandbox.aws.batch.store import Node
from trainyard.sandbox.aws.iam import may

_OWN_REGISTRY = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
    r"(?P<name>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>.+))?"
)
_SECRET = re.compile(
    r"arn:aws[a-z-]*:(?P<service>secretsmanager|ssm):(?P<region>[a-z0-9-]+):(?P<account>\d{12}):"
    r"(?P<kind>secret:|parameter)(?P<name>[^:\s]+)"
    r"(?::(?P<key>[^:\s]*):(?P<stage>[^:\s]*):(?P<version>[^:\s]*))?"
)
_KINDS = {"secretsmanager": "secret:", "ssm": "parameter"}
_DEVICE = re.compile(r"/dev/(?P<kind>infiniband/uverbs|neuron)(?P<number>\d+)")


@dataclass(frozen=True, order=True, kw_only=True)
class Size:
    """Resources: vCPUs, MiB of memory, NVIDIA GPUs."""

    vcpus: float
    memory_mib: int
    gpus: int

    def fits_into(self, other: Size) -> bool:
        """Return whether it fits into another size."""
        return (
            self.vcpus <= other.vcpus
            and self.memory_mib <= other.memory_mib
            and self.gpus <= other.gpus
        )


def size_of(container: Mapping[str, Any]) -> Size:
    """Return the resources of a container."""
    needs = {each["type"]: each["value"] for each in container.get("resourceRequirements") or []}
    return Size(
        vcpus=float(needs.get("VCPU") or container.get("vcpus") or 0),
        memory_mib=int(needs.get("MEMORY") or container.get("memory") or 0),
        gpus=int(needs.get("GPU") or 0),
    )


def largest(containers: Iterable[Mapping[str, Any]]) -> Size:
    """Return a size into which each of the containers fits."""
    sizes = [size_of(each) for each in containers]
    return Size(
        vcpus=max(size.vcpus for size in sizes),
        memory_mib=max(size.memory_mib for size in sizes),
        gpus=max(size.gpus for size in sizes),
    )


def together(sizes: Iterable[Size]) -> Size:
    """Return the sum of sizes."""
    each = list(sizes)
    return Size(
        vcpus=sum(size.vcpus for size in each),
        memory_mib=sum(size.memory_mib for size in each),
        gpus=sum(size.gpus for size in each),
    )


def size_of_type(instance_type: str) -> Size:
    """Return the resources of an instance type; ECS reserves a little of its memory."""
    described = INSTANCE_TYPES[instance_type]
    gpus = (described.get("GpuInfo") or {}).get("Gpus", [])
    return Size(
        vcpus=described["VCpuInfo"]["DefaultVCpus"],
        memory_mib=described["MemoryInfo"]["SizeInMiB"],
        gpus=sum(gpu["Count"] for gpu in gpus if gpu["Manufacturer"] == "NVIDIA"),
    )


def start_failure(container: Mapping[str, Any], node: Node) -> str | None:
    """Return why a container does not start on a node, as ECS words it; None if it starts."""
    for secret in container.get("secrets") or []:
        unread = _unread_secret(secret["valueFrom"], container.get("executionRoleArn"))
        if unread:
            return unread
    missing = _missing_image(container["image"])
    if missing:
        return f"CannotPullContainerError: {missing}"
    parameters = container.get("linuxParameters") or {}
    for device in parameters.get("devices") or []:
        if not _has(node, device["hostPath"]):
            return (
                "CannotStartContainerError: Error response from daemon: error gathering device "
                f'information while adding custom device "{device["hostPath"]}": no such file or '
                "directory"
            )
    return None


def _unread_secret(reference: str, role_arn: str | None) -> str | None:
    """Return why ECS does not get a secret with a role; None if it does."""
    secret = _SECRET.fullmatch(reference)
    if secret is None or _KINDS[secret["service"]] != secret["kind"]:
        raise NotImplementedError("secrets without the ARN of a secret or of a parameter")
    if role_arn is None:
        return (
            "ClientException: When you are specifying container secrets, you must also specify a "
            "value for 'executionRoleArn'."
        )
    arn = secret.string[: secret.end("name")]
    if secret["service"] == "ssm":
        begins = f"Fetching secret data from SSM Parameter Store in {secret['region']}: "
        action, problem = "ssm:GetParameters", _missing_parameter
    else:
        begins = (
            f"Fetching secret data from AWS Secrets Manager in region {secret['region']}: secret "
            f"{arn}: "
        )
        action, problem = "secretsmanager:GetSecretValue", _missing_value
    if not may(role_arn, action, arn):
        partition, account, name = (role_arn.split(":", 5)[i] for i in (1, 4, 5))
        return (
            f"{begins}AccessDeniedException: User: arn:{partition}:sts::{account}:assumed-role/"
            f"{name.rpartition('/')[2]}/{mock_random.get_random_hex(32)} is not authorized to "
            f"perform: {action} on resource: {arn} because no identity-based policy allows "
            f"the {action} action"
        )
    missing = problem(secret, arn)
    return None if missing is None else f"{begins}{missing}"


def _missing_parameter(secret: re.Match[str], arn: str) -> str | None:
    ssm = ssm_backends[secret["account"]][secret["region"]]
    return None if ssm.get_parameters([arn]) else f"invalid parameters: {secret['name']}"


def _missing_value(secret: re.Match[str], arn: str) -> str | None:
    secrets = secretsmanager_backends[secret["account"]][secret["region"]]
    key = secret["key"]
    try:
        found = secrets.get_secret_value(arn, secret["version"] or "", secret["stage"] or "")
    except SecretsManagerClientError as error:
        return f"{error.error_type}: {error.message}"
    if "SecretString" not in found:
        return f"secret {arn} does not contain a string"
    if key and key not in _document(found["SecretString"]):
        return f"retrieved secret from Secrets Manager did not contain json key {key}"
    return None


def _document(text: str) -> Any:
    """Return a JSON document; empty if the text is none."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _missing_image(image: str) -> str | None:
    """Return what is missing of an image in an ECR registry; other registries are not checked."""
    match = _OWN_REGISTRY.fullmatch(image)
    if match is None:
        return None
    repositories = ecr_backends[match["account"]][match["region"]].repositories
    if match["name"] not in repositories:
        return f"repository {match['name']} not found"
    tag, digest = match["tag"] or "latest", match["digest"]
    for each in repositories[match["name"]].images:
        if each.image_digest == digest if digest else tag in each.image_tags:
            return None
    return f"{image}: not found"


def _has(node: Node, path: str) -> bool:
    """Return whether a node has a device; only EFA and Neuron devices are checked."""
    match = _DEVICE.fullmatch(path)
    if match is None:
        return True
    if match["kind"] == "neuron":
        neuron = INSTANCE_TYPES[node.instance.instance_type].get("NeuronInfo") or {}
        count = sum(each["Count"] for each in neuron.get("NeuronDevices", []))
    else:
        kinds = [each.interface_type for each in node.instance.nics.values()]
        count = sum(kind.startswith("efa") for kind in kinds)
    return int(match["number"]) < count
