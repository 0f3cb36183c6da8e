"""Job definitions of AWS Batch as a stack file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from tools.importing.cloudformation.api_names import in_pascal_case
from tools.importing.cloudformation.environments import entry_name, why_renamed
from tools.importing.cloudformation.image import read_image
from tools.importing.cloudformation.job_fates import JOB_ROWS, claim_job_rest
from tools.importing.cloudformation.jobs import (
    environment_of,
    example_type,
    instance_types,
    read_job,
)
from tools.importing.cloudformation.values import is_known
from tools.importing.draft import Draft, StackDraft
from tools.importing.key_table import KeyTable
from tools.importing.placeholders import id_for
from tools.importing.reader import Reader
from tools.importing.report import FateRow
from tools.importing.source import Document

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS = {
    "nodes": "numNodes",
    "image": "image",
    "command": "command",
    "environment": "environment",
    "instance_type": "instanceType",
    "vcpus": "VCPU",
    "memory_mib": "MEMORY",
    "accelerators": "GPU",
    "efa_interfaces": "devices",
    "shared_memory_mib": "sharedMemorySize",
    "attempts": "attempts",
    "timeout_minutes": "attemptDurationSeconds",
    "job_definitions": "jobDefinitions",
    "compute_environment": "the compute environment",
    "compute_environments": "the compute environments",
}
FATES: Mapping[tuple[str, ...], FateRow] = {
    ("nextToken",): FateRow("dropped", "it is a page of the answer of AWS"),
}
OF_ANSWER = {
    "JobDefinitionArn": "the stack has a definition of its own",
    "Revision": "the definition of the stack begins with revision 1",
    "Status": "the definition of the stack is active",
    "ContainerOrchestrationType": "a stack runs jobs of Batch on ECS",
}
_ENVIRONMENT = "nodes"


def name_of(document: Document) -> str:
    """Return the name of the definition, if there is one alone."""
    return str(document.at("jobDefinitionName") or "")


def convert(source: Reader, stack: StackDraft) -> None:
    """Read job definitions into a stack file, whose compute environments only the user knows."""
    stack.cluster.put("name", stack.name)
    architecture = without_environments(source, stack)
    for definition in _current(source):
        assert definition.node is not None  # noqa: S101 - of a list
        node = in_pascal_case(definition.node, definition.location)
        job = Reader(node, definition.location, definition.report)
        read_definition(job, stack, architecture)
    if "job_definitions" not in architecture.values:
        architecture.needs("compute_environments", {_ENVIRONMENT: {"maximum": 1}})


def without_environments(source: Reader, stack: StackDraft) -> Draft:
    """Write what only the user knows of a stack with job definitions alone."""
    network = stack.cluster.section("network")
    network.put("kind", "existing-vpc")
    network.put("public_subnet_ids", [])
    network.needs("vpc_id", id_for("vpc"))
    network.needs("private_subnet_ids", [id_for("subnet", 1)])
    architecture = stack.cluster.section("architecture")
    architecture.put("kind", "batch")
    source.report.notes.append(
        "a job definition names no compute environment: set `purchase_option`, sizes and the other "
        "keys of `compute_environments` to those of yours"
    )
    return architecture


def _current(source: Reader) -> Iterator[Reader]:
    """Yield the newest active revision of each definition; the others are dropped."""
    listed = [*source.at("jobDefinitions").items()]
    if source.at("jobDefinitionName").exists:
        listed.append(source)
    newest: dict[str, Reader] = {}
    for each in listed:
        name = str(each.at("jobDefinitionName").value)
        if each.at("status").value == "INACTIVE":
            each.dropped("the revision is inactive")
            continue
        known = newest.get(name)
        older = each
        if known is None or _revision(known) < _revision(each):
            newest[name], older = each, known
        if older is not None:
            older.dropped("there is a newer revision of the definition")
    yield from newest.values()


def _revision(definition: Reader) -> int:
    value = definition.at("revision").value
    return value if isinstance(value, int) else 0


def read_definition(
    job: Reader,
    stack: StackDraft,
    architecture: Draft,
    *,
    label: str = "",
    environments: Collection[str] = (),
    takes_image: Callable[[Reader, Draft], bool] = lambda image, entry: False,
) -> None:
    """Read a job definition into an entry of `job_definitions`.

    Args:
        job: The definition, with the property names of CloudFormation.
        stack: The stack file.
        architecture: Its section `architecture`.
        label: What the source calls the definition, if its name is not known.
        environments: Names of the compute environments of the source, from which the job gets
            one. Without any, the job gets one with what it says about its nodes.
        takes_image: As for `read_job`.
    """
    platforms = [str(each.value).upper() for each in job.at("PlatformCapabilities").items()]
    if "FARGATE" in platforms:
        for _, each in job.entries():
            each.unsupported("jobs of a stack run on EC2 instances, not on Fargate")
        return
    named = job.at("JobDefinitionName")
    definitions = architecture.section("job_definitions")
    theirs = str(named.value) if is_known(named) else label
    name = entry_name(theirs, stack.name, definitions.values)
    draft = definitions.section(name, job)
    if is_known(named):
        named.claim("taken over", why_renamed(theirs, name), ours=draft.at)
    kinds = [*instance_types(job)]
    if environments:
        environment = environment_of(job, environments, architecture)
    else:
        environment = entry_name(str(kinds[0].value), stack.name, ()) if kinds else _ENVIRONMENT
    read_job(job, draft, environment, takes_image=takes_image)
    if not environments:
        _add_environment(environment, kinds, job, draft, architecture)
    for key, why in OF_ANSWER.items():
        job.at(key).dropped(why)
    claim_job_rest(job, JOB_ROWS)


def _add_environment(
    name: str, kinds: list[Reader], job: Reader, entry: Draft, architecture: Draft
) -> None:
    """Add the compute environment of a job, with what the job says about it."""
    source = kinds[0] if kinds else None
    environment = architecture.section("compute_environments").section(name, source)
    if source is not None:
        environment.take("instance_type", source)
        read_image(job, None, str(source.value), environment)
        for kind in kinds[1:]:
            kind.unsupported("all nodes of a job have one instance type")
    else:
        environment.unknown[(*environment.at, "instance_type")] = example_type(
            architecture.values["job_definitions"].values()
        )
    if entry.values.get("efa_interfaces"):
        environment.put("efa_enabled", value=True)
    most = environment.values.get("maximum", 1)
    nodes = entry.values.get("nodes", 1)
    environment.put("maximum", max(most, nodes if isinstance(nodes, int) else 1))
