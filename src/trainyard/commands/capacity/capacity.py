"""`capacity`: find, buy, extend, list and release reserved capacity."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from trainyard.capacity.offerings import SearchRequest, moment
from trainyard.capacity.place import region_of
from trainyard.cli import failures, options
from trainyard.commands.capacity import buy as capacity_buy
from trainyard.commands.capacity import extend as capacity_extend
from trainyard.commands.capacity import list_ as capacity_list
from trainyard.commands.capacity import release as capacity_release
from trainyard.commands.capacity import search as capacity_search
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import account_of, target_of

app = typer.Typer(
    help="Find, buy, extend, list and release reserved capacity (docs/capacity.md).",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
)


def reservation_id(text: str) -> str:
    """Return an argument that is the id of a reservation.

    Raises:
        WrongUseError: it is not one.
    """
    if re.fullmatch(r"cr-[0-9a-f]{17}", text) is None:
        raise failures.WrongUseError(
            f"{text!r} is not the id of a reservation: `cr-` and 17 hexadecimal digits; "
            "`./trainyard capacity list` shows the reservations"
        )
    return text


InstanceType = Annotated[
    str, typer.Option("--type", help="Instance type such as p5.48xlarge, or an UltraServer type.")
]
Nodes = Annotated[int, typer.Option(help="Number of instances, 1 to 64.")]
Days = Annotated[int, typer.Option(help="Duration: 1 to 14 days, or a multiple of 7 up to 182.")]
From = Annotated[
    str, typer.Option("--from", metavar="DATE", help="Earliest start, such as 2026-12-01.")
]
To = Annotated[str, typer.Option("--to", metavar="DATE", help="Latest end.")]
Regions = Annotated[
    str, typer.Option(metavar="REGION,…", help="Regions. Default: that of the stack, or yours.")
]
OfStack = Annotated[
    str,
    typer.Option(
        "--stack",
        help="Stack for whose VPC subnets are shown.",
        autocompletion=options.complete_stack,
    ),
]
ForStack = Annotated[
    str,
    typer.Option(
        "--for",
        metavar="STACK",
        help="Stack that gets the block.",
        autocompletion=options.complete_stack,
    ),
]
EntryName = Annotated[
    str,
    typer.Option(
        "--entry",
        metavar="NAME",
        help="Entry of `reservations` for the block. Default: the only one without a usable block.",
    ),
]
ReservationArgument = Annotated[
    str,
    typer.Argument(
        help="ID of a reservation, such as cr-0123456789abcdef0.", callback=reservation_id
    ),
]
RegionOption = Annotated[str, typer.Option("--region", help="AWS region. Default: yours.")]
Price = Annotated[
    str, typer.Option(help="The price, instead of typing it in a terminal. Must be equal.")
]


@app.command()
def search(
    instance_type: InstanceType,
    nodes: Nodes,
    days: Days,
    earliest: From = "",
    latest: To = "",
    regions: Regions = "",
    stack: OfStack = "",
    sandbox: options.Sandbox = False,
    as_json: options.AsJson = False,
) -> None:
    """Show the Capacity Blocks that EC2 offers, with their prices. Changes nothing."""
    target = options.target(stack, path=None, sandbox=sandbox) if stack else None
    account = target.account if target else account_of(sandbox=sandbox)
    given = _listed(regions)
    request = SearchRequest(
        instance_type=instance_type,
        nodes=nodes,
        days=days,
        earliest=_moment("--from", earliest),
        latest=_moment("--to", latest),
        regions=given or (region_of("", account, target.stack_file if target else None),),
    )
    capacity_search.search(request, account, target, as_json=as_json)


@app.command()
def buy(
    context: typer.Context,
    offering: Annotated[str, typer.Argument(help="ID of an offering of `capacity search`: cb-….")],
    stack: ForStack,
    entry: EntryName = "",
    price: Price = "",
    stack_file: options.StackFilePath = None,
    sandbox: options.Sandbox = False,
) -> None:
    """Buy a Capacity Block for a stack, and write it into the stack file."""
    path = Path(os.path.realpath(stack_file)) if stack_file else None
    found = find_stack_file(stack, path=path)
    check = context.obj or capacity_buy.checked
    capacity_buy.buy(
        offering, target_of(found, sandbox=sandbox), entry=entry, price=price, check=check
    )


@app.command("list")
def list_(
    regions: Regions = "", sandbox: options.Sandbox = False, as_json: options.AsJson = False
) -> None:
    """List the reservations of the account, with their use and the time left."""
    capacity_list.list_reservations(_listed(regions), account_of(sandbox=sandbox), as_json=as_json)


@app.command()
def extend(
    reservation: ReservationArgument,
    days: Annotated[int, typer.Option(help="Days to add: 1 to 14, or a multiple of 7.")] = 0,
    hours: Annotated[int, typer.Option(help="The same in hours.")] = 0,
    region: RegionOption = "",
    price: Price = "",
    sandbox: options.Sandbox = False,
) -> None:
    """Extend a Capacity Block."""
    if bool(days) == bool(hours):
        raise failures.WrongUseError("give either --days or --hours")
    capacity_extend.extend(
        reservation, hours or days * 24, account_of(sandbox=sandbox), region=region, price=price
    )


@app.command()
def release(
    reservation: ReservationArgument,
    region: RegionOption = "",
    confirm: Annotated[
        str,
        typer.Option(metavar="RESERVATION", help="The id, instead of typing it in a terminal."),
    ] = "",
    sandbox: options.Sandbox = False,
) -> None:
    """Release an On-Demand Capacity Reservation."""
    capacity_release.release(
        reservation, account_of(sandbox=sandbox), region=region, confirm=confirm
    )


def _listed(text: str) -> tuple[str, ...]:
    """Return the parts of a list with commas."""
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _moment(option: str, text: str) -> datetime | None:
    """Return the time of an option; None without one.

    Raises:
        ConfigError: it is not a time.
    """
    try:
        return moment(text) if text else None
    except ValueError:
        problem = Problem(
            path=option,
            problem="this is not a date",
            found=text,
            remedy="write a date such as 2026-12-01, or a time such as 2026-12-01T09:00",
        )
        raise ConfigError([problem], stack_file="capacity search") from None
