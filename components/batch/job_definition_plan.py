"""The plan of a job definition.

Resources default to everything that a node has, because a training job owns its nodes.
"""

from __future__ import annotations

from trainyard.components.batch.compute_environment_plan import Context
from trainyard.components.batch.nccl_command import CollectiveTest, collective_test
from trainyard.components.batch.plan import ContainerPlan, JobDefinitionPlan
from trainyard.components.catalog.batch import (
    efa_devices,
    memory_for_jobs_mib,
    neuron_devices,
    shared_memory_mib,
)
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.config.batch import ComputeEnvironment, JobDefinition
from trainyard.components.naming import managed_policy_arns

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
