"""What the emulated account answers conforms to what is known about the answers of AWS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.witness.support.emulated import Answers, emulated_answers  # before boto3 makes a client

from tests.witness.support.conformance import differences  # isort: skip
from tests.witness.support.tables import HERE, tables  # isort: skip
from trainyard.acceptance.shapes import Table  # isort: skip

LIST = HERE / "differences.tsv"
Difference = tuple[str, str, str, str]
SHAPES = {
    "eks.CreateCluster": "eks.DescribeCluster",
    "eks.CreateNodegroup": "eks.DescribeNodegroup",
}
"""Operations with the answers of another one, about an object in its first state."""
FEWEST_OPERATIONS = 70
"""Operations whose answers are compared."""


@pytest.fixture(scope="module")
def answers() -> Answers:
    """The answers of the emulated account."""
    return emulated_answers()


def compared(answers: Answers) -> Iterator[tuple[Table, list[Any]]]:
    for operation, given in answers.items():
        table = tables().get(SHAPES.get(operation, operation))
        if table is not None:
            yield table, given


def listed() -> list[Difference]:
    """Return the known differences: operation, what differs, state and path, then the reason."""
    rows = (line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines())
    return [(row[0], row[1], row[2], row[3]) for row in rows if row[4]]


def test_answers_have_the_keys_types_and_patterns_of_real_ones(answers: Answers) -> None:
    found = {each for table, given in compared(answers) for each in differences(table, given)}
    known = listed()
    assert sorted(found - set(known)) == [], "cure them in sandbox/"
    assert sorted(set(known) - found) == [], f"remove these lines from {LIST.name}"
    assert known == sorted(known)


def test_most_operations_are_compared(answers: Answers) -> None:
    assert len(list(compared(answers))) >= FEWEST_OPERATIONS


def test_a_key_that_all_recordings_have_must_be_there() -> None:
    table = tables()["ec2.DescribeSecurityGroups"]
    pair = {"GroupId": "sg-0123456789abcdef0"}
    answer = {"SecurityGroups": [{"IpPermissions": [{"UserIdGroupPairs": [pair]}]}]}
    path = "SecurityGroups[].IpPermissions[].UserIdGroupPairs[].UserId"
    assert (table.operation, "missing", "", path) in differences(table, [answer])


def test_a_key_that_no_recording_has_must_not_be_there() -> None:
    table = tables()["efs.DescribeFileSystems"]
    answer = {"FileSystems": [{"LifeCycleState": "available", "ProvisionedThroughputInMibps": 0.0}]}
    path = "FileSystems[].ProvisionedThroughputInMibps"
    assert (table.operation, "never", "available", path) in differences(table, [answer])


def test_a_value_must_look_like_the_recorded_ones() -> None:
    table = tables()["efs.DescribeFileSystems"]
    answer = {"FileSystems": [{"LifeCycleState": "available", "KmsKeyId": "{'a', 'b'}"}]}
    found = differences(table, [answer])
    assert (table.operation, "pattern", "available", "FileSystems[].KmsKeyId") in found


def test_the_first_state_of_an_object_has_its_own_keys() -> None:
    """EKS knows the resources of a node group only when it has made them."""
    table = tables()["eks.DescribeNodegroup"]
    creating = {"nodegroup": {"status": "CREATING", "resources": {}}}
    active = {"nodegroup": {"status": "ACTIVE"}}
    path = "nodegroup.resources"
    assert (table.operation, "never", "CREATING", path) in differences(table, [creating])
    assert (table.operation, "missing", "ACTIVE", path) in differences(table, [active])
