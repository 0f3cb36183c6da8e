"""Job definitions of AWS Batch in Terraform, read as those of the API are."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.importing.batch_jobs.conversion import read_definition
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.reader import Reader
from trainyard.importing.source import Node
from trainyard.importing.terraform.api_names import property_node
from trainyard.importing.terraform.blocks import Blocks, name_in_address
from trainyard.importing.terraform.json_values import JSON_ATTRIBUTES
from trainyard.importing.terraform.source_keys import take

_NAMES: Mapping[str, str] = {
    "name": "JobDefinitionName",
    "type": "Type",
    "parameters": "Parameters",
    "platform_capabilities": "PlatformCapabilities",
    "propagate_tags": "PropagateTags",
    "scheduling_priority": "SchedulingPriority",
    "container_properties": "ContainerProperties",
    "node_properties": "NodeProperties",
    "ecs_properties": "EcsProperties",
    "eks_properties": "EksProperties",
    "retry_strategy": "RetryStrategy",
    "timeout": "Timeout",
    "tags": "Tags",
    "deregister_on_new_revision": "ResourceRetentionPolicy",
}
"""Properties of CloudFormation by the arguments of the provider that mean the same."""
_BLOCKS = ("retry_strategy", "timeout")
"""Blocks of which there is at most one."""
_REPOSITORY = re.compile(r"\$\{(?P<address>aws_ecr_repository\.[\w-]+(?:\[[^\]]+\])?)\.")


def read_jobs(blocks: Blocks, stack: StackDraft, architecture: Draft, *environments: str) -> None:
    """Read the job definitions.

    Args:
        blocks: The blocks of the document.
        stack: The stack file.
        architecture: Its section `architecture`.
        environments: Names of the compute environments that the document has.
    """
    for block in blocks.of("aws_batch_job_definition"):
        node = Node(dict(_properties(block)), block.node.line if block.node else 1)
        read_definition(
            Reader(node, block.location, block.report),
            stack,
            architecture,
            label=name_in_address(block),
            environments=environments,
            takes_image=lambda image, draft: _takes_image(image, draft, blocks, architecture),
        )


def _properties(block: Reader) -> Mapping[str, Node]:
    """Return the arguments with the property names of CloudFormation."""
    found: dict[str, Node] = {}
    for key, value in block.entries():
        if key not in _NAMES or value.node is None or value.node.section:
            continue
        given = value.at(0) if key in _BLOCKS and isinstance(value.node.value, list) else value
        if given.node is not None:
            is_snake = key not in JSON_ATTRIBUTES
            found[_NAMES[key]] = property_node(given.node, given.location, is_snake=is_snake)
    return found


def _takes_image(image: Reader, draft: Draft, blocks: Blocks, architecture: Draft) -> bool:
    """Read an image in a repository of the same files, and return whether it is in one."""
    found = _REPOSITORY.match(str(image.value))
    block = blocks.root.at(found["address"]) if found else None
    if block is None or not block.exists:
        return False
    first = block.report.origins.get((*architecture.at, "repository"), block.location)
    if first != block.location:
        return False
    section = architecture.section("repository", block)
    take(section, "name", block.at("name"))
    block.implied("the stack has the repository")
    why = "push the image with the name of the job definition as its tag"
    return draft.take("image", image, change=lambda _: "repository", why=why)
