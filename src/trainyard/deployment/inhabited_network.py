"""Refuse `destroy` of a network stack that contains resources of others.

The engine would delete gateways, routes and all unused subnets before the VPC, and AWS rejects the
deletion of the VPC while it contains a security group of another stack.
https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainyard.cli import console, failures
from trainyard.components.network.lookup import Inhabitant, vpc_inhabitants
from trainyard.workspace.target import Account, Target

if TYPE_CHECKING:
    from trainyard.deployment.protected import Kept

VPC_TYPE = "aws:ec2/vpc:Vpc"


def refuse_inhabited(kept: Iterable[Kept], target: Target) -> None:
    """Raise an error if a VPC that is about to be deleted contains resources of others.

    Args:
        kept: The objects in the state of the stack.
        target: The stack and its account.

    Raises:
        WrongUseError: the VPC contains resources of others; nothing was deleted.
        AccountUnreachableError: the account cannot be queried.
    """
    everything = tuple(kept)
    vpcs = [each for each in everything if each.type == VPC_TYPE]
    leaving = [each for each in vpcs if not each.protected and not each.retained]
    own = {each.identifier for each in everything}
    for vpc in leaving:
        inhabitants = _look_up(vpc.identifier, own, target)
        if inhabitants:
            raise failures.WrongUseError(
                refusal(inhabitants, target.account, stack=target.stack, vpc_id=vpc.identifier)
            )


def _look_up(vpc_id: str, own: set[str], target: Target) -> tuple[Inhabitant, ...]:
    with target.access():
        reader = target.reader()
        found = vpc_inhabitants(reader, vpc_id, own)
    if not reader.unreadable:
        return found
    # These may be network interfaces of the stack's own gateways.
    calls = ", ".join(reader.unreadable)
    console.progress(f"warning: could not check whether other resources use {vpc_id}: {calls}")
    return ()


def refusal(inhabitants: Iterable[Inhabitant], account: Account, *, stack: str, vpc_id: str) -> str:
    """Return a message: which resources are in the VPC, and what to do first."""
    everything = tuple(inhabitants)
    clusters = sorted({each.cluster for each in everything if each.cluster})
    reason = (
        f"other resources use the network of {stack}; nothing was changed. Without it they have no "
        f"internet access, and AWS deletes {vpc_id} only after they are deleted:"
    )
    return "\n".join(
        [
            reason,
            *(f"  {_line(each)}" for each in everything),
            *(["destroy these stacks first, by their `name`:"] if clusters else []),
            *(f"  ./trainyard destroy {cluster}{account.option}" for cluster in clusters),
        ]
    )


def _line(inhabitant: Inhabitant) -> str:
    name = f"  {inhabitant.name}" if inhabitant.name else ""
    owner = f"  (of {inhabitant.cluster})" if inhabitant.cluster else ""
    return f"{inhabitant.identifier}  {inhabitant.kind}{name}{owner}"
