"""Who else has an object of the account that a stack could adopt."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.components.account.cloudformation_stacks import DESCRIBE_STACKS, none_without_stack
from trainyard.components.account.lookup import AccountReader
from trainyard.components.tagging import CLUSTER_TAG
from trainyard.importing.live.answers import CLOUDFORMATION_TAG


def owner_of(reader: AccountReader, tags: Mapping[str, str]) -> str:
    """Return the stack that has an object, by its tags; empty without one that exists.

    CloudFormation does not remove its tags from an object that it retains.
    """
    ours, theirs = tags.get(CLUSTER_TAG), tags.get(CLOUDFORMATION_TAG)
    if ours:
        return f"the stack {ours}"
    do = none_without_stack(reader.client("cloudformation").describe_stacks)
    if theirs and reader.ask(DESCRIBE_STACKS, do, StackName=theirs):
        return f"the CloudFormation stack {theirs}"
    return ""
