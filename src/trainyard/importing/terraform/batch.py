"""Compute environments, queues and job definitions of AWS Batch in Terraform."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.batch_jobs.conversion import without_environments
from trainyard.importing.cloudformation.environments import (
    read_placement,
    read_state,
    read_strategy,
)
from trainyard.importing.cloudformation.image import read_image
from trainyard.importing.cloudformation.launch_template import read_volumes
from trainyard.importing.draft import Draft, StackDraft, plain_name
from trainyard.importing.placeholders import is_id
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.api_names import as_properties
from trainyard.importing.terraform.blocks import Blocks, name_in_address
from trainyard.importing.terraform.capacity import imply_reservations, read_purchase_option
from trainyard.importing.terraform.job_definitions import read_jobs
from trainyard.importing.terraform.network import read_network
from trainyard.importing.terraform.source_keys import LAUNCH_TEMPLATE, Paths, Source, take
from trainyard.importing.terraform.storage import read_storage
from trainyard.importing.terraform.values import is_known

_RESOURCES = ("compute_resources", 0)
_ANY_TYPE = "p5.48xlarge"
_FARGATE = "compute environments of stacks have EC2 instances: run Fargate jobs elsewhere"


def read_environments(blocks: Blocks, stack: StackDraft) -> None:
    """Read the compute environments with their queues, and the job definitions."""
    architecture = stack.cluster.section("architecture")
    architecture.put("kind", "batch")
    environments = list(blocks.of("aws_batch_compute_environment"))
    if not environments:
        read_jobs(blocks, stack, without_environments(blocks.root, stack))
        return
    section = architecture.section("compute_environments")
    network = environments[0].at(*_RESOURCES)
    read_network(blocks, Source([(network, {"subnet_ids": (("subnets",),)})]), stack)
    _add_subnets(environments[1:], stack.cluster.section("network"))
    for environment in environments:
        resources = environment.at(*_RESOURCES)
        kind = str(resources.at("type").value)
        if kind.startswith("FARGATE"):
            environment.unsupported(_FARGATE)
            continue
        if environment.at("type").value == "UNMANAGED":
            environment.unsupported("environments of a stack are managed by Batch")
            continue
        name = _name_of(environment)
        nodes = section.section(name, environment)
        read_state(as_properties(environment))
        for key in ("compute_environment_name", "name", "name_prefix"):
            environment.at(key).claim("taken over", ours=nodes.at)
        _read_resources(name, resources, nodes, stack, blocks)
        _read_queue(environment, nodes, blocks)
    if not section.values:
        del architecture.values["compute_environments"]
        architecture.needs("compute_environments", {"nodes": {"maximum": 1}})
    read_jobs(blocks, stack, architecture, *section.values)
    read_storage(blocks, stack)
    imply_reservations(blocks)


def _add_subnets(environments: Sequence[Reader], network: Draft) -> None:
    """Add the subnets of further environments to those of the network, if it has ids."""
    for environment in environments:
        for each in environment.at(*_RESOURCES, "subnets").items():
            if network.values["kind"] == "existing-vpc" and is_id(each.value, "subnet"):
                network.take_ids("private_subnet_ids", [each], "subnet")
            each.implied("nodes launch in the private subnets of the network")


def _name_of(environment: Reader) -> str:
    for key in ("name", "compute_environment_name"):
        given = environment.at(key)
        if is_known(given):
            return plain_name(str(given.value))
    return plain_name(name_in_address(environment))


def _read_resources(
    name: str, resources: Reader, nodes: Draft, stack: StackDraft, blocks: Blocks
) -> None:
    launch = resources.at("launch_template", 0)
    template = blocks.named(launch.at("launch_template_id").value) or blocks.named(
        launch.at("launch_template_name").value
    )
    layers: list[tuple[Reader, Paths]] = [(resources, {})]
    if template is not None:
        layers.append((template, LAUNCH_TEMPLATE))
        launch.claim("implied", "the stack writes the launch template")
    source = Source(layers)
    listed = resources.at("instance_type")
    types = list(listed.items())
    for each in types[1:]:
        each.unsupported("a compute environment has one instance type: add another one for it")
    take(nodes, "instance_type", types[0] if types else listed, example=_ANY_TYPE)
    if not nodes.has("instance_type"):
        nodes.needs("instance_type", _ANY_TYPE)
    properties = as_properties(resources)
    data = None if template is None else as_properties(template)
    read_image(properties, data, str(nodes.values.get("instance_type", "")), nodes)
    _read_sizes(resources, nodes)
    groups = [properties.at("PlacementGroup")]
    if data is not None:
        groups.append(data.at("Placement", "GroupName"))
        read_volumes(data, nodes)
    read_placement(groups, lambda group: _group_made(group, blocks), nodes)
    read_strategy(properties)
    read_purchase_option(name, source, nodes, stack.cluster, blocks)
    kind = resources.at("type")
    if kind.value == "SPOT":
        nodes.take("purchase_option", kind, change=lambda _: "spot")
    kind.claim("taken over", ours=(*nodes.at, "purchase_option"))
    interfaces = list(source.at("network_interfaces").items())
    if any(each.at("interface_type").value in ("efa", "efa-only") for each in interfaces):
        nodes.put("efa_enabled", value=True)
        nodes.needs("availability_zone", "use1-az4")
        for each in interfaces:
            each.claim("taken over", ours=(*nodes.at, "efa_enabled"))
    take(nodes, "ssh_key_name", resources.at("ec2_key_pair"))


def _group_made(group: Reader, blocks: Blocks) -> Reader | None:
    made = blocks.named(group.value, "aws_placement_group")
    return None if made is None else as_properties(made)


def _read_sizes(resources: Reader, nodes: Draft) -> None:
    """Read the numbers of vCPUs as numbers of nodes."""
    found = INSTANCE_TYPES.get(str(nodes.values.get("instance_type")))
    for theirs, ours in (("min_vcpus", "minimum"), ("max_vcpus", "maximum")):
        vcpus = resources.at(theirs)
        if found is not None and isinstance(vcpus.value, int):
            least = max(vcpus.value // found.vcpus, int(ours == "maximum"))
            take(nodes, ours, vcpus, change=lambda _, count=least: count)
        elif ours == "maximum":
            take(nodes, ours, vcpus, example=1)
            nodes.needs(ours, 1)
    resources.at("desired_vcpus").dropped("Batch decides it")


def _read_queue(environment: Reader, nodes: Draft, blocks: Blocks) -> None:
    for queue in blocks.of("aws_batch_job_queue"):
        order = [*queue.at("compute_environment_order").items()]
        named = [each.at("compute_environment").value for each in order]
        named += [each.value for each in queue.at("compute_environments").items()]
        if any(blocks.named(each) == environment for each in named):
            take(nodes, "queue_priority", queue.at("priority"))
