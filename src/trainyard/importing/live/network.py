"""What only the account knows about the network of a cluster."""

from __future__ import annotations

from trainyard.components.account.lookup import AccountReader
from trainyard.importing.imported import Imported


def complete_network(reader: AccountReader, imported: Imported) -> None:
    """Set the VPC, and whether the subnets are public, which these sources do not say."""
    network = imported.stack.values["network"]
    subnets = reader.subnets(
        [*network.get("public_subnet_ids", ()), *network.get("private_subnet_ids", ())]
    )
    if not subnets:
        return
    network["vpc_id"] = next(iter(subnets.values())).vpc_id
    imported.stack.unknown.pop(("network", "vpc_id"), None)
    public = [each for each in subnets if subnets[each].default_route == "internet-gateway"]
    network["public_subnet_ids"] = public
    network["private_subnet_ids"] = [each for each in subnets if each not in public]
