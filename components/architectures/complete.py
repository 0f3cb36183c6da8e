"""Fill in values from the account that the stack file omits.

Examples are the zone of a subnet and the times of a Capacity Block, which are unknown offline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.account.facts import AccountFacts
from components.account.file_system_complete import complete_storage
from components.account.reservations import complete_reservation
from components.architectures.registry import account_of

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


def complete(config: AnyStackConfig, facts: AccountFacts) -> AnyStackConfig:
    """Return the configuration with missing values filled in.

    These are values of reservations, subnets of nodes, and subnets and names of file systems.
    Values in the stack file are not changed, and unknown values are not filled in.
    """
    account = account_of(config)
    reservations = {
        name: complete_reservation(reservation, facts)
        for name, reservation in config.reservations.items()
    }
    places_file_systems = account.needs.places_file_systems
    update = {
        "reservations": reservations,
        "architecture": account.completed(config, facts),
        "storage": complete_storage(config, facts, places_file_systems=places_file_systems),
    }
    return config.model_copy(update=update)
