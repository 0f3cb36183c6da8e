"""Compute environments, queues and job definitions of an account as a stack file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainyard.importing.batch_jobs.objects import (
    PROFILE,
    ROLE,
    Ids,
    logical_ids,
    take_objects,
    take_tags,
)
from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import format_named
from trainyard.importing.key_table import KeyTable
from trainyard.importing.live.batch.fates import CALLS
from trainyard.importing.live.batch.fates import FATES as FATES
from trainyard.importing.live.batch.repository import read_repository
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Document

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS: Mapping[str, str] = {}
_OTHERS = (
    ("GetInstanceProfile", PROFILE, "InstanceProfileName"),
    ("ListAttachedRolePolicies", ROLE, "RoleName"),
)
"""Calls about further objects, with their types and the keys with their names."""


def name_of(document: Document) -> str:
    """Return no name: it is that of the command, and the path of the document."""
    del document
    return ""


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the answers as a template that creates the same objects."""
    objects = {listed: [*source.at(call).items()] for call, listed in CALLS.items()}
    others = [
        (kind, str(answer.at(key).value))
        for call, kind, key in _OTHERS
        for answer in source.at(call).items()
    ]
    template, ids = Rewritten(format_named("cloudformation")), logical_ids(objects, others)
    take_objects(objects, ids, template)
    _take_roles(source, ids, template)
    take_tags(objects["computeEnvironments"], stack)
    template.convert(source, stack)
    read_repository(source, stack.cluster.section("architecture"))


def _take_roles(source: Reader, ids: Ids, template: Rewritten) -> None:
    for answer in source.at("GetInstanceProfile").items():
        profile, role = answer.at("InstanceProfileName"), answer.at("RoleName")
        made = ("Resources", ids[PROFILE, str(profile.value)])
        template.take((*made, "Type"), profile, lambda _: PROFILE)
        named = Deferred(f"${{{ids.get((ROLE, str(role.value)), '')}}}")
        template.take((*made, "Properties", "Roles", 0), role, lambda _, named=named: named)
    for answer in source.at("ListAttachedRolePolicies").items():
        role = answer.at("RoleName")
        made = ("Resources", ids[ROLE, str(role.value)])
        template.take((*made, "Type"), role, lambda _: ROLE)
        for index, policy in enumerate(answer.at("AttachedPolicies").items()):
            template.take((*made, "Properties", "ManagedPolicyArns", index), policy.at("PolicyArn"))
