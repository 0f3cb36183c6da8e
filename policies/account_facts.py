"""What a resource does not show of the account: whose reservation it is that a launch targets.

A rule that asks has `RESERVATIONS` as its configuration schema, and reads the keys; whether they
were written down or looked up is not its business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pulumi_policy import PolicyConfigSchema

OWN = "own_reservations"
ASSISTED = "assisted_reservations"
CAPACITY_BLOCKS = "capacity_blocks"
RESERVATION_KEYS = frozenset({OWN, ASSISTED, CAPACITY_BLOCKS})

RESERVATIONS = PolicyConfigSchema(
    {
        OWN: {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": (
                "Your own reservations, by id or by ARN of their resource group: the "
                "placement group that each was made in, or an empty string."
            ),
        },
        ASSISTED: {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids and group ARNs of reservations that AWS made for you.",
        },
        CAPACITY_BLOCKS: {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the reservations that are Capacity Blocks.",
        },
    }
)

LOOKUP = "lookup"
LOOKUP_SCHEMA: Mapping[str, Any] = {
    "type": "boolean",
    "description": (
        "Ask EC2 for the reservations that the other keys do not name (read-only; off by default)."
    ),
}
