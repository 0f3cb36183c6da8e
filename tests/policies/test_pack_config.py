"""The launcher's configuration of the pack for a stack."""

from __future__ import annotations

import jsonschema

from tests.support.eks import changed, config
from tests.support.policy_programs import ASSISTED_ID, BLOCK_ID, OWN_GROUP, OWN_ID
from trainyard.policies.pack.configured import served
from trainyard.policies.pack.discovery import POLICIES
from trainyard.policies.pack.stack_config import pack_config
from trainyard.policies.rule_names import unknown_rules

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
    own = {
        "own_reservations": {
            OWN_ID: OWN_GROUP,
            "cr-00d00000000000002": "",
            GROUP_ARN: "",
            "cr-00d00000000000003": "",
        },
        "assisted_reservations": [ASSISTED_ID],
        "capacity_blocks": [BLOCK_ID],
    }
    for rule in (
        "odcr-aws-assisted-no-placement-group",
        "auto-scaling-group-placement-group",
        "parallelcluster-placement-group",
    ):
        assert pack_config(stack)[rule] == own


def test_a_reservation_whose_provenance_the_account_tells_is_not_declared():
    stack = config(
        changed(reservations__read={"kind": "odcr", "reservation_id": OWN_ID, "provenance": "auto"})
    )
    told = pack_config(stack)["odcr-aws-assisted-no-placement-group"]
    assert (told["own_reservations"], told["assisted_reservations"]) == ({}, [])


def test_a_rule_that_asks_for_nothing_is_told_nothing():
    assert "ebs-encrypted" not in pack_config(config(changed()))


def test_level_and_suppressions_of_a_stack_file_reach_their_rule():
    entry = {"resource": "p5-cb-scratch", "reason": "scratch data", "expires": "2027-03-01"}
    settings = {"enforcement_level": "advisory", "suppressions": [entry]}
    stack = config(changed(policies={"ebs-encrypted": settings}))
    assert pack_config(stack)["ebs-encrypted"] == {
        "enforcementLevel": "advisory",
        "suppressions": [entry],
    }


def test_what_reaches_a_rule_fits_its_schema():
    entry = {"resource": "p5-cb-*", "reason": "scratch data", "expires": "2027-03-01"}
    names = [policy.name for policy in POLICIES]
    stack = config(changed(policies={name: {"suppressions": [entry]} for name in names}))
    given = pack_config(stack)
    for policy in served(POLICIES)[: len(names)]:
        schema = {"type": "object", "properties": policy.config_schema.properties}
        jsonschema.validate(given[policy.name], schema | {"additionalProperties": False})


def test_a_rule_that_does_not_exist_is_refused_with_the_nearest():
    stack = config(changed(policies={"ebs-encryption": {"enforcement_level": "disabled"}}))
    (problem,) = unknown_rules(stack, stack_file="Pulumi.p5-cb.yaml")
    assert problem.path == "trainyard:cluster.policies.ebs-encryption"
    assert problem.remedy.startswith("rename it to `ebs-encrypted`, or pulumi config rm")


def test_rules_that_exist_are_no_problem():
    stack = config(changed(policies={"ebs-encrypted": {"enforcement_level": "disabled"}}))
    assert unknown_rules(stack, stack_file="Pulumi.p5-cb.yaml") == []
