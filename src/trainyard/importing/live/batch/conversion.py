"""Compute environments, queues and job definitions of an account as a stack file.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_Operations.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html (filters and pages)
    https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DescribeRepositories.html
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from trainyard.components.account.reader import AccountReader
from trainyard.components.named.lookup import account_of, private_image
from trainyard.components.tagging import tag_map
from trainyard.importing.cloudformation.environments import has_only_comments
from trainyard.importing.cloudformation.evaluation import Deferred
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.formats import format_named
from trainyard.importing.key_table import KeyTable
from trainyard.importing.live.answers import (
    CREATORS,
    KEYS_OF_ROLES,
    LAUNCH_TEMPLATES,
    OWNER,
    Rewritten,
    Shapes,
    keys_of_shapes,
    owner_of,
    read_attached,
    read_inline,
    read_profiles,
    read_templates,
)
from trainyard.importing.report import OutcomeTable, Reader, outcomes_beside
from trainyard.importing.source import Document, Location, Node, leaves

_CHOSEN = ("parameters", "tags", "options", "labels", "capacityTags")
"""Maps whose keys the user chooses."""


def _in_pascal_case(node: Node, at: Location, *, renames: bool = True) -> Node:
    """Return an answer with the property names of CloudFormation, which are those of the API.

    Each value keeps its place in the document.
    """
    value = node.value
    if isinstance(value, dict):
        value = {
            key[:1].upper() + key[1:] if renames else key: _in_pascal_case(
                each, (*at, key), renames=renames and key not in _CHOSEN
            )
            for key, each in value.items()
        }
    elif isinstance(value, list):
        value = [
            _in_pascal_case(each, (*at, index), renames=renames) for index, each in enumerate(value)
        ]
    return Node(value, node.line, node.tag, at)


Objects = Mapping[str, Sequence[Reader]]
"""Objects by the list of an answer that has them, a value of `CALLS`."""
Ids = Mapping[tuple[str, str], str]
"""Logical ids by the type of an object and its name or id."""

_PROFILE, ROLE = "AWS::IAM::InstanceProfile", "AWS::IAM::Role"
_ENVIRONMENT, _TEMPLATE = "AWS::Batch::ComputeEnvironment", "AWS::EC2::LaunchTemplate"
_LISTS: Mapping[str, str] = {
    "computeEnvironmentName": "computeEnvironments",
    "jobQueueName": "jobQueues",
    "LaunchTemplateName": "LaunchTemplateVersions",
    "jobDefinitionName": "jobDefinitions",
}
"""The list of an answer that has the objects, by the key with the name of one."""
_NOT_IN_IDS = re.compile(r"[^\w-]+")
_CALLS: Mapping[str, str] = {
    "DescribeComputeEnvironments": "computeEnvironments",
    "DescribeJobQueues": "jobQueues",
    "DescribeJobDefinitions": "jobDefinitions",
    "DescribeLaunchTemplateVersions": "LaunchTemplateVersions",
}
"""The list of its answer that has the objects, by call."""
_KINDS: Mapping[str, str] = {
    "computeEnvironmentName": _ENVIRONMENT,
    "jobQueueName": "AWS::Batch::JobQueue",
    "LaunchTemplateName": _TEMPLATE,
    "jobDefinitionName": "AWS::Batch::JobDefinition",
}
"""The type in a template, by the key with the name."""
_NAMED = {
    "launchTemplateId": _TEMPLATE,
    "launchTemplateName": _TEMPLATE,
    "instanceRole": _PROFILE,
    "jobRoleArn": ROLE,
    "computeEnvironment": _ENVIRONMENT,
}
"""The type of the object that a field names, with its id, name or ARN."""
_TAGS = ("computeEnvironments", "tags")


def _logical_ids(objects: Objects, others: Iterable[tuple[str, str]] = ()) -> Ids:
    """Return the logical ids of objects by their types and names; templates also have an id.

    The conversion names compute environments by their logical ids, so these have no prefix.

    Args:
        objects: The objects.
        others: Types and names of further objects.
    """
    names = [
        *(
            (kind, str(each.at(given).value), str(each.at(key).value))
            for key, kind in _KINDS.items()
            for each in objects.get(_LISTS[key], ())
            for given in (key, "LaunchTemplateId")
            if each.at(given).exists
        ),
        *((kind, name, name) for kind, name in others),
    ]
    return {
        (kind, each): name if kind == _ENVIRONMENT else f"{kind}:{_NOT_IN_IDS.sub('-', name)}"
        for kind, each, name in names
    }


def _take_objects(objects: Objects, ids: Ids, template: Rewritten) -> None:
    """Write objects into a template."""
    for key, kind in _KINDS.items():
        listed = _LISTS[key]
        for each in objects.get(listed, ()):
            made = ("Resources", ids[kind, str(each.at(key).value)])
            template.take((*made, "Type"), each.at(key), lambda _, kind=kind: kind)
            for at, value in _properties(each, listed):
                named = (_NAMED.get(str(at[-1]), ""), str(value.value).rpartition("/")[2])
                template.take(
                    (*made, "Properties", *at[:-1]),
                    value,
                    lambda value, named=named: (
                        Deferred(f"${{{ids[named]}}}") if named in ids else value
                    ),
                )


def _properties(source: Reader, listed: str) -> Iterator[tuple[Location, Reader]]:
    """Yield all fields of an object but those that only answers have.

    The location is that of the property, and has the key of the field as its last part.
    """
    node = _in_pascal_case(source.node, source.location) if source.node else None
    call, outcomes = next(each for each, of in _CALLS.items() if of == listed), OUTCOMES.rows
    for location, leaf in leaves(node) if node else ():
        origin = leaf.origin or ()
        below = origin[len(source.location) :]
        path = tuple(part for part in below if isinstance(part, str))
        only_answered = any((call, *path[:end]) in outcomes for end in range(1, len(path) + 1))
        if leaf.value in ({}, []) or (listed, *path[:1]) == _TAGS or only_answered:
            continue
        yield (*location, path[-1]), Reader(leaf, origin, source.report)


def _take_tags(environments: Iterable[Reader], stack: StackDraft) -> None:
    """Set the tags of the stack to those of compute environments."""
    for environment in environments:
        for key, value in environment.at("tags").entries():
            if stack.values.get("tags", {}).get(key, value.value) == value.value:
                stack.take_tag(key, value.value, value)
            else:
                value.dropped("another compute environment has another value of the tag")


_REPOSITORIES = "DescribeRepositories"


def _read_repositories(reader: AccountReader, images: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the repositories of images that are in this account and region, with their owners."""
    ecr, account = reader.client("ecr"), reader.account_id()
    found = filter(None, (private_image(each, reader.region) for each in images))
    names = [each.path for each in found if account_of(each) == account]
    for name in dict.fromkeys(names):
        answer = reader.ask(
            "ecr:DescribeRepositories", ecr.describe_repositories, repositoryNames=[name]
        )
        for each in (answer or {}).get("repositories", []):
            told = reader.ask(
                "ecr:ListTagsForResource",
                ecr.list_tags_for_resource,
                resourceArn=each["repositoryArn"],
            )
            yield {**each, OWNER: owner_of(reader, tag_map((told or {}).get("tags")))}


