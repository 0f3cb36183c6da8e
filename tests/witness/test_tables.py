"""The tables of facts: which calls have one, and how recordings become facts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.tracked import ROOT
from tests.witness.support.accepted import is_of_acceptance, new_tables
from tests.witness.support.calls import called
from tests.witness.support.recordings import Recording, facts
from tests.witness.support.tables import TABLES, read, tables
from trainyard.acceptance.answers import merged
from trainyard.acceptance.shapes import Fact, pattern_of, shape_of

MOST_BYTES = 600_000
PAGE = ROOT / "docs" / "acceptance.md"
SUBNETS = "ec2.DescribeSubnets"
GROUP = "eks.DescribeNodegroup"
SUBNET = "Subnets[].CidrBlock"


def not_witnessed() -> list[str]:
    """Return the calls in the list of the page: `ec2.DescribeVpcs`."""
    section = PAGE.read_text(encoding="utf-8").partition("## Not witnessed\n")[2]
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.+) \|$", section, re.MULTILINE)
    return [f"{service}.{name}" for service, names in rows for name in re.findall(r"\w+", names)]


def test_every_call_has_a_table_or_is_listed_as_not_witnessed() -> None:
    """The program that writes the tables: `python -m tests.witness.support.generate`."""
    listed = not_witnessed()
    assert sorted(called().keys() - tables().keys()) == sorted(listed)
    assert sorted(tables().keys() - called().keys()) == []
    blocks = [each for each in listed if "CapacityBlock" in each]
    assert listed[: len(blocks)] == blocks, "the calls around Capacity Blocks come first"


def test_tables_are_small_and_as_the_program_writes_them() -> None:
    assert sum(path.stat().st_size for path in TABLES.iterdir()) < MOST_BYTES
    for operation, table in tables().items():
        path = TABLES / f"{operation}.json"
        assert table.text() == path.read_text(encoding="utf-8")
        assert all(source["commit"] for source in table.sources)


def recording(operation: str, answer: dict[str, Any], year: int = 2020, file: str = "a") -> Any:
    return Recording(operation, answer, 200, file, year)


def of(operation: str, *answers: dict[str, Any]) -> Any:
    return facts([recording(operation, each) for each in answers], shape_of(operation))


def test_a_key_has_the_share_of_the_objects_with_it() -> None:
    found = of(SUBNETS, {"Subnets": [{"CidrBlock": "10.0.0.0/24"}, {"SubnetId": "subnet-1"}]})
    fact = found[""][SUBNET]
    assert (fact.have, fact.of, fact.always) == (1, 2, False)
    assert fact.patterns == {"network"}


def test_states_are_apart() -> None:
    creating = {"nodegroup": {"status": "CREATING", "nodegroupName": "n"}}
    active = {"nodegroup": {"status": "ACTIVE", "resources": {"autoScalingGroups": []}}}
    found = of(GROUP, creating, active)
    assert found["ACTIVE"]["nodegroup.resources"].always
    assert "nodegroup.resources" not in found["CREATING"]


def test_a_key_that_came_later_is_there_since_a_year() -> None:
    with_key, without = {"Subnets": [{"CidrBlock": "10.0.0.0/24"}]}, {"Subnets": [{"VpcId": "v"}]}
    old = [recording(SUBNETS, without, 2016)]
    new = [recording(SUBNETS, with_key, 2020, str(number)) for number in range(5)]
    fact = facts([*old, *new], shape_of(SUBNETS))[""][SUBNET]
    assert (fact.since, fact.always) == (2017, True)
    late = [*old, *new, recording(SUBNETS, without, 2020)]
    assert not facts(late, shape_of(SUBNETS))[""][SUBNET].always


def test_no_value_gets_into_a_table(tmp_path: Path) -> None:
    answer = {"Subnets": [{"SubnetId": "subnet-0123abcd", "VpcId": "secret", "State": "available"}]}
    (found,) = (states for state, states in of(SUBNETS, answer).items() if state)
    written = {path: fact.as_json() for path, fact in found.items()}
    assert "secret" not in str(written)
    assert "0123abcd" not in str(written)
    assert found["Subnets[].State"].values == {"available"}


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        ("arn:aws:ec2:us-west-2:123456789012:subnet/subnet-1", "arn ec2 subnet"),
        ("arn:aws-cn:sns:cn-north-1:123456789012:topic", "arn sns"),
        ("subnet-0123456789abcdef0", "id subnet"),
        ("subnet-cidr-assoc-0123456789abcdef0", "id subnet-cidr-assoc"),
        ("2026-11-28T00:00:00Z", "time"),
        ("123456789012", "account"),
        ("10.0.0.0/16", "network"),
        ("us-west-2b", "zone"),
        ("", "empty"),
        ("{'vol-1'}", "text"),
    ],
)
def test_patterns(value: str, pattern: str) -> None:
    assert pattern_of(value) == pattern


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    table = tables()[GROUP]
    (tmp_path / "t.json").write_text(table.text(), encoding="utf-8")
    assert read(tmp_path / "t.json") == table


def test_an_acceptance_on_aws_becomes_the_tables_of_what_nobody_recorded(tmp_path: Path) -> None:
    """Neither does an emulator witness anything, nor replace examples recordings."""
    offerings, jobs = "ec2.DescribeCapacityBlockOfferings", "batch.ListJobs"
    vpcs, other = "ec2.DescribeVpcs", "ec2.DescribeFleets"
    assert (tables()[jobs].evidence, tables()[vpcs].evidence) == ("examples", "recordings")
    answers = tmp_path / "answers"
    answers.mkdir()
    seen = [["", "", 2, {"NextToken": {"have": 1, "types": ["string"], "patterns": {"text": 1}}}]]
    seen[0][3]["NextToken"]["values"] = []
    rows = [(name, True) for name in (offerings, jobs, vpcs, other)]
    lines = [
        json.dumps({"operation": name, "aws": aws, "year": 2026, "seen": seen})
        for name, aws in [*rows, ("batch.TerminateJob", False)]
    ]
    (answers / "1.jsonl").write_text("\n".join(lines), encoding="utf-8")
    shapes = tmp_path / "shapes.json"
    shapes.write_text(merged(answers, sandbox=False, commit="c"), encoding="utf-8")
    new = list(new_tables(shapes, TABLES))
    assert [table.operation for table in new] == [jobs, offerings]
    for table in new:
        (tmp_path / "t.json").write_text(table.text(), encoding="utf-8")
        assert read(tmp_path / "t.json") == table
        assert is_of_acceptance(table)
        assert table.states[""]["NextToken"] == Fact(1, 2, {"string"}, {"text"})
    shapes.write_text(merged(answers, sandbox=True, commit="c"), encoding="utf-8")
    assert list(new_tables(shapes, TABLES)) == []
