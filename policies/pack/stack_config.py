"""The configuration of the pack for one stack: facts that resources do not show.

Only the stack file has the provenance and the placement group of a reservation, and the settings of
rules for the stack. The launcher writes the result of `pack_config` to a file and passes it as
`--policy-pack-config`. Other programs run without it, with the strictest reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.components.config.reservations import CapacityBlock, Odcr, OdcrGroup
from trainyard.components.config.stack import RuleSettings, StackConfig
from trainyard.policies.pack.discovery import POLICIES
from trainyard.policies.pack.suppressions import SUPPRESSIONS
from trainyard.policies.resources.reservations import ASSISTED, CAPACITY_BLOCKS, OWN


def pack_config(config: StackConfig) -> dict[str, dict[str, Any]]:
    """Return the configuration of each rule that has one, by rule name, as plain JSON.

    It ignores unknown rule names, which `unknown_rules` reports.
    """
    facts = _reservation_facts(config)
    found: dict[str, dict[str, Any]] = {}
    for policy in POLICIES:
        keys = policy.config_schema.properties if policy.config_schema else {}
        values = {key: value for key, value in facts.items() if key in keys}
        settings = config.policies.get(policy.name)
        values |= _settings(settings) if settings else {}
        if values:
            found[policy.name] = values
    return found


def _settings(settings: RuleSettings) -> dict[str, Any]:
    level = settings.enforcement_level
    suppressions = [each.model_dump(mode="json") for each in settings.suppressions]
    return {
        **({"enforcementLevel": level} if level else {}),
        **({SUPPRESSIONS: suppressions} if suppressions else {}),
    }


def _reservation_facts(config: StackConfig) -> dict[str, Any]:
    own: dict[str, str] = {}
    assisted: list[str] = []
    blocks: list[str] = []
    for reservation in config.reservations.values():
        if isinstance(reservation, CapacityBlock):
            blocks.append(reservation.reservation_id)
            continue
        for target in _targets(reservation):
            if reservation.provenance == "aws-assisted":
                assisted.append(target)
            elif reservation.provenance == "own":  # `auto` needs the account
                own[target] = reservation.placement_group or ""
    return {OWN: own, ASSISTED: assisted, CAPACITY_BLOCKS: blocks}


def _targets(reservation: Odcr | OdcrGroup) -> Iterator[str]:
    """Yield what launch templates target by a known id; for a new group, its members."""
    if isinstance(reservation, Odcr):
        # The rules see a reservation that the stack creates.
        yield from [reservation.reservation_id] if reservation.reservation_id else []
    elif reservation.group_arn is not None:
        yield reservation.group_arn
    else:
        yield from reservation.members or ()
