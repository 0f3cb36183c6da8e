"""What the stack has in the account and not in its state: made twice after an answer was lost.

A request that AWS has done and whose answer never came is made again by the provider. Where AWS
takes no token with the request and the object has no name, there are two of it then, and the state
knows the second (docs/faults.md, "A lost answer"). A revision of a job definition is the fourth
such type; the provider deregisters all revisions when it deletes one
(`resourceJobDefinitionDelete`, `internal/service/batch/job_definition.go` of
https://github.com/hashicorp/terraform-provider-aws).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from components.tagging import RESOURCE_TAG, resource_tag_prefix
from tools.workspace.recovery.account import Account, tag_map
from tools.workspace.recovery.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class _Kind:
    operation: str
    key: str
    """Of the list in the answer."""
    identifier: str
    command: str
    """Of the AWS CLI, to delete one, without its id."""


# Source of the filters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/, `Filter.N` of the
# three; `*` stands for any characters: "Filtering" in
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
_KINDS = (
    _Kind("describe_addresses", "Addresses", "AllocationId", "release-address --allocation-id"),
    _Kind(
        "describe_internet_gateways",
        "InternetGateways",
        "InternetGatewayId",
        "delete-internet-gateway --internet-gateway-id",
    ),
    _Kind("describe_vpcs", "Vpcs", "VpcId", "delete-vpc --vpc-id"),
)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An object of the stack that its state does not have."""

    identifier: str
    """Its id in EC2."""
    resource: str
    """Logical name of the resource that it was made for."""
    command: str
    """Of the AWS CLI, which deletes it."""


def duplicates(
    account: Account,
    *,
    stack: str,
    project: str,
    known: Callable[[], Collection[str]],
    timeouts: Timeouts,
) -> list[Duplicate]:
    """Return what the account has of a stack beyond its state.

    What was just deleted is shown for a while, so what is found is looked for again until it stays
    for as long as AWS takes.

    Args:
        account: Where to look; nothing in it is changed.
        stack: Whose objects.
        project: Of Pulumi, which the stack is in.
        known: Returns the ids in the state; asked only where the account has anything of the stack.
        timeouts: How long AWS may take.

    Raises:
        BotoCoreError: AWS could not be asked.
        ClientError: AWS refused the answer.
    """
    prefix = resource_tag_prefix(stack=stack, project=project)
    found = _tagged(account, prefix)
    if not found:
        return []
    ids = set(known())
    deadline = time.monotonic() + timeouts.settle
    while beyond := [each for each in found if each.identifier not in ids]:
        if time.monotonic() > deadline:
            return beyond
        time.sleep(timeouts.poll)
        found = _tagged(account, prefix)
    return []


def _tagged(account: Account, prefix: str) -> list[Duplicate]:
    wanted = [{"Name": f"tag:{RESOURCE_TAG}", "Values": [f"{prefix}*"]}]
    found: list[Duplicate] = []
    for kind in _KINDS:
        for item in account.all("ec2", kind.operation, kind.key, Filters=wanted):
            tag = tag_map(item.get("Tags")).get(RESOURCE_TAG, "")
            # As everywhere: a filter that is not known must not make others' objects ours.
            if tag.startswith(prefix):
                identifier = item[kind.identifier]
                command = f"aws ec2 {kind.command} {identifier}"
                found.append(Duplicate(identifier, tag.rpartition("::")[2], command))
    return found
