"""What the launcher tells the pack about a stack."""

from __future__ import annotations

from policies.pack_config import pack_config
from tests.support.policy_programs import ASSISTED_ID, OWN_GROUP, OWN_ID
from tests.support.stack_files import changed, config

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"


def test_every_reservation_but_a_capacity_block_is_declared():
    stack = config(
        changed(
            reservations__own={
                "kind": "odcr",
                "reservation_id": OWN_ID,
                "placement_group": OWN_GROUP,
            },
            reservations__plain={"kind": "odcr", "reservation_id": "cr-00d00000000000002"},
            reservations__aws={
                "kind": "odcr",
                "reservation_id": ASSISTED_ID,
                "provenance": "aws-assisted",
            },
            reservations__group={"kind": "odcr-group", "group_arn": GROUP_ARN},
            reservations__made={"kind": "odcr-group", "members": ["cr-00d00000000000003"]},
        )
    )
    declared = {
        "own_reservations": {
            OWN_ID: OWN_GROUP,
            "cr-00d00000000000002": "",
            GROUP_ARN: "",
            "cr-00d00000000000003": "",
        },
        "assisted_reservations": [ASSISTED_ID],
    }
    assert pack_config(stack) == {
        "odcr-aws-assisted-no-placement-group": declared,
        "auto-scaling-group-placement-group": declared,
        "parallelcluster-placement-group": declared,
    }
