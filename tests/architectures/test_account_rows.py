"""Rows of the program's own checks: passed, refused, or unknown."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.support.eks import PRIVATE
from tests.support.eks_account import NOW
from trainyard.components.account.check import Check
from trainyard.components.architectures.preflight import account_rows
from trainyard.components.architectures.prepare import examine
from trainyard.components.config.problems import Problem
from trainyard.components.eks.account import IMAGES_OF_PODS
from trainyard.components.parallelcluster.mounted_storage_check import MOUNTED_STORAGE


@pytest.fixture
def rows(configure):
    def _rows(facts, **changes):
        found = examine(
            configure(**changes),
            facts,
            stack_file="Pulumi.p5-cb.yaml",
            region="us-west-2",
            now=NOW,
        )
        return list(account_rows(facts, found.checks))

    return _rows


def of(rows, subject):
    return [row for row in rows if row.subject == subject]


def test_every_check_of_an_account_that_fits_has_a_row_that_passes(rows, facts):
    found = rows(facts)
    assert Counter(row.verdict for row in found) == {"ok": len(found)}
    assert {"network.vpc_id", "reservations.block", "architecture.node_groups.p5"} <= {
        row.subject for row in found
    }


def test_what_was_found_of_a_reservation_is_told(rows, facts):
    (row,) = of(rows(facts), "reservations.block")
    assert "Capacity Block, active, 2 p5.48xlarge in us-west-2b, Linux/UNIX" in row.found


def test_a_problem_takes_the_place_of_the_row_that_would_pass(rows, facts):
    row, *_ = of(rows(replace(facts, vpc=None)), "network.vpc_id")
    assert (row.verdict, row.problem.path) == ("refused", "trainyard:cluster.network.vpc_id")


def test_a_problem_of_one_subnet_stands_in_the_row_of_its_kind(rows, facts):
    found = rows(
        replace(facts, subnets={i: s for i, s in facts.subnets.items() if i != PRIVATE[0]})
    )
    assert not of(found, "network.private_subnet_ids")
    (row,) = of(found, "network.private_subnet_ids[0]")
    assert row.asked == "are private subnets of the VPC"


def test_what_could_not_be_read_is_skipped_with_the_reason(rows, facts):
    reason = "ec2:DescribeCapacityReservations: UnauthorizedOperation"
    denied = replace(facts, reservations={}, unreadable=(reason,))
    (row,) = of(rows(denied), "reservations.block")
    assert (row.verdict, row.found) == ("skipped", reason)


@pytest.mark.parametrize(
    ("subject", "call"),
    [
        (MOUNTED_STORAGE, "elasticfilesystem:DescribeMountTargets"),
        (MOUNTED_STORAGE, "ec2:DescribeSecurityGroupRules"),
        (IMAGES_OF_PODS, "ec2:DescribeRouteTables"),
    ],
)
def test_a_check_that_lacked_an_answer_is_not_called_passed(facts, subject, call):
    denied = replace(facts, unreadable=(f"{call}: AccessDenied",))
    (row,) = account_rows(denied, [Check("any", [], [subject])])
    assert (row.verdict, row.found) == ("skipped", f"{call}: AccessDenied")


def test_a_problem_that_no_subject_covers_has_a_row_of_its_own(facts):
    problem = Problem(path="trainyard:cluster.tags", problem="is wrong", remedy="mend it")
    (row,) = account_rows(facts, [Check("tags", [problem])])
    assert (row.subject, row.verdict) == ("tags", "refused")