def _read_repository(source: Reader, architecture: Draft) -> None:
    """Read the first repository that no stack has as that of the stack, which adopts it."""
    for repository in source.at(_REPOSITORIES).items():
        name, owner = repository.at("repositoryName"), repository.at(OWNER).value
        if owner:
            why = f"it is part of {owner}; jobs name its images by their addresses"
        elif architecture.has("repository"):
            why = "a stack has one repository; jobs name images of others by their addresses"
        else:
            section = architecture.section("repository", repository)
            section.take("name", name)
            section.put("adopt", value=True)
            repository.implied("an adopted repository keeps it")
            source.report.notes.append(
                f"the repository {name.value} becomes part of the stack with the next `up`; if "
                "another tool has it, remove it there first, without deleting it"
            )
            continue
        repository.unsupported(why)
        source.report.notes.append(f"the repository {name.value} is not adopted: {why}")


Answer = Mapping[str, Any]

_ENDING = ("DELETING", "DELETED")
_PAGES_OF_JOBS = 10
"""Pages of the jobs of a queue that are looked at: with a filter, 100 jobs a page, the newest
first."""
_ANY_TIME = [{"name": "AFTER_CREATED_AT", "values": ["0"]}]
"""The filter with which ListJobs returns jobs of every status."""


def read_answers(
    reader: AccountReader, name: str, *, with_repositories: bool = False
) -> dict[str, Any]:
    """Return the answers by call; empty if the region has no environment or queue of the name.

    Batch has no clusters. What belongs together are the environment or queue of the name, or those
    that the CloudFormation stack or the stack of the name created, and what queues connect them
    with.
    """
    environments, queues = _connected(name, *_listed(reader))
    if not (environments or queues):
        return {}
    resources = [each.get("computeResources") or {} for each in environments]
    definitions = list(_definitions(reader, name, queues))
    profiles = list(
        read_profiles(reader, (_last_part(each.get("instanceRole")) for each in resources))
    )
    roles = dict.fromkeys(
        [*(each["RoleName"] for each in profiles), *filter(None, map(_job_role, definitions))]
    )
    images = (_container(each).get("image", "") for each in definitions)
    found: dict[str, Any] = {
        "DescribeComputeEnvironments": environments,
        "DescribeJobQueues": queues,
        "DescribeJobDefinitions": definitions,
        LAUNCH_TEMPLATES: list(read_templates(reader, _launched(resources), _without_text)),
        "GetInstanceProfile": profiles,
        "ListAttachedRolePolicies": [read_attached(reader, role) for role in roles],
        "GetRolePolicy": [policy for role in roles for policy in read_inline(reader, role)],
        _REPOSITORIES: list(_read_repositories(reader, images)) if with_repositories else [],
    }
    return {call: answer for call, answer in found.items() if answer}


