"""`init`: create a stack file of the user's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.account.reader import (
    AccountReader,
    AccountUnreachableError,
    enabled_regions,
)
from trainyard.components.account.session import usual_region
from trainyard.components.catalog.regions import known_regions
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.init import offers
from trainyard.init.account_listing import AccountListing, list_account
from trainyard.init.api_access import consequences, listed_networks, vpc_problems
from trainyard.init.conflicts import (
    SANDBOX_REGION,
    account_conflicts,
    option_conflicts,
    unread_conflicts,
)
from trainyard.init.design import InitRequest, StackDesign
from trainyard.init.document import stack_file_text
from trainyard.init.new_stack import (
    account_problems,
    missing_values,
    new_stack_directory,
    refuse_invalid,
    write_new_stack,
)
from trainyard.init.question import Ask, Choice, Defaults, Question, ask_in_terminal
from trainyard.init.repeat_command import repeat_command
from trainyard.init.resolving import Resolver, resolve_kind
from trainyard.sandboxes.session import started_sandbox
from trainyard.workspace.accounts import account_of

if TYPE_CHECKING:
    from trainyard.components.architectures.preflight import Preflight

_NEEDED = (
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeCapacityReservations",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeVpcs",
)
"""Calls without which nothing is offered; key pairs and file systems are optional."""

Name = Annotated[str, typer.Argument(help="Name of the new stack and of its cluster.")]
From = Annotated[
    str, typer.Option("--from", metavar="STACK", help="Shipped stack to begin with, such as p5-cb.")
]
Kind = Annotated[str, typer.Option(help="eks, slurm, batch or network; selects the example.")]
Region = Annotated[str, typer.Option(help="AWS region.")]
Profile = Annotated[str, typer.Option(help="AWS profile, which is written into the stack file.")]
Vpc = Annotated[str, typer.Option(help="ID of an existing VPC, or `new`.")]
Subnets = Annotated[
    list[str] | None,
    typer.Option("--subnet", help="ID of a subnet, public or private. Repeat for each subnet."),
]
Reservations = Annotated[
    list[str] | None,
    typer.Option(
        "--reservation",
        help="ID of a Capacity Block or an ODCR. Each gets its own nodes. Repeat for each one.",
    ),
]
InstanceTypes = Annotated[
    list[str] | None,
    typer.Option(
        "--instance-type", help="Instance type of On-Demand nodes. Repeat for each node pool."
    ),
]
Nodes = Annotated[
    list[int] | None,
    typer.Option(
        help="Number of nodes of every node pool. Repeat to give each node pool its own number."
    ),
]
KeyPair = Annotated[str, typer.Option(help="EC2 key pair for SSH.")]
FileSystem = Annotated[
    str, typer.Option(help="ID of an existing FSx for Lustre or EFS file system to mount.")
]
LustreGib = Annotated[
    int | None, typer.Option(help="Capacity of a new FSx for Lustre file system, in GiB.")
]
ApiNetworks = Annotated[
    str,
    typer.Option(
        metavar="CIDRS",
        help="Networks that can reach the Kubernetes API of an EKS cluster, with commas; or "
        "`private`.",
    ),
]


def init(
    name: Name,
    example: From = "",
    kind: Kind = "",
    region: Region = "",
    profile: Profile = "",
    vpc: Vpc = "",
    subnet: Subnets = None,
    reservation: Reservations = None,
    instance_type: InstanceTypes = None,
    nodes: Nodes = None,
    key_pair: KeyPair = "",
    file_system: FileSystem = "",
    lustre_gib: LustreGib = None,
    api_networks: ApiNetworks = "",
    sandbox: options.Sandbox = False,
    yes: options.Yes = False,
) -> None:
    """Create a stack file from a shipped example and what the account has."""
    request = InitRequest(
        name=name,
        example=example,
        kind=kind,
        region=region,
        profile=profile,
        vpc=vpc,
        subnets=tuple(subnet or ()),
        reservations=tuple(reservation or ()),
        instance_types=tuple(instance_type or ()),
        nodes=tuple(nodes or ()),
        key_pair=key_pair,
        file_system=file_system,
        lustre_gib=lustre_gib,
        api_networks=listed_networks(api_networks),
        sandbox=sandbox,
    )
    create_stack(request, yes=yes)


@dataclass(frozen=True, slots=True)
class Account:
    """What `init` asks an account, and the time at which it asks."""

    listing: Callable[[AccountReader, Collection[str]], AccountListing] = list_account
    problems: Callable[[StackDesign], Preflight] = account_problems
    now: Callable[[], datetime] = clock.now


def create_stack(request: InitRequest, *, yes: bool, account: Account = Account()) -> None:
    """Write a stack file as requested.

    Args:
        request: The options.
        yes: Whether nobody is asked.
        account: Answers if there are credentials.

    Raises:
        ConfigError: options are missing or contradict each other, or the account refuses the stack;
            the error lists every problem. Nothing was written.
        WrongUseError: the file exists, or the account cannot be used.
    """
    _refuse(option_conflicts(request), request)
    interactive = console.at_a_terminal() and not yes
    defaults = Defaults()
    ask: Ask = ask_in_terminal if interactive else defaults
    target = new_stack_directory(ask, yes=yes)
    path = target / f"Pulumi.{request.name}.yaml" if target is not None else None
    if path is not None and os.path.lexists(path):
        raise failures.WrongUseError(
            f"{path} exists, and `init` never overwrites a file; choose another name, or delete it"
        )
    design, listing = _designed(request, ask, account)
    impossible = vpc_problems(design.network, design.api_networks)
    _refuse([*defaults.missing, *impossible], request)
    assert path is not None  # noqa: S101 - otherwise it is among the missing options
    refuse_invalid(design)
    missing = missing_values(design)
    if listing is not None and not missing:
        _refuse_in_account(design, request, account)
    if interactive:
        _confirm(design, path)
    write_new_stack(path, stack_file_text(design, command=repeat_command(design, request)))
    _tell(path, design, missing, request, live=listing is not None)


def _refuse(problems: list[Problem], request: InitRequest) -> None:
    if problems:
        raise ConfigError(problems, stack_file=f"init {request.name}")


def _designed(
    request: InitRequest, ask: Ask, account: Account
) -> tuple[StackDesign, AccountListing | None]:
    """Return the design, and the account if there are credentials."""
    request = resolve_kind(request, ask)
    if request.sandbox:
        started_sandbox(console.progress)
    try:
        with account_of(sandbox=request.sandbox, profile=request.profile).access():
            request = _with_region(request, ask)
            if not request.region:
                return Resolver(request, None, account.now(), ask).design(), None
            listing = _listed(request, account)
            resolver = Resolver(request, listing, account.now(), ask)
            conflicts = account_conflicts(request, resolver.kind, listing, account.now())
            _refuse(conflicts, request)
            return resolver.design(), listing
    except failures.WrongUseError as error:
        if request.sandbox or request.profile:
            raise
        reason = str(error).splitlines()[0].removesuffix("; nothing was done")
        console.progress(f"the account is not read: {reason}")
    request = _with_region(request, ask)
    _refuse(unread_conflicts(request), request)
    return Resolver(request, None, account.now(), ask).design(), None


def _with_region(request: InitRequest, ask: Ask) -> InitRequest:
    if request.sandbox:
        return replace(request, region=SANDBOX_REGION)
    if request.region:
        return request
    usual = usual_region(request.profile)
    question = Question(
        option="--region",
        text="Which AWS region is it in?",
        choices=[Choice(name) for name in _regions(request, usual or "us-east-1", ask)],
        default=(usual,) if usual else None,
        suggested=("us-west-2",),
    )
    answer = ask(question)
    return replace(request, region=answer[0] if answer else "")


def _regions(request: InitRequest, usual: str, ask: Ask) -> tuple[str, ...]:
    """Return the regions to offer: those that the account can use, if somebody is asked."""
    if ask is not ask_in_terminal:
        return ()
    try:
        reader = account_of(sandbox=request.sandbox, profile=request.profile).reader(usual)
        return enabled_regions(reader) or known_regions()
    except AccountUnreachableError:
        return known_regions()


def _listed(request: InitRequest, account: Account) -> AccountListing:
    console.progress(f"reading the account in {request.region}")
    reader = account_of(sandbox=request.sandbox, profile=request.profile).reader(request.region)
    types = {*offers.accelerated_types(request.region), *request.instance_types}
    listing = account.listing(reader, types)
    denied = listing.denied(*_NEEDED)
    if denied:
        raise failures.WrongUseError(f"AWS denies {'; '.join(denied)}")
    for line in listing.unreadable:
        console.progress(f"not read: {line}")
    for what, why in listing.left_out.items():
        console.progress(f"left out: {what}: {why}")
    return listing


def _refuse_in_account(design: StackDesign, request: InitRequest, account: Account) -> None:
    """Run the checks of `check --live`, and print their warnings.

    Raises:
        ConfigError: the account refuses the stack; the error lists every problem.
        AccountUnreachableError: the account cannot be queried.
    """
    console.progress("checking the stack in the account")
    with account_of(sandbox=request.sandbox, profile=request.profile).access():
        found = account.problems(design)
    _refuse(list(found.problems), request)
    for warning in found.warnings:
        console.progress(f"warning: {warning}")


def _confirm(design: StackDesign, path: Path) -> None:
    for pool in design.pools:
        where = pool.reserved.reservation_id if pool.reserved else f"on demand in {pool.zone}"
        console.progress(f"{pool.nodes} {pool.instance_type}, {where}")
    typer.confirm(f"\nWrite {path}?", default=True, abort=True, err=True)


def _tell(
    path: Path, design: StackDesign, missing: list[Problem], request: InitRequest, *, live: bool
) -> None:
    console.answer(f"{path}: based on {design.example}")
    where = [] if path.parent == Path(os.path.realpath(".")) else [f"cd {path.parent}"]
    for line in consequences(design):
        console.answer(line)
    option = account_of(sandbox=request.sandbox).option
    fixes: list[str] = []
    if missing and not request.sandbox:
        console.answer("it lacks what only the account knows; the commands below set it")
        fixes = [problem.remedy for problem in missing]
        live = True
    check = f"./trainyard check {design.name}{option}{' --live' if live or request.sandbox else ''}"
    commands = [*where, *fixes, check, f"./trainyard up {design.name}{option}"]
    console.answer("\n".join(["next:", *(f"  {command}" for command in commands)]))
