"""What a network stack needs of the account; it checks only zones."""

from __future__ import annotations

from trainyard.components.account.check import ArchitectureNeeds
from trainyard.components.account_part import AccountPart
from trainyard.components.config.network_stack import NetworkStackConfig
from trainyard.components.network_stack.plan import NetworkStackPlan


class NetworkAccount(AccountPart[NetworkStackConfig, NetworkStackPlan]):
    """Needs of a network stack."""

    needs = ArchitectureNeeds(nodes=None, zone_users="NAT gateways")
