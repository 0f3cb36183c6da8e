import pytest

from tests.support.eks import P5_CB
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import location_in, model_at, path_of, place_at, value_at
from trainyard.components.config.reservations import CapacityBlock, Odcr


@pytest.mark.parametrize(
    ("location", "path"),
    [
        pytest.param(("network", "vpc_id"), "trainyard:cluster.network.vpc_id", id="keys"),
        pytest.param(("a", 0, "b"), "trainyard:cluster.a[0].b", id="list-entry"),
        pytest.param(("tags", "a.b"), 'trainyard:cluster.tags["a.b"]', id="key-with-a-dot"),
        pytest.param(
            ("reservations", "my-block"), "trainyard:cluster.reservations.my-block", id="-"
        ),
    ],
)
def test_paths_are_spelled_as_pulumi_reads_them(location, path):
    assert path_of(location) == path


def test_the_tag_of_a_union_is_no_key_of_the_file():
    loc = ("reservations", "block", "capacity-block", "reservation_id")
    assert location_in(P5_CB, loc) == ("reservations", "block", "reservation_id")


def test_the_model_of_a_union_is_chosen_by_kind():
    assert model_at(GivenStack, P5_CB, ("reservations", "block")) is CapacityBlock
    raw = {"reservations": {"block": {"kind": "odcr"}}}
    assert model_at(GivenStack, raw, ("reservations", "block")) is Odcr


def test_an_unknown_key_has_no_place():
    assert place_at(GivenStack, P5_CB, ("network", "nonsense")) is None


def test_a_field_knows_its_example():
    place = place_at(GivenStack, P5_CB, ("network", "public_subnet_ids"))
    assert place.example == "subnet-0123456789abcdef0"


def test_values_are_found_in_lists_and_mappings():
    assert value_at(P5_CB, ("network", "private_subnet_ids", 1)) == "subnet-000000000000000b2"
    assert value_at(P5_CB, ("network", "private_subnet_ids", 9)) is None
    assert value_at(P5_CB, ("name", "first")) is None