def _listed(reader: AccountReader) -> tuple[list[Answer], list[Answer]]:
    batch = reader.client("batch")
    environments, queues = (
        [
            each
            for page in reader.pages(call, do)
            for each in page[key]
            if each.get("status") not in _ENDING
        ]
        for call, do, key in (
            (
                "batch:DescribeComputeEnvironments",
                batch.describe_compute_environments,
                "computeEnvironments",
            ),
            ("batch:DescribeJobQueues", batch.describe_job_queues, "jobQueues"),
        )
    )
    return environments, queues


def _connected(
    name: str, environments: Sequence[Answer], queues: Sequence[Answer]
) -> tuple[list[Answer], list[Answer]]:
    """Return the environments and queues of a name, and those that queues connect with them."""
    chosen = {
        *(each["computeEnvironmentArn"] for each in environments
          if _is_of(name, each, "computeEnvironmentName")),
        *(each["jobQueueArn"] for each in queues if _is_of(name, each, "jobQueueName")),
    }  # fmt: skip
    size = -1
    while size < len(chosen):
        size = len(chosen)
        for queue in queues:
            arns = {queue["jobQueueArn"], *_served(queue)}
            if arns & chosen:
                chosen |= arns
    return (
        [each for each in environments if each["computeEnvironmentArn"] in chosen],
        [each for each in queues if each["jobQueueArn"] in chosen],
    )


def _served(queue: Answer) -> Iterator[str]:
    for each in queue.get("computeEnvironmentOrder") or ():
        yield each["computeEnvironment"]


def _is_of(name: str, answer: Answer, key: str) -> bool:
    tags = answer.get("tags") or {}
    return answer[key] == name or any(tags.get(creator) == name for creator in CREATORS)


