"""Compute environments, queues and job definitions of an account as a stack file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tools.importing.cloudformation.api_names import in_pascal_case
from tools.importing.cloudformation.deferred import Deferred
from tools.importing.draft import StackDraft
from tools.importing.formats import format_named
from tools.importing.key_table import KeyTable
from tools.importing.live.batch.fates import FATES as FATES
from tools.importing.live.batch.repository import read_repository
from tools.importing.live.rewritten import Rewritten
from tools.importing.reader import Reader
from tools.importing.source import Document, Location, leaves

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS: Mapping[str, str] = {}
_NOT_IN_IDS = re.compile(r"[^\w-]+")
_ENVIRONMENT, _TEMPLATE = "AWS::Batch::ComputeEnvironment", "AWS::EC2::LaunchTemplate"
_PROFILE, _ROLE = "AWS::IAM::InstanceProfile", "AWS::IAM::Role"
_OBJECTS = {
    "DescribeComputeEnvironments": (_ENVIRONMENT, "computeEnvironmentName"),
    "DescribeJobQueues": ("AWS::Batch::JobQueue", "jobQueueName"),
    "DescribeLaunchTemplateVersions": (_TEMPLATE, "LaunchTemplateName"),
    "DescribeJobDefinitions": ("AWS::Batch::JobDefinition", "jobDefinitionName"),
}
"""The type in a template and the key with the name, by the call that answers with the objects."""
_TAGS = ("DescribeComputeEnvironments", "tags")
_NAMED = {
    "launchTemplateId": _TEMPLATE,
    "launchTemplateName": _TEMPLATE,
    "instanceRole": _PROFILE,
    "jobRoleArn": _ROLE,
    "computeEnvironment": _ENVIRONMENT,
}
"""The type of the object that a field names, with its id, name or ARN."""


def name_of(document: Document) -> str:
    """Return no name: it is that of the command, and the path of the document."""
    del document
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the answers as a template that creates the same objects."""
    template, ids = Rewritten(format_named("cloudformation")), _logical_ids(source)
    for call, (kind, key) in _OBJECTS.items():
        for answer in source.at(call).items():
            made = ("Resources", ids[kind, str(answer.at(key).value)])
            template.take((*made, "Type"), answer.at(key), lambda _, kind=kind: kind)
            _take_properties(answer, (*made, "Properties"), ids, template)
    _take_roles(source, ids, template)
    for environment in source.at("DescribeComputeEnvironments").items():
        for key, value in environment.at("tags").entries():
            if stack.values.get("tags", {}).get(key, value.value) == value.value:
                stack.take_tag(key, value.value, value)
            else:
                value.dropped("another compute environment has another value of the tag")
    template.convert(source, stack)
    read_repository(source, stack.cluster.section("architecture"))


def _logical_ids(source: Reader) -> Mapping[tuple[str, str], str]:
    """Return the logical ids of objects by their types and names; templates also have an id.

    The conversion names compute environments by their logical ids, so these have no prefix.
    """
    names = [
        *(
            (kind, str(answer.at(each).value), str(answer.at(key).value))
            for call, (kind, key) in _OBJECTS.items()
            for answer in source.at(call).items()
            for each in (key, "LaunchTemplateId")
            if answer.at(each).exists
        ),
        *(
            (kind, str(answer.at(key).value), str(answer.at(key).value))
            for call, kind, key in (
                ("GetInstanceProfile", _PROFILE, "InstanceProfileName"),
                ("ListAttachedRolePolicies", _ROLE, "RoleName"),
            )
            for answer in source.at(call).items()
        ),
    ]
    return {
        (kind, each): name if kind == _ENVIRONMENT else f"{kind}:{_NOT_IN_IDS.sub('-', name)}"
        for kind, each, name in names
    }


def _take_properties(
    answer: Reader, at: Location, ids: Mapping[tuple[str, str], str], template: Rewritten
) -> None:
    """Take all fields of an object but those that only answers have."""
    node = in_pascal_case(answer.node, answer.location) if answer.node else None
    for location, leaf in leaves(node) if node else ():
        origin = leaf.origin or ()
        path = tuple(part for part in origin if isinstance(part, str))
        if leaf.value in ({}, []) or path[:2] == _TAGS or _only_answered(path):
            continue
        named = (_NAMED.get(path[-1], ""), str(leaf.value).rpartition("/")[2])
        template.take(
            (*at, *location),
            Reader(leaf, origin, answer.report),
            lambda value, named=named: Deferred(f"${{{ids[named]}}}") if named in ids else value,
        )


def _only_answered(path: tuple[str, ...]) -> bool:
    return any(path[:end] in FATES for end in range(len(path) + 1))


def _take_roles(source: Reader, ids: Mapping[tuple[str, str], str], template: Rewritten) -> None:
    for answer in source.at("GetInstanceProfile").items():
        profile, role = answer.at("InstanceProfileName"), answer.at("RoleName")
        made = ("Resources", ids[_PROFILE, str(profile.value)])
        template.take((*made, "Type"), profile, lambda _: _PROFILE)
        named = Deferred(f"${{{ids.get((_ROLE, str(role.value)), '')}}}")
        template.take((*made, "Properties", "Roles", 0), role, lambda _, named=named: named)
    for answer in source.at("ListAttachedRolePolicies").items():
        role = answer.at("RoleName")
        made = ("Resources", ids[_ROLE, str(role.value)])
        template.take((*made, "Type"), role, lambda _: _ROLE)
        for index, policy in enumerate(answer.at("AttachedPolicies").items()):
            template.take((*made, "Properties", "ManagedPolicyArns", index), policy.at("PolicyArn"))
