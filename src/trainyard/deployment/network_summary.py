"""The summary of a network stack after `up`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trainyard.cli.closing_panel import Summary, print_closing_panel, read_summary
from trainyard.cli.panel import FactsTable, end_commands

if TYPE_CHECKING:
    from trainyard.workspace.workspace import Workspace


def show_summary(workspace: Workspace, changes: Mapping[str, int]) -> None:
    """Print the summary."""
    print_summary(read_summary(workspace, changes))


def print_summary(summary: Summary) -> None:
    """Print the panel, then the next commands, which are not wrapped."""
    commands = end_commands(summary.target)
    print_closing_panel(summary, _table(summary), commands)


def _table(summary: Summary) -> FactsTable:
    outputs, table = summary.outputs, FactsTable()
    table.add_fact("VPC", f"{outputs['vpc_id']}  {', '.join(outputs['cidrs'])}")
    # One private subnet per zone, and one public subnet if any, in the order of the zones.
    zones, public = outputs["availability_zones"], outputs["public_subnet_ids"]
    for index, (zone, private) in enumerate(zip(zones, outputs["private_subnet_ids"], strict=True)):
        beside = f"public {public[index]}, " if public else ""
        table.add_fact(f"zone {zone}", f"{beside}private {private}")
    for name, group_id in outputs["security_group_ids"].items():
        table.add_fact(f"security group {name}", str(group_id))
    reference = f"network: {{kind: stack-reference, stack: {summary.target.stack}}}"
    table.add_fact("to use it", reference)
    for note in outputs.get("notes") or []:
        table.add_fact("note", str(note))
    return table