def _definitions(reader: AccountReader, name: str, queues: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the newest active revisions of the definitions of the name, and of jobs in queues."""
    batch = reader.client("batch")
    jobs = (
        job
        for queue in queues
        for page in islice(
            reader.pages(
                "batch:ListJobs", batch.list_jobs, jobQueue=queue["jobQueueArn"], filters=_ANY_TIME
            ),
            _PAGES_OF_JOBS,
        )
        for job in page["jobSummaryList"]
    )
    # arn:aws:batch:REGION:ACCOUNT:job-definition/NAME:REVISION
    used = {_last_part(job.get("jobDefinition")).partition(":")[0] for job in jobs}
    newest: dict[str, Answer] = {}
    for page in reader.pages(
        "batch:DescribeJobDefinitions", batch.describe_job_definitions, status="ACTIVE"
    ):
        for each in page["jobDefinitions"]:
            known = newest.get(each["jobDefinitionName"])
            if known is None or known["revision"] < each["revision"]:
                newest[each["jobDefinitionName"]] = each
    for key, each in newest.items():
        if key in used or _is_of(name, each, "jobDefinitionName"):
            yield each


def _container(definition: Answer) -> Answer:
    ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or [{}]
    return definition.get("containerProperties") or ranges[0].get("container") or {}


def _job_role(definition: Answer) -> str:
    return _last_part(_container(definition).get("jobRoleArn"))


def _last_part(arn: str | None) -> str:
    return (arn or "").rpartition("/")[2]


def _launched(resources: Iterable[Answer]) -> Iterator[tuple[str, str, str]]:
    """Yield the launch templates of compute environments, as `read_templates` takes them."""
    for each in resources:
        launch = each.get("launchTemplate") or {}
        for key in ("launchTemplateId", "launchTemplateName"):
            if launch.get(key):
                version = launch.get("version") or "$Default"
                yield key[0].upper() + key[1:], launch[key], version


def _without_text(encoded: str) -> str:
    """Return the number of lines of user data, whose text can have secrets; empty without any."""
    try:
        text = base64.b64decode(encoded, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return f"{len(encoded)} bytes in base64"
    return "" if has_only_comments(text) else f"{len(text.splitlines())} lines"


_SHAPES: Shapes = {
    "DescribeComputeEnvironments": ("batch", "DescribeComputeEnvironments", "computeEnvironments"),
    "DescribeJobQueues": ("batch", "DescribeJobQueues", "jobQueues"),
    "DescribeJobDefinitions": ("batch", "DescribeJobDefinitions", "jobDefinitions"),
    "DescribeLaunchTemplateVersions": (
        "ec2",
        "DescribeLaunchTemplateVersions",
        "LaunchTemplateVersions",
    ),
    "DescribeRepositories": ("ecr", "DescribeRepositories", "repositories"),
}
KEYS = KeyTable(
    lambda: keys_of_shapes(_SHAPES, {**KEYS_OF_ROLES, f"DescribeRepositories.{OWNER}": "text"})
)
OUTCOMES = OutcomeTable(outcomes_beside(__file__))
WORDS: Mapping[str, str] = {}
_OTHERS = (
    ("GetInstanceProfile", _PROFILE, "InstanceProfileName"),
    ("ListAttachedRolePolicies", ROLE, "RoleName"),
)
"""Calls about further objects, with their types and the keys with their names."""


def name_of(document: Document) -> str:
    """Return no name: it is that of the command, and the path of the document."""
    del document
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the answers as a template that creates the same objects."""
    objects = {listed: [*source.at(call).items()] for call, listed in _CALLS.items()}
    others = [
        (kind, str(answer.at(key).value))
        for call, kind, key in _OTHERS
        for answer in source.at(call).items()
    ]
    template, ids = Rewritten(format_named("cloudformation")), _logical_ids(objects, others)
    _take_objects(objects, ids, template)
    _take_roles(source, ids, template)
    _take_tags(objects["computeEnvironments"], stack)
    template.convert(source, stack)
    _read_repository(source, stack.cluster.section("architecture"))


def _take_roles(source: Reader, ids: Ids, template: Rewritten) -> None:
    for answer in source.at("GetInstanceProfile").items():
        profile, role = answer.at("InstanceProfileName"), answer.at("RoleName")
        made = ("Resources", ids[_PROFILE, str(profile.value)])
        template.take((*made, "Type"), profile, lambda _: _PROFILE)
        named = Deferred(f"${{{ids.get((ROLE, str(role.value)), '')}}}")
        template.take((*made, "Properties", "Roles", 0), role, lambda _, named=named: named)
    for answer in source.at("ListAttachedRolePolicies").items():
        role = answer.at("RoleName")
        made = ("Resources", ids[ROLE, str(role.value)])
        template.take((*made, "Type"), role, lambda _: ROLE)
        for index, policy in enumerate(answer.at("AttachedPolicies").items()):
            template.take((*made, "Properties", "ManagedPolicyArns", index), policy.at("PolicyArn"))
