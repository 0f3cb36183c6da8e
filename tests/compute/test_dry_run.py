"""The request of a dry run: the settings of the launch template, as far as they exist."""

from dataclasses import replace

import botocore.session
import pytest
from botocore.validate import validate_parameters

from tests.support.batch import p4d_plan
from tests.support.eks import PRIVATE, RESERVATION, p5, with_created_odcr, with_odcr
from tests.support.parallelcluster import p4de_plan
from tests.support.stack_files import plan_from
from trainyard.components.compute.dry_run import DryRun, plan_dry_run

P5 = "architecture.node_groups.p5"
IMAGE = "ami-0123456789abcdef0"


@pytest.fixture(scope="module")
def shape():
    """The model of RunInstances, as botocore sends it."""
    model = botocore.session.get_session().get_service_model("ec2")
    return model.operation_model("RunInstances").input_shape


@pytest.fixture
def request_of(facts):
    def _request(raw):
        planned = plan_from(raw)
        (launch,) = [each for each in planned.node_pools if each.key == P5]
        dry_run = plan_dry_run(launch, planned.network, facts)
        assert isinstance(dry_run, DryRun)
        return dry_run.request(IMAGE)

    return _request


def test_it_never_launches_anything(request_of):
    asked = request_of(p5(subnet_id=PRIVATE[1]))
    assert (asked["DryRun"], asked["MinCount"], asked["MaxCount"]) == (True, 1, 1)


def test_every_interface_of_the_plan_lies_in_the_subnet_of_the_nodes(request_of):
    """A1, A4."""
    interfaces = request_of(p5(subnet_id=PRIVATE[1]))["NetworkInterfaces"]
    assert len(interfaces) == 33
    assert {each["SubnetId"] for each in interfaces} == {PRIVATE[1]}


def test_a_block_is_asked_for_by_market_and_id(request_of):
    """D2."""
    asked = request_of(p5(subnet_id=PRIVATE[1]))
    assert asked["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    target = asked["CapacityReservationSpecification"]["CapacityReservationTarget"]
    assert target == {"CapacityReservationId": RESERVATION}


def test_a_group_that_exists_is_named(request_of):
    asked = request_of(with_odcr({"placement_group": "mine"}, subnet_id=PRIVATE[1]))
    assert asked["Placement"] == {"GroupName": "mine"}


def test_a_group_that_the_stack_makes_is_left_out(request_of):
    asked = request_of(p5(purchase_option="on-demand", subnet_id=PRIVATE[1]))
    assert "Placement" not in asked


def test_the_key_pair_is_named(request_of):
    assert request_of(p5(subnet_id=PRIVATE[1], ssh_key_name="me"))["KeyName"] == "me"


def test_a_reservation_that_is_not_created_yet_is_not_tried(facts):
    planned = plan_from(with_created_odcr())
    (launch,) = [each for each in planned.node_pools if each.key == P5]
    assert "creates its reservation" in str(plan_dry_run(launch, planned.network, facts))


def test_a_block_that_has_not_begun_is_not_tried(facts):
    """D8."""
    scheduled = replace(facts.reservations[RESERVATION], state="scheduled")
    planned = plan_from(p5(subnet_id=PRIVATE[1]))
    (launch,) = [each for each in planned.node_pools if each.key == P5]
    said = plan_dry_run(
        launch, planned.network, replace(facts, reservations={RESERVATION: scheduled})
    )
    assert f"EC2 rejects every launch into {RESERVATION}: it is scheduled" in str(said)


@pytest.mark.parametrize(
    "planned",
    [plan_from(p5(subnet_id=PRIVATE[1])), p4d_plan(), p4de_plan()],
    ids=["eks", "batch", "parallelcluster"],
)
def test_requests_of_every_architecture_are_ones_that_ec2_knows(shape, facts, planned):
    asked = [plan_dry_run(each, planned.network, facts) for each in planned.node_pools]
    requests = [each.request(IMAGE) for each in asked if isinstance(each, DryRun)]
    assert requests
    for request in requests:
        validate_parameters(request, shape)  # raises ParamValidationError
