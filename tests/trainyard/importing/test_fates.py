"""What the report says of a key is so in the stack file, for every key of every format.

For each key of a schema, a document has it with one value and with another. What is "taken over"
is in the stack file then, with what differs between the values; what is "implied" or "dropped"
has a reason that holds whatever the value is, and each of those reasons was judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import document_with
from tests.trainyard.importing.test_every_field import FIXED, as_terraform, keys_of
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.key_table import Keys

FORMATS = ("eksctl", "parallelcluster", "cloudformation", "terraform")
FIRST = {"text": "value", "integer": 40, "number": 40, "boolean": True, "any": "value"}
SECOND = {"text": "other", "integer": 50, "number": 50, "boolean": False, "any": "other"}
SCALARS = tuple(FIRST)
"""Kinds of which two values are compared."""

WHATEVER_THE_VALUE: dict[str, tuple[str, ...]] = {
    "the tool alone reads it": (
        "it says how Terraform works",
        "eksctl keeps them for itself",
        "it is an option of an upgrade by eksctl",
        "it is the version of the format",
        "write it as a comment",
        "it is for the console of CloudFormation",
        "it is for tools of CloudFormation",
        "it is an option of updates by CloudFormation",
        "the engine waits for what it creates",
        "the engine orders what it creates",
        "Batch launches nodes with the version of the stack",
        "`./trainyard outputs",
        "it only looks something up",
        "it has no effect",
        "neither the module nor the stack reads it",
        "it is a tag of an object that the stack does not have",
        "it repeats the values of the resources",
        "it is that of your credentials",
        "it follows from the region",
        "the module does not read it",
    ),
    "AWS or the tool sets it": (
        "AWS sets it",
        "it has no value",
        "it is empty",
        "they are `tags`, and those of the provider",
    ),
    "its value is elsewhere in the report": (
        "its value is where the variable is used",
        "its value is where the local is used",
        "the blocks of the module are read with these values",
        "the stack file has the value",
        "used by ",
        "nothing in the template uses it",
        "it is no entry of a mapping",
        "`check` checks the values of the stack file",
        "nothing that the template creates",
        "`block_device_mappings` has the size",
        "`instancesDistribution` names the types",
        "it is `aws:region` of the stack file",
        "`purchase_option` of the compute environment sets it",
        "the settings are not of this StorageType",
        "an event has a `Script` or a `Sequence`",
        "every compute resource of the queue has its own placement group setting",
        "Batch takes it from `InstanceTypes`",
        "only multi-node jobs name a type",
        "the node group is in the cluster of the stack",
        "a stack routes public subnets",
        "subnets are in the VPC of the stack",
        "it is a block of the VPC of the stack",
        "the stack creates the endpoints in its network",
        "NAT gateways are in public subnets",
        "`nat_gateways` is their number",
        "a VPC with public subnets has an internet gateway",
        "public subnets give addresses",
        "nodes are authorized by the stack",
        "instances, volumes and interfaces have the tags",
        "`tags` of the stack are those of all resources",
    ),
    "an object for the same purpose has its own name and address": (
        "the stack creates its roles itself",
        "the stack creates its placement groups",
        "flow logs of all traffic go to a log group",
        "flow logs are kept for seven days",
        "every NAT gateway has an address",
        "every cluster has an OIDC provider",
        "the stack writes the launch template",
        "the stack opens the security group of nodes with EFA",
    ),
    "no value of it makes a difference for the nodes of a stack": (
        "the add-ons of the stack have their roles through Pod Identity",
        "the AMI names its root volume",
        "Batch sets it by the jobs in the queue",
        "Batch needs none for this strategy",
        "Batch selects the AMI when a node launches",
        "environments are updated in place",
        "the instance type decides it",
        "Batch keeps earlier revisions as inactive",
        "the instance types of a stack are EBS-optimized by default",
        "the node group has no EFA",
        "without EFA, nodes have no placement group",
        "all EFA interfaces but the first have no IP addresses",
    ),
    "the values that differ are other words than those of the test, and have other fates": (
        "every node requires IMDSv2",  # `v1.0`
        "compute environments of a stack are managed and enabled",  # `UNMANAGED`, `DISABLED`
        "each compute environment has a queue, which is enabled",  # `DISABLED`
        "the system node group has no taints",  # a list
        "the node group has no taints",
        "the node group has no labels",
        "the node group has no reservation",
        "the node group has no placement group",  # for a group with EFA
        "a stack has the node groups of its stack file",  # the word is `create` of a default
        "architecture.queues.None.purchase_option",  # `SPOT`, `CAPACITY_BLOCK`
        "architecture.monitoring.keep_logs",  # `Retain`
        "architecture.node_groups.it.purchase_option",  # `SPOT`
        "architecture.node_groups.eks-managed-node-group.purchase_option",
        "architecture.node_groups.chosen.purchase_option",
        "architecture.job_definitions.JobDefinition",  # `multinode`
        "tags.value",  # the key itself
    ),
}
"""Beginnings of reasons that are so whatever the value is, by why."""


def documents(name: str) -> Iterator[tuple[Keys, dict[str, Any], dict[str, Any]]]:
    """Yield each scalar key with a document that has it, and one with another value."""
    keys = keys_of(name)
    for path, kind in keys.kinds.items():
        if kind not in SCALARS or ".".join(path) in FIXED[name]:
            continue

        def wanted(each: Keys, path: Keys = path) -> bool:
            return path[: len(each)] == each

        yield (
            path,
            document_with(keys, FIXED[name], wanted=wanted, value_of=FIRST.__getitem__),
            document_with(keys, FIXED[name], wanted=wanted, value_of=SECOND.__getitem__),
        )


def read(name: str, document: dict[str, Any], directory: Path) -> Imported:
    path = directory / ("main.tf.json" if name == "terraform" else "full.yaml")
    given = as_terraform(document) if name == "terraform" else document
    path.write_text(json.dumps(given), encoding="utf-8")
    (found,) = import_file(path)
    assert isinstance(found, Imported)
    return found


def value_at(stack: dict[str, Any], ours: tuple[str | int, ...]) -> Any:
    value: Any = stack
    for part in ours:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def contradictions(first: Imported, second: Imported, key: str) -> Iterator[str]:
    """Yield what the reports say of a key and the stack files do not."""
    others = {entry.location: entry for entry in second.entries}
    for entry in first.entries:
        other = others.get(entry.location)
        if key not in map(str, entry.location) or other is None or entry.value == other.value:
            continue
        fates = {entry.claim.fate, other.claim.fate}
        ours = entry.claim.ours
        same = value_at(first.stack.values, ours) == value_at(second.stack.values, ours)
        if fates == {"taken over"} and ours and same and entry.claim.why == "":
            yield f"taken over without an effect: {'.'.join(map(str, ours))}"
        if (
            len(fates) == 1
            and fates <= {"implied", "dropped"}
            and entry.claim.why == (other.claim.why)
        ):
            yield f"{entry.claim.fate}: {entry.claim.why}"


@pytest.mark.parametrize("name", FORMATS)
def test_a_fate_is_what_the_stack_file_says_for_two_values_of_each_key(name: str, tmp_path: Path):
    judged = tuple(each for group in WHATEVER_THE_VALUE.values() for each in group)
    found: dict[str, list[str]] = {}
    number = 0
    for path, first, second in documents(name):
        number += 1
        one, two = read(name, first, tmp_path), read(name, second, tmp_path)
        for said in contradictions(one, two, path[-1]):
            if not said.partition(": ")[2].startswith(judged):
                found.setdefault(said, []).append(".".join(path))
    assert number > 100
    assert found == {}
