"""`capacity search`: what EC2 offers now, and for which price."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from trainyard.capacity.offerings import (
    OdcrOffer,
    Offering,
    RegionAnswer,
    SearchRequest,
    odcr_offers,
    offerings_in,
    request_problems,
)
from trainyard.capacity.place import capacity_account, records_of
from trainyard.capacity.stack_entry import StackZones, config_without_blocks, stack_zones
from trainyard.capacity.wording import local, money, utc
from trainyard.cli import console, failures
from trainyard.cli.panel import LOG_WIDTH, plain
from trainyard.components import clock
from trainyard.components.catalog.prices import on_demand_price
from trainyard.components.config.problems import ConfigError
from trainyard.workspace.target import Account, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundOffers:
    """The answers of all regions."""

    request: SearchRequest
    answers: tuple[RegionAnswer, ...]
    odcrs: tuple[OdcrOffer, ...]
    stack: str
    zones: StackZones | None
    """The zones of the stack; None without a stack."""

    @property
    def offerings(self) -> tuple[Offering, ...]:
        """The offerings of all regions, the earliest first."""
        found = [each for answer in self.answers for each in answer.offerings]
        return tuple(sorted(found, key=lambda each: (each.starts_at, each.region, each.zone)))

    def subnet(self, offering: Offering) -> str | None:
        """Return the subnet of the stack in the zone of an offering; None without a stack."""
        return None if self.zones is None else self.zones.text(offering)

    def as_json(self) -> dict[str, Any]:
        """Return the content of `--json`."""
        offerings = [
            {
                **each.as_json(),
                "hours": each.hours,
                "node_hour": round(each.node_hour, 4),
                "on_demand_node_hour": _on_demand(each),
                "accelerator_hour": each.accelerator_hour and round(each.accelerator_hour, 4),
                "subnet": self.subnet(each),
            }
            for each in self.offerings
        ]
        odcrs = [
            {"zone": each.zone, "zone_id": each.zone_id, "code": each.code, "text": each.text}
            for each in self.odcrs
        ]
        failed = {each.region: each.failure for each in self.answers if each.failure}
        return {"offerings": offerings, "odcr_dry_runs": odcrs, "failures": failed}


def search(
    request: SearchRequest, account: Account, target: Target | None, *, as_json: bool
) -> None:
    """Print the offerings, and remember them for `capacity buy`.

    Args:
        request: What is wanted.
        account: Where EC2 is asked: that of the stack, if there is one.
        target: The stack for whose VPC subnets are shown.
        as_json: Whether to print JSON.

    Raises:
        ConfigError: EC2 would refuse the request; the error lists every problem.
        CommandError: no region answers.
    """
    with capacity_account(account):
        now = clock.now()
        problems = [*request_problems(request, now)]
        if problems:
            raise ConfigError(problems, stack_file="capacity search")
        found = _found(request, account, target)
        records_of(account).remember(found.offerings, now)
    failed = [each for each in found.answers if each.failure]
    if as_json:
        console.answer_json(found.as_json())
    else:
        _show(found, account)
    for each in failed:
        console.problem(f"{each.region}: {each.failure}")
    if len(failed) == len(found.answers):
        raise failures.CommandError("no region has answered the search")


def _found(request: SearchRequest, account: Account, target: Target | None) -> FoundOffers:
    answers: list[RegionAnswer] = []
    odcrs: list[OdcrOffer] = []
    zones: StackZones | None = None
    for region in request.regions:
        console.progress(f"asking EC2 in {region}")
        reader = account.reader(region)
        answer = offerings_in(reader, request)
        answers.append(answer)
        if not answer.failure and not request.is_ultraserver:
            odcrs += odcr_offers(reader, request.instance_type, request.nodes)
        if target is not None and region == target.region:
            zones = stack_zones(reader, config_without_blocks(target))
    return FoundOffers(
        request=request,
        answers=tuple(answers),
        odcrs=tuple(odcrs),
        stack=target.stack if target is not None else "",
        zones=zones,
    )


def _show(found: FoundOffers, account: Account) -> None:
    offerings = found.offerings
    request = found.request
    width = None if sys.stdout.isatty() else LOG_WIDTH
    terminal = Console(highlight=False, width=width)
    what = f"{request.nodes} x {request.instance_type} for about {request.days} days"
    if offerings:
        terminal.print(_table(f"Capacity Blocks: {what}", found, offerings))
    else:
        console.answer(f"EC2 offers no Capacity Block of {what} in the regions that answered")
    if found.odcrs:
        terminal.print(_odcr_table(found.odcrs))
    if offerings:
        stack = found.stack or "STACK"
        first = offerings[0].offering_id
        console.answer(f"next:\n  ./trainyard capacity buy {first} --for {stack}{account.option}")


def _table(title: str, found: FoundOffers, offerings: Sequence[Offering]) -> Table:
    table = Table(title=plain(title), title_justify="left", title_style="bold", box=box.SIMPLE)
    table.add_column("Offering", no_wrap=True)
    table.add_column("Zone", no_wrap=True)
    table.add_column("Start and end", no_wrap=True)
    table.add_column("Price", justify="right")
    for each in offerings:
        per_accelerator = each.accelerator_hour
        prices = [money(each.fee, each.currency), f"{each.node_hour:.2f} a node and hour"]
        if per_accelerator is not None:
            prices.append(f"{per_accelerator:.2f} an accelerator")
        on_demand = _on_demand(each)
        if on_demand is not None:
            prices.append(f"on demand: {on_demand:.2f} a node and hour")
        offering = [each.offering_id, f"{each.hours:g} h"]
        if (subnet := found.subnet(each)) is not None:
            offering.append(f"subnet: {subnet}")
        times = [utc(each.starts_at), utc(each.ends_at)]
        if utc(each.starts_at) != local(each.starts_at):
            times += [local(each.starts_at), local(each.ends_at)]
        zone = [each.zone, each.zone_id or "not enabled"]
        table.add_row(*(plain("\n".join(lines)) for lines in (offering, zone, times, prices)))
        table.add_section()
    return table


def _on_demand(offering: Offering) -> float | None:
    """Return the On-Demand price of a node for an hour; None if it is not known."""
    price = on_demand_price(offering.node_type, offering.region)
    return None if price is None else price.usd


def _odcr_table(odcrs: Sequence[OdcrOffer]) -> Table:
    title = "On-Demand Capacity Reservations (dry run)"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE)
    table.add_column("Zone", no_wrap=True)
    table.add_column("Answer", overflow="fold")
    for each in odcrs:
        table.add_row(plain(f"{each.zone} ({each.zone_id})"), plain(each.text))
    return table
