"""Plans and checks of job definitions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trainyard.components.batch.compute_environment_plan import SCRATCH, Context
from trainyard.components.batch.nccl_command import CollectiveTest, collective_test
from trainyard.components.batch.plan import ContainerPlan, JobDefinitionPlan
from trainyard.components.catalog.batch import (
    efa_devices,
    memory_for_jobs_mib,
    neuron_devices,
    shared_memory_mib,
)
from trainyard.components.catalog.collective_tests import MAKERS, TESTS_BY_MAKER
from trainyard.components.catalog.image_references import in_registry
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.config.batch import OWN_IMAGES, ComputeEnvironment, JobDefinition
from trainyard.components.config.problems import Review
from trainyard.components.naming import managed_policy_arns

# The JSON documents of job definitions for the Batch API.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeProperties.html
#     https://docs.aws.amazon.com/batch/latest/userguide/efa.html


ULIMITS = {"memlock": -1, "stack": 67_108_864, "nofile": 1_024_000}
"""Limits of the container; -1 is unlimited. EFA registers memory, which a `memlock` limit prevents:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html; the others are as in the AWS
templates (https://github.com/awslabs/awsome-distributed-ai, 1.architectures/3.aws-batch)."""
PERMISSIONS = ("READ", "WRITE", "MKNOD")
"""Permissions that Batch requires for an EFA device."""
ALL_NODES = "0:"
"""Open-ended node range, so that a job submission can override the number of nodes.
https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html"""


def container_properties(
    plan: ContainerPlan,
    *,
    image: str,
    job_role_arn: str,
    execution_role_arn: str | None = None,
    scratch: bool,
) -> dict[str, Any]:
    """Return `containerProperties` of a single-node job.

    Args:
        plan: The container.
        image: The image, with a tag or a digest.
        job_role_arn: ARN of the job role.
        execution_role_arn: ARN of the role with which ECS reads the secrets; None without secrets.
        scratch: Whether to mount `SCRATCH` of the node.
    """
    return {
        "image": image,
        **({"command": list(plan.command)} if plan.command else {}),
        "jobRoleArn": job_role_arn,
        **({"executionRoleArn": execution_role_arn} if execution_role_arn else {}),
        "environment": [
            {"name": name, "value": value} for name, value in sorted(plan.environment.items())
        ],
        **_secrets(plan),
        "resourceRequirements": _requirements(plan),
        "linuxParameters": {
            "devices": [
                {"hostPath": device, "containerPath": device, "permissions": list(PERMISSIONS)}
                for device in plan.devices
            ],
            "sharedMemorySize": plan.shared_memory_mib,
        },
        "ulimits": [
            {"name": name, "hardLimit": limit, "softLimit": limit}
            for name, limit in ULIMITS.items()
        ],
        **(_scratch() if scratch else {}),
    }


def node_properties(
    plan: JobDefinitionPlan,
    *,
    image: str,
    job_role_arn: str,
    execution_role_arn: str | None = None,
    scratch: bool,
) -> dict[str, Any]:
    """Return `nodeProperties` of a multi-node parallel job with one node range.

    See `container_properties` for the arguments.
    """
    container = container_properties(
        plan.container,
        image=image,
        job_role_arn=job_role_arn,
        execution_role_arn=execution_role_arn,
        scratch=scratch,
    )
    return {
        "mainNode": 0,
        "numNodes": plan.nodes,
        "nodeRangeProperties": [
            {
                "targetNodes": ALL_NODES,
                "container": {**container, "instanceType": plan.instance_type.name},
            }
        ],
    }


def _secrets(plan: ContainerPlan) -> dict[str, Any]:
    """https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html."""
    listed = [{"name": name, "valueFrom": arn} for name, arn in sorted(plan.secrets.items())]
    return {"secrets": listed} if listed else {}


def _requirements(plan: ContainerPlan) -> list[dict[str, str]]:
    amounts = {"VCPU": plan.vcpus, "MEMORY": plan.memory_mib, "GPU": plan.gpus}
    # Batch refuses a GPU requirement of 0.
    return [{"type": kind, "value": str(amount)} for kind, amount in amounts.items() if amount]


def _scratch() -> dict[str, Any]:
    return {
        "volumes": [{"name": "scratch", "host": {"sourcePath": SCRATCH}}],
        "mountPoints": [{"sourceVolume": "scratch", "containerPath": SCRATCH, "readOnly": False}],
    }


# Checks of the size of job definitions.
#
# Source: https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html: at most 24 KiB for
# RegisterJobDefinition.


LARGEST_JOB_DEFINITION = 24 * 1024
"""Bytes of a job definition."""
_SOME_IMAGE, _SOME_ARN = "i" * 256, "a" * 128
"""Longer than the values that are unknown before `up`: the image and the role ARN."""


def review_sizes(definitions: Sequence[JobDefinitionPlan], review: Review) -> None:
    """Refuse job definitions and arguments that are too large for Batch."""
    for definition in definitions:
        key = f"architecture.job_definitions.{definition.name}"
        if "" in definition.container.command:
            review.refuse(
                f"{key}.command",
                "has an empty argument, which Batch rejects",
                found=json.dumps(list(definition.container.command)),
                remedy="remove it",
            )
        size = _size(definition)
        if size > LARGEST_JOB_DEFINITION:
            review.refuse(
                f"{key}.command",
                "and `environment` make the job definition larger than Batch registers",
                found=f"{size} bytes together with the devices of {definition.instance_type.name}",
                allowed=f"at most {LARGEST_JOB_DEFINITION} bytes",
                remedy="move the text to a script in the image or in S3, and run that script",
            )


def _size(definition: JobDefinitionPlan) -> int:
    image = definition.container.image or _SOME_IMAGE
    properties = node_properties(
        definition,
        image=image,
        job_role_arn=_SOME_ARN,
        execution_role_arn=_SOME_ARN if definition.container.secrets else None,
        scratch=True,
    )
    return len(json.dumps(properties).encode())


# The plan of a job definition.
#
# Resources default to everything that a node has, because a training job owns its nodes.


PINNED_IMAGES = {"nccl-tests": NCCL_TESTS_IMAGE, "nccom-tests": NCCOM_TEST_IMAGE}
"""Pinned images by their short names in stack files."""


def plan_job_definition(
    name: str, definition: JobDefinition, context: Context
) -> JobDefinitionPlan | None:
    """Return the plan of a job definition, or None if problems make a plan impossible."""
    environments = context.config.architecture.environments_with_queues()
    environment = environments.get(definition.compute_environment)
    if environment is None or environment.instance_type not in INSTANCE_TYPES:
        return None
    instance_type = INSTANCE_TYPES[environment.instance_type]
    minutes = definition.timeout_minutes
    return JobDefinitionPlan(
        name=name,
        compute_environment=definition.compute_environment,
        nodes=definition.nodes,
        instance_type=instance_type,
        container=_container(definition, environment, instance_type),
        attempts=definition.attempts,
        timeout_seconds=minutes * 60 if minutes is not None else None,
        iam_policies=managed_policy_arns(definition.iam_policies, context.region),
    )


def accelerators_of(definition: JobDefinition, instance_type: InstanceType) -> int:
    """Return the number of GPUs or Neuron devices of each container."""
    if definition.accelerators is not None:
        return definition.accelerators
    return instance_type.accelerators.count if instance_type.accelerators else 0


def efa_interfaces_of(
    definition: JobDefinition, environment: ComputeEnvironment, instance_type: InstanceType
) -> int:
    """Return the number of EFA devices of each container."""
    if definition.efa_interfaces is not None:
        return definition.efa_interfaces
    return instance_type.efa_interfaces if environment.efa_enabled else 0


def memory_of(definition: JobDefinition, instance_type: InstanceType) -> int:
    """Return the memory of each container, in MiB."""
    return definition.memory_mib or memory_for_jobs_mib(instance_type)


def _container(
    definition: JobDefinition, environment: ComputeEnvironment, instance_type: InstanceType
) -> ContainerPlan:
    memory = memory_of(definition, instance_type)
    accelerators = accelerators_of(definition, instance_type)
    efa = efa_interfaces_of(definition, environment, instance_type)
    kind = instance_type.accelerators
    neuron = kind is not None and kind.manufacturer == "neuron"
    devices = efa_devices(efa) + (neuron_devices(accelerators) if neuron else ())
    test = _test(definition, instance_type, devices=accelerators, efa_interfaces=efa)
    return ContainerPlan(
        image=_image(definition.image),
        command=definition.command or (test.command if test else ()),
        environment={**(test.environment if test else {}), **definition.environment},
        vcpus=definition.vcpus or instance_type.vcpus,
        memory_mib=memory,
        gpus=0 if neuron else accelerators,
        devices=devices,
        shared_memory_mib=definition.shared_memory_mib or shared_memory_mib(memory),
        secrets=definition.secrets,
    )


def _test(
    definition: JobDefinition, instance_type: InstanceType, *, devices: int, efa_interfaces: int
) -> CollectiveTest | None:
    if definition.image not in PINNED_IMAGES or instance_type.accelerators is None or not devices:
        return None
    return collective_test(
        instance_type.accelerators, devices=devices, efa_interfaces=efa_interfaces
    )


def _image(image: str) -> str | None:
    return None if image == "repository" else PINNED_IMAGES.get(image, image)


# Checks of a job definition beyond its schema.
#
# Batch accepts most of these definitions, but the job then stays in RUNNABLE: Batch reports no
# error for a request that no node can satisfy.
# https://docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html
# https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Secret.html and
# https://docs.aws.amazon.com/AmazonECS/latest/developerguide/secrets-envvar-secrets-manager.html: a
# secret has a name that no variable has


def review_job_definition(
    name: str, definition: JobDefinition, context: Context, review: Review
) -> None:
    """Record problems of a job definition in the stack file."""
    key = f"architecture.job_definitions.{name}"
    environments = context.config.architecture.environments_with_queues()
    environment = environments.get(definition.compute_environment)
    if definition.image == "repository" and context.config.architecture.repository is None:
        review.refuse(
            f"{key}.image",
            "is repository, but the stack has no repository",
            found=definition.image,
            allowed="an image, or an entry `architecture.repository`",
            remedy="add `repository: {}` to `architecture`",
        )
    for variable in sorted(definition.secrets.keys() & definition.environment.keys()):
        review.refuse(
            f"{key}.environment.{variable}",
            "is one of `secrets` too; ECS starts no container with both",
            remedy=review.remove_command(f"{key}.environment.{variable}"),
        )
    if _has_a_moving_tag(definition.image):
        review.note(
            f"job definition {name}: the tag `latest`, which an image without a tag has too, can "
            "change at any time; use a version tag or a digest"
        )
    if environment is None:
        _refuse_environment(key, definition, list(environments), review)
        return
    if definition.nodes > 1:
        _review_nodes(key, definition, environment, context, review)
    found = INSTANCE_TYPES.get(environment.instance_type)
    if found is None:
        return  # an unknown type is refused separately
    _review_requests(key, definition, found, review)
    _review_efa(key, definition, environment, found, review)
    _review_memory(name, definition, found, review)
    _note_shared_devices(name, definition, found, review)
    _review_test(key, definition, found, review)


def _has_a_moving_tag(image: str) -> bool:
    if image in OWN_IMAGES:
        return False
    return in_registry(image, starts="AWS Batch").reference == "latest"


def _refuse_environment(
    key: str, definition: JobDefinition, environments: list[str], review: Review
) -> None:
    wanted = definition.compute_environment
    review.refuse(
        f"{key}.compute_environment",
        "is not the name of an entry of `compute_environments`",
        found=wanted,
        allowed=", ".join(environments),
        remedy=review.nearest_command(f"{key}.compute_environment", wanted, environments),
    )


def _review_nodes(
    key: str,
    definition: JobDefinition,
    environment: ComputeEnvironment,
    context: Context,
    review: Review,
) -> None:
    """Refuse settings that multi-node parallel jobs do not support.

    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
    """
    name = definition.compute_environment
    place = context.place(f"architecture.compute_environments.{name}")
    if definition.nodes > environment.maximum:
        review.refuse(
            f"{key}.nodes",
            f"is more than `maximum` of the compute environment `{name}`, "
            f"{environment.maximum}; the job would stay in RUNNABLE",
            found=definition.nodes,
            allowed=f"at most {environment.maximum}",
            remedy=review.set_command(f"{key}.nodes", str(environment.maximum)),
            rules=("G1",),
        )
    if environment.purchase_option == "spot":
        review.refuse(
            f"{key}.nodes",
            (
                "makes it multi-node parallel, which Batch does not run on Spot Instances, but "
                f"`{name}` uses Spot"
            ),
            found=definition.nodes,
            allowed="1, or `purchase_option: on-demand` or a reservation",
            remedy=review.set_command(f"{place.key}.purchase_option", "on-demand"),
            rules=("G1",),
        )
    # With EFA, the review of the environment requires the zone.
    if not place.one_zone and not environment.efa_enabled:
        review.refuse(
            f"{key}.nodes",
            (
                "makes it multi-node parallel, whose nodes must launch in one zone, but the nodes "
                f"of `{name}` can launch in several"
            ),
            found=definition.nodes,
            allowed=f"1, or `availability_zone` or `subnet_id` of `{name}`",
            remedy=review.set_command(f"{place.key}.availability_zone", "ZONE"),
            rules=("G2",),
        )


def _review_requests(
    key: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    noun = "GPUs"
    if found.accelerators is not None and found.accelerators.manufacturer == "neuron":
        noun = "Neuron devices"
    for name, what, most in (
        ("vcpus", "vCPUs", found.vcpus),
        ("memory_mib", "MiB of memory", found.memory_mib),
        ("accelerators", noun, found.accelerators.count if found.accelerators else 0),
        ("efa_interfaces", "EFA devices", found.efa_interfaces),
    ):
        wanted: int | None = getattr(definition, name)
        if wanted is not None and wanted > most:
            review.refuse(
                f"{key}.{name}",
                f"asks for more than {found.name} has, {most} {what}; the job would never start",
                found=wanted,
                allowed=f"at most {most}; if omitted, all that a job can use",
                remedy=review.remove_command(f"{key}.{name}"),
            )


def _review_efa(
    key: str,
    definition: JobDefinition,
    environment: ComputeEnvironment,
    found: InstanceType,
    review: Review,
) -> None:
    wanted, name = definition.efa_interfaces, definition.compute_environment
    if not wanted or environment.efa_enabled or wanted > found.efa_interfaces:
        return
    review.refuse(
        f"{key}.efa_interfaces",
        (
            f"requests EFA devices, but EFA is off in the compute environment `{name}`: the "
            "container would not start without the device files"
        ),
        found=wanted,
        allowed=f"0, or `efa_enabled: true` in `{name}`",
        remedy=review.set_command(f"architecture.compute_environments.{name}.efa_enabled", "true"),
        rules=("G6",),
    )


def _review_memory(
    name: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    memory, sure = memory_of(definition, found), memory_for_jobs_mib(found)
    if sure < memory <= found.memory_mib:
        review.note(
            f"job definition {name}: requests {memory} of the {found.memory_mib} MiB of "
            f"{found.name}; ECS offers at least {sure} of them, and a job that requests more than "
            "it offers stays in RUNNABLE"
        )
    shared = definition.shared_memory_mib
    if shared is not None and shared > memory:
        key = f"architecture.job_definitions.{name}.shared_memory_mib"
        review.refuse(
            key,
            f"is more than the memory of the container, {memory} MiB, which includes it",
            found=shared,
            allowed=f"at most {memory}",
            remedy=review.remove_command(key),
        )


def _note_shared_devices(
    name: str, definition: JobDefinition, found: InstanceType, review: Review
) -> None:
    """Note if two jobs on one node would share devices: ECS tracks only GPUs."""
    kind = found.accelerators
    if kind is None or kind.manufacturer != "neuron" or definition.nodes > 1:
        return
    wanted = accelerators_of(definition, found)
    vcpus = definition.vcpus or found.vcpus
    room_for_two = 2 * vcpus <= found.vcpus and (
        2 * memory_of(definition, found) <= memory_for_jobs_mib(found)
    )
    if wanted > 0 and room_for_two:
        review.note(
            f"job definition {name}: two such jobs fit on one {found.name} and would share its "
            f"first {wanted} Neuron devices, which Batch does not track; request more than half of "
            "the vCPUs or of the memory to prevent this"
        )


def _review_test(key: str, definition: JobDefinition, found: InstanceType, review: Review) -> None:
    if definition.image not in MAKERS:
        return
    wanted = MAKERS[definition.image]
    has = found.accelerators.manufacturer if found.accelerators else None
    if has != wanted:
        other = TESTS_BY_MAKER.get(has or "", "IMAGE")
        review.refuse(
            f"{key}.image",
            f"tests {'NVIDIA GPUs' if wanted == 'nvidia' else 'Trainium'}, and {found.name} has "
            "none",
            found=definition.image,
            allowed=f"{other}, repository, or another image",
            remedy=review.set_command(f"{key}.image", other),
        )
    elif not definition.command and accelerators_of(definition, found) == 0:
        review.refuse(
            f"{key}.accelerators",
            f"is 0, and the test of `image: {definition.image}` needs one at least",
            found=0,
            allowed="1 or more, or a `command`",
            remedy=review.remove_command(f"{key}.accelerators"),
        )
