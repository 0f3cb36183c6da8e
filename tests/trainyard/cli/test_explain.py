"""`explain` shows the requirement of a rule, the reason, the fix, and how to suppress it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.eks import changed
from trainyard.policies.pack.discovery import POLICIES
from trainyard.rules.explanation import EXAMPLE_DAYS
from trainyard.rules.requirements import requirements


def test_explains_a_rule_of_the_pack(trainyard) -> None:
    result = trainyard("explain", "efa-interface-count")
    assert result.exit_code == 0
    first, *lines = result.stdout.splitlines()
    assert first == "efa-interface-count  (policy, mandatory, high)"
    labels = {line[2:12].strip() for line in lines if line.startswith("  ") and line[2] != " "}
    assert {"holds", "why", "fix", "source", "policy", "enforces"} <= labels
    assert "policies/rules/efa/efa_interface_count.py" in result.stdout


def test_explains_a_rule_of_the_field_and_where_it_is_enforced(trainyard) -> None:
    """A4 is enforced by the resources of the stack and by the pack."""
    result = trainyard("explain", "a4")
    assert result.exit_code == 0
    assert result.stdout.startswith("A4  (rule, high)\n")
    assert "components/compute/interface_plan:plan_interfaces" in result.stdout
    assert "efa-interface-count" in result.stdout


def test_the_suppression_that_it_shows_is_one_that_a_stack_file_takes(trainyard) -> None:
    from trainyard.components.config.load import load_stack_config

    answer = json.loads(trainyard("explain", "ebs-encrypted", "--json").stdout)
    config = load_stack_config(
        {**changed(), "policies": answer["suppression"]}, stack_file="Pulumi.p5-cb.yaml"
    )
    (entry,) = config.policies["ebs-encrypted"].suppressions
    assert entry.expires == datetime.now(UTC).date() + timedelta(days=EXAMPLE_DAYS)
    shown = trainyard("explain", "ebs-encrypted").stdout
    assert f"            expires: {entry.expires}\n" in shown


def test_tells_the_configuration_keys_of_a_rule(trainyard) -> None:
    result = trainyard("explain", "odcr-aws-assisted-no-placement-group")
    assert "own_reservations: Your own reservations" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("name", "near"),
    [
        pytest.param("efa-interface-cuont", "efa-interface-count", id="a policy"),
        pytest.param("A26", "A6", id="a rule"),
        pytest.param("imdsv2", "did you mean imdsv2-required?", id="part of a policy"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(trainyard, name, near) -> None:
    result = trainyard("explain", name)
    assert result.exit_code == 2
    assert f"there is no rule '{name}'" in result.stderr
    assert near in result.stderr


def test_a_name_that_is_like_nothing_is_refused_all_the_same(trainyard) -> None:
    result = trainyard("explain", "?????????")
    assert result.exit_code == 2
    assert "did you mean" not in result.stderr


def test_explains_what_the_pack_tells_of_its_own_configuration(trainyard) -> None:
    """A preview also names these policies, so users will look them up."""
    result = trainyard("explain", "expired-suppressions")
    assert result.exit_code == 0
    assert "fix       Fix the resource" in result.stdout
    assert "suppressions:" not in result.stdout


def test_lists_every_rule_without_a_name(trainyard) -> None:
    lines = trainyard("explain").stdout.splitlines()
    first_words = {line.split(" ")[0] for line in lines}
    assert {policy.name for policy in POLICIES} <= first_words
    assert set(requirements()) <= first_words


def test_lists_every_rule_as_json(trainyard) -> None:
    answer = json.loads(trainyard("explain", "--json").stdout)
    assert [each["name"] for each in answer["policies"]] == [policy.name for policy in POLICIES]
    assert [each["name"] for each in answer["rules"]] == list(requirements())
    for each in [*answer["policies"], *answer["rules"]]:
        assert each["holds"]
        assert each["why"]
        assert each["fix"]
        assert each["sources"]


def test_a_file_name_is_as_good_as_the_rules_name(trainyard) -> None:
    assert trainyard("explain", "efa_interface_count").exit_code == 0
