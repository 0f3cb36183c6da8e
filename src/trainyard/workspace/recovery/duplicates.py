"""Find objects of a stack that exist in the account but not in its state, after a lost response.

If AWS completes a request and the response is lost, the provider repeats the request. If the API
takes no client token and the object has no name, two objects exist, and the state has only the
second (docs/faults.md, "A lost answer"). Job definition revisions are a fourth type of this kind,
but the provider deregisters all revisions when it deletes one (`resourceJobDefinitionDelete`,
`internal/service/batch/job_definition.go` of https://github.com/hashicorp/terraform-provider-aws).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from trainyard.components.tagging import RESOURCE_TAG, resource_tag_prefix
from trainyard.workspace.recovery.account import LookupAccount, tag_map
from trainyard.workspace.recovery.timeouts import Timeouts


@dataclass(frozen=True, slots=True)
class _Kind:
    operation: str
    key: str
    """Key of the list in the response."""
    identifier: str
    command: str
    """AWS CLI command that deletes one, without its id."""


# Source of the filters: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/, `Filter.N` of the
# three calls. `*` matches any characters: "Filtering" in
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
    """An object of the stack that is not in its state."""

    identifier: str
    """EC2 id."""
    resource: str
    """Logical name of the resource that it was created for."""
    command: str
    """AWS CLI command that deletes it."""


def duplicates(
    account: LookupAccount,
    *,
    stack: str,
    project: str,
    known: Callable[[], Collection[str]],
    timeouts: Timeouts,
) -> list[Duplicate]:
    """Return the objects of a stack in the account that are not in its state.

    AWS still shows deleted objects for a while, so the search repeats until an object has stayed
    for as long as AWS may take.

    Args:
        account: The account to search; nothing in it is changed.
        stack: Name of the stack.
        project: Pulumi project of the stack.
        known: Returns the ids in the state; called only if the account has objects of the stack.
        timeouts: How long AWS may take.

    Raises:
        BotoCoreError: the request could not be sent.
        ClientError: AWS rejected the request.
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


def _tagged(account: LookupAccount, prefix: str) -> list[Duplicate]:
    wanted = [{"Name": f"tag:{RESOURCE_TAG}", "Values": [f"{prefix}*"]}]
    found: list[Duplicate] = []
    for kind in _KINDS:
        for item in account.all("ec2", kind.operation, kind.key, Filters=wanted):
            tag = tag_map(item.get("Tags")).get(RESOURCE_TAG, "")
            # An endpoint may ignore an unknown filter; other users' objects must not match.
            if tag.startswith(prefix):
                identifier = item[kind.identifier]
                command = f"aws ec2 {kind.command} {identifier}"
                found.append(Duplicate(identifier, tag.rpartition("::")[2], command))
    return found
