"""Refuse `destroy` of a network stack that contains resources of others.

The engine would delete gateways, routes and all unused subnets before the VPC, and AWS rejects the
deletion of the VPC while it contains a security group of another stack.
https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainyard.cli import console, failures
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.vpc_inhabitants import Inhabitant, vpc_inhabitants
from trainyard.workspace.session import account_access

if TYPE_CHECKING:
    from trainyard.deployment.protected import Kept
    from trainyard.stack_files.stack_files import StackFile

VPC_TYPE = "aws:ec2/vpc:Vpc"


def refuse_inhabited(kept: Iterable[Kept], stack_file: StackFile, *, sandbox: bool) -> None:
    """Raise an error if a VPC that is about to be deleted contains resources of others.

    Args:
        kept: The objects in the state of the stack.
        stack_file: File of the stack.
        sandbox: Whether the account is the sandbox's.

    Raises:
        WrongUseError: the VPC contains resources of others; nothing was deleted.
        AccountUnreachableError: the account cannot be queried.
    """
    everything = tuple(kept)
    vpcs = [each for each in everything if each.type == VPC_TYPE]
    leaving = [each for each in vpcs if not each.protected and not each.retained]
    own = {each.identifier for each in everything}
    for vpc in leaving:
        inhabitants = _look_up(vpc.identifier, own, stack_file, sandbox=sandbox)
        if inhabitants:
            raise failures.WrongUseError(
                refusal(inhabitants, stack=stack_file.stack, vpc_id=vpc.identifier, sandbox=sandbox)
            )


def _look_up(
    vpc_id: str, own: set[str], stack_file: StackFile, *, sandbox: bool
) -> tuple[Inhabitant, ...]:
    with account_access(sandbox=sandbox, profile=stack_file.profile):
        reader = AccountReader(region=stack_file.region)
        found = vpc_inhabitants(reader, vpc_id, own)
    if not reader.unreadable:
        return found
    # These may be network interfaces of the stack's own gateways.
    calls = ", ".join(reader.unreadable)
    console.progress(f"warning: could not check whether other resources use {vpc_id}: {calls}")
    return ()


def refusal(inhabitants: Iterable[Inhabitant], *, stack: str, vpc_id: str, sandbox: bool) -> str:
    """Return a message: which resources are in the VPC, and what to do first."""
    everything = tuple(inhabitants)
    flag = " --sandbox" if sandbox else ""
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
            *(f"  ./trainyard destroy {cluster}{flag}" for cluster in clusters),
        ]
    )


def _line(inhabitant: Inhabitant) -> str:
    name = f"  {inhabitant.name}" if inhabitant.name else ""
    owner = f"  (of {inhabitant.cluster})" if inhabitant.cluster else ""
    return f"{inhabitant.identifier}  {inhabitant.kind}{name}{owner}"
