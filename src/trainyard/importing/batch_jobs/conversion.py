"""Objects of AWS Batch as a stack file: job definitions, compute environments and queues."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from trainyard.importing.batch_jobs.fates import ROWS, fates_below
from trainyard.importing.batch_jobs.objects import logical_ids, take_objects, take_tags
from trainyard.importing.cloudformation.api_names import in_pascal_case
from trainyard.importing.cloudformation.environments import entry_name, why_renamed
from trainyard.importing.cloudformation.image import read_image
from trainyard.importing.cloudformation.job_fates import JOB_ROWS, claim_job_rest
from trainyard.importing.cloudformation.jobs import (
    environment_of,
    example_type,
    instance_types,
    read_job,
)
from trainyard.importing.cloudformation.values import is_known
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.formats import LISTS_OF_BATCH, format_named
from trainyard.importing.key_table import KeyTable
from trainyard.importing.placeholders import id_for
from trainyard.importing.reader import Reader
from trainyard.importing.report import FateRow
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Document, Node

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS = {
    "nodes": "numNodes",
    "image": "image",
    "command": "command",
    "environment": "environment",
    "secrets": "secrets",
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
    "maximum": "maxvCpus",
    "minimum": "minvCpus",
    "purchase_option": "launchTemplate",
    "custom_ami_id": "imageIdOverride",
    "private_subnet_ids": "subnets",
    "queue_priority": "priority",
    "ssh_key_name": "ec2KeyPair",
}
FATES: Mapping[tuple[str, ...], FateRow] = {
    **dict.fromkeys(
        [("nextToken",), ("NextToken",)], FateRow("dropped", "it is a page of the answer of AWS")
    ),
    **{
        path: row
        for listed in ROWS
        for prefix in (listed, "")
        for path, row in fates_below(prefix, listed).items()
    },
}
_ENVIRONMENT = "nodes"
_WITH_ENVIRONMENT = (
    "name the file of its compute environment as well: `import` reads several files of AWS Batch "
    "as one stack"
)


def name_of(document: Document) -> str:
    """Return the name of the object, if there is one of its kind; that of an environment first."""
    for key, listed in LISTS_OF_BATCH.items():
        found = document.at(listed)
        alone = found[0].get(key) if isinstance(found, list) and len(found) == 1 else None
        name = document.at(key) or alone
        if name:
            return str(name)
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read objects of Batch into a stack file; without environments, the user knows the rest."""
    stack.cluster.put("name", stack.name)
    objects = {
        listed: [*_newest([*source.at(listed).items(), *_alone(source, key, listed)], key)]
        for key, listed in LISTS_OF_BATCH.items()
    }
    if objects["computeEnvironments"] or objects["jobQueues"]:
        template = Rewritten(format_named("cloudformation"))
        take_objects(objects, logical_ids(objects), template)
        take_tags(objects["computeEnvironments"], stack)
        template.convert(source, stack)
    else:
        architecture = without_environments(source, stack)
        for template in objects["LaunchTemplateVersions"]:
            for _, each in template.entries():
                each.unsupported(_WITH_ENVIRONMENT)
        for definition in objects["jobDefinitions"]:
            assert definition.node is not None  # noqa: S101 - it has a name
            node = in_pascal_case(definition.node, definition.location)
            job = Reader(node, definition.location, definition.report)
            read_definition(job, stack, architecture)
        if "job_definitions" not in architecture.values:
            architecture.needs("compute_environments", {_ENVIRONMENT: {"maximum": 1}})
    for key, value in source.entries():
        if not any(
            key in each.value for found in objects.values() for each in found if each.location == ()
        ):
            _claim_stray(key, value)


def _alone(source: Reader, key: str, listed: str) -> Iterator[Reader]:
    """Yield the object that is the document itself, if it has the key with its name."""
    if source.at(key).exists:
        values = {
            name: each.node for name, each in source.entries() if (listed, name) in KEYS.kinds
        }
        yield Reader(Node(values, 1), source.location, source.report)


def _claim_stray(key: str, value: Reader) -> None:
    """Report a key of the document that belongs to no object that it has."""
    if (key,) not in FATES and key not in ROWS:
        names = [name for name, listed in LISTS_OF_BATCH.items() if (listed, key) in KEYS.kinds]
        value.unsupported(f"set {' or '.join(f'`{name}`' for name in names)}, or remove it")


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


def _newest(listed: Sequence[Reader], key: str) -> Iterator[Reader]:
    """Yield the newest active revision of each object; the others are dropped."""
    newest: dict[str, Reader] = {}
    for each in listed:
        name = str(each.at(key).value or "")
        if not name:
            for _, value in each.entries():
                value.unsupported(f"set `{key}`")
            continue
        if each.at("status").value == "INACTIVE":
            _drop(each, "the revision is inactive")
            continue
        known = newest.get(name)
        older = each
        if known is None or _revision(known) < _revision(each):
            newest[name], older = each, known
        if older is not None:
            _drop(older, "there is a newer revision of it")
    yield from newest.values()


def _drop(revision: Reader, why: str) -> None:
    for _, each in revision.entries():
        each.dropped(why)


def _revision(each: Reader) -> int:
    numbers = (each.at(key).value for key in ("revision", "VersionNumber"))
    return next((number for number in numbers if isinstance(number, int)), 0)


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
    for key, row in ROWS["jobDefinitions"].items():
        job.at(f"{key[0].upper()}{key[1:]}").claim(*row)
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
