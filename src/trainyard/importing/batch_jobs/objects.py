"""Objects of AWS Batch and their launch templates, as a template that creates them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.importing.batch_jobs.fates import ROWS
from trainyard.importing.cloudformation.api_names import in_pascal_case
from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import LISTS_OF_BATCH
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location, leaves

Objects = Mapping[str, Sequence[Reader]]
"""Objects by the list of an answer that has them, a key of `ROWS`."""
Ids = Mapping[tuple[str, str], str]
"""Logical ids by the type of an object and its name or id."""

PROFILE, ROLE = "AWS::IAM::InstanceProfile", "AWS::IAM::Role"
_ENVIRONMENT, _TEMPLATE = "AWS::Batch::ComputeEnvironment", "AWS::EC2::LaunchTemplate"
_NOT_IN_IDS = re.compile(r"[^\w-]+")
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
    "instanceRole": PROFILE,
    "jobRoleArn": ROLE,
    "computeEnvironment": _ENVIRONMENT,
}
"""The type of the object that a field names, with its id, name or ARN."""
_TAGS = ("computeEnvironments", "tags")


def logical_ids(objects: Objects, others: Iterable[tuple[str, str]] = ()) -> Ids:
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
            for each in objects.get(LISTS_OF_BATCH[key], ())
            for given in (key, "LaunchTemplateId")
            if each.at(given).exists
        ),
        *((kind, name, name) for kind, name in others),
    ]
    return {
        (kind, each): name if kind == _ENVIRONMENT else f"{kind}:{_NOT_IN_IDS.sub('-', name)}"
        for kind, each, name in names
    }


def take_objects(objects: Objects, ids: Ids, template: Rewritten) -> None:
    """Write objects into a template."""
    for key, kind in _KINDS.items():
        listed = LISTS_OF_BATCH[key]
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
    node = in_pascal_case(source.node, source.location) if source.node else None
    for location, leaf in leaves(node) if node else ():
        origin = leaf.origin or ()
        below = origin[len(source.location) :]
        path = tuple(part for part in below if isinstance(part, str))
        only_answered = any(".".join(path[:end]) in ROWS[listed] for end in range(1, len(path) + 1))
        if leaf.value in ({}, []) or (listed, *path[:1]) == _TAGS or only_answered:
            continue
        yield (*location, path[-1]), Reader(leaf, origin, source.report)


def take_tags(environments: Iterable[Reader], stack: StackDraft) -> None:
    """Set the tags of the stack to those of compute environments."""
    for environment in environments:
        for key, value in environment.at("tags").entries():
            if stack.values.get("tags", {}).get(key, value.value) == value.value:
                stack.take_tag(key, value.value, value)
            else:
                value.dropped("another compute environment has another value of the tag")
