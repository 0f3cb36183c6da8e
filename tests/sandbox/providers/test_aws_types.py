"""The life of every type of the AWS provider in the emulated account.

`tests/faults/test_found_again.py` proves that an interrupted create is found again, and read by the
id that was found.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.aws_cases import Case, batch_cases, cases
from tests.support.aws_service_cases import monitoring_cases, network_cases, storage_cases
from tests.support.provider_plugin import Made, Plugin, RefusedError
from tests.support.sandbox_aws import Account
from trainyard.workspace.recovery.table import LOOKUPS

STACK = "aws:cloudformation/stack:Stack"
"""Needs CloudFormation next to the account: `test_cloudformation_stack.py`."""
ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"
"""For a missing share, the provider looks for an invitation for two minutes."""
DASHBOARD = "aws:cloudwatch/dashboard:Dashboard"
"""The provider does not ignore that a dashboard is gone when it deletes it.

https://github.com/hashicorp/terraform-provider-aws, `internal/service/cloudwatch/dashboard.go`
"""
TOPIC_POLICY = "aws:sns/topicPolicy:TopicPolicy"
"""Its deletion gives the topic its default policy, which a refresh reads."""
TOKENS = sorted({token for token in LOOKUPS if token.startswith("aws:")} - {STACK})


@pytest.fixture(scope="module")
def prepared(_account: Account) -> dict[str, Case]:
    """The cases by type, with their prerequisites in the account; each leaves it unchanged."""
    _account.server.reset()
    of_services = (cases, network_cases, storage_cases, batch_cases, monitoring_cases)
    made = [case for of_service in of_services for case in of_service(_account)]
    return {each.token: each for each in made}


@pytest.mark.parametrize("token", TOKENS)
def test_a_resource_lives_from_up_to_destroy(
    aws_provider: Plugin, prepared: dict[str, Case], token: str
) -> None:
    """Create, refresh, import, change in place or replace, and delete each type."""
    aws, case = aws_provider, prepared[token]
    made = aws.create(case.token, case.inputs)
    assert aws.diff(case.token, made, case.inputs) == ([], [])
    refreshed(aws, case, made, case.inputs)
    imported(aws, case, made)
    _, replaces = aws.diff(case.token, made, {**case.inputs, **case.replacing})
    assert replaces == sorted(case.replacing)
    if case.change is not None:
        made = changed(aws, case, made, case.change)
    aws.delete(case.token, made)
    if case.token not in (ACCEPTER, TOPIC_POLICY):
        gone(aws, case, made)
    if case.token != DASHBOARD:
        aws.delete(case.token, made)  # a second deletion is no error


def refreshed(aws: Plugin, case: Case, made: Made, inputs: dict[str, Any]) -> None:
    """Neither a refresh nor the next `up` finds a change."""
    found = aws.read(case.token, made)
    assert found is not None
    assert legible(found.outputs) == legible(made.outputs)
    assert aws.diff(case.token, found, inputs) == ([], [])


def imported(aws: Plugin, case: Case, made: Made) -> None:
    """`pulumi import` reads the program's inputs."""
    identifier = case.imported_as.format(id=made.identifier, **case.inputs)
    found = aws.read(case.token, Made(identifier, {}, {}))
    assert found is not None
    assert found.identifier == made.identifier
    assert found.outputs["arn" if "arn" in made.outputs else next(iter(case.inputs))]


def changed(aws: Plugin, case: Case, made: Made, change: dict[str, Any]) -> Made:
    """Change a resource in place; nothing else changes, and the next `up` changes nothing."""
    news = {**case.inputs, **change}
    differences, replaces = aws.diff(case.token, made, news)
    assert {*differences} - {"tagsAll"} == change.keys() | case.follows
    assert replaces == []
    made = aws.update(case.token, made, news)
    assert holds(legible(made.outputs), legible(change))
    assert aws.diff(case.token, made, news) == ([], [])
    refreshed(aws, case, made, news)
    return made


def gone(aws: Plugin, case: Case, made: Made) -> None:
    """A refresh finds that the resource does not exist."""
    if case.has_identity:
        with pytest.raises(RefusedError, match="Missing Resource Identity After Read"):
            aws.read(case.token, made)
    else:
        assert aws.read(case.token, made) is None


def holds(found: Any, wanted: Any) -> bool:
    """Return whether outputs have the wanted values; the provider may add properties."""
    if isinstance(wanted, dict):
        return all(key in found and holds(found[key], wanted[key]) for key in wanted)
    return found == wanted


def legible(value: Any) -> Any:
    """Return outputs without empty values and the bridge's data, and with parsed documents."""
    if isinstance(value, dict):
        cleaned = {key: legible(inner) for key, inner in value.items() if not key.startswith("__")}
        return {key: inner for key, inner in cleaned.items() if inner not in (None, {}, [], "")}
    if isinstance(value, list):
        return [legible(inner) for inner in value]
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value
