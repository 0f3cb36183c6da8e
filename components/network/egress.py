"""The remedy for a new VPC without access to the internet."""

from __future__ import annotations

from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review


def nat_gateway_command(network: NewVpc, review: Review) -> str:
    """Return the command that adds a NAT gateway, which needs a public subnet."""
    command = review.set_command("network.nat_gateways", "single")
    if network.public_subnets:
        return command
    return f"{review.set_command('network.public_subnets', 'true')}; {command}"
