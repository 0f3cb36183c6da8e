"""How a new VPC gets a way to the internet, in the words of a fix."""

from __future__ import annotations

from components.config.network import NewVpc
from components.config.review import Review


def nat_gateway_command(network: NewVpc, review: Review) -> str:
    """Return what gives the VPC a NAT gateway, which stands in a public subnet."""
    command = review.set_command("network.nat_gateways", "single")
    if network.public_subnets:
        return command
    return f"{review.set_command('network.public_subnets', 'true')}; {command}"
