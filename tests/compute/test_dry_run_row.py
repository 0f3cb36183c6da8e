"""EC2's answers to a dry run, translated."""

import pytest

from tests.support.eks import PRIVATE, p5
from trainyard.components.compute.dry_run import DryRun, DryRunAnswer, dry_run_row

P5 = "architecture.node_groups.p5"
ZONES = (
    "Your requested instance type (p5.48xlarge) is not supported in your requested Availability "
    "Zone (us-west-2a). Please retry your request by not specifying an Availability Zone or "
    "choosing us-west-2b, us-west-2c."
)


@pytest.fixture
def row(launched):
    def _row(code, message="as AWS says it"):
        launch = launched(p5(subnet_id=PRIVATE[1]))[P5]
        dry_run = DryRun(launch=launch, subnet_id=PRIVATE[1])
        return dry_run_row(dry_run, "ami-1", DryRunAnswer(code, message))

    return _row


def test_the_error_that_means_yes_passes(row):
    found = row("DryRunOperation")
    assert (found.subject, found.verdict) == (P5, "ok")


@pytest.mark.parametrize(
    "code",
    [
        "InsufficientInstanceCapacity",
        "ReservationCapacityExceeded",
        "InsufficientFreeAddressesInSubnet",
        "InstanceLimitExceeded",
        "VcpuLimitExceeded",
        "MaxSpotInstanceCountExceeded",
    ],
)
def test_what_nodes_of_the_stack_itself_may_cause_is_a_warning(row, code):
    """E14."""
    found = row(code)
    assert (found.verdict, code in found.found) == ("warning", True)


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AccessDenied"])
def test_a_caller_who_may_launch_nothing_is_told_so(row, code):
    """E14."""
    found = row(code, "You are not authorized, encoded message: …")
    assert (found.verdict, found.found) == ("skipped", f"ec2:RunInstances: {code}")


def test_an_answer_that_says_nothing_of_the_launch_is_skipped(row):
    assert row("RequestLimitExceeded").verdict == "skipped"


def test_a_zone_without_the_type_is_refused_with_the_zones_that_have_it(row):
    """E14, E1."""
    found = row("Unsupported", ZONES)
    assert found.verdict == "refused"
    assert "choosing us-west-2b, us-west-2c" in str(found.problem.found)
    assert "zones" in found.problem.remedy


@pytest.mark.parametrize(
    ("code", "key"),
    [
        ("InvalidParameterCombination", "instance_type"),
        ("InvalidCapacityReservationState", "purchase_option"),
        ("OptInRequired", "instance_type"),
        ("AnythingElse", "instance_type"),
    ],
)
def test_everything_else_is_refused_in_the_words_of_aws(row, code, key):
    """E14."""
    problem = row(code).problem
    assert problem.path == f"trainyard:cluster.{P5}.{key}"
    assert problem.found == f"{code}: as AWS says it"
