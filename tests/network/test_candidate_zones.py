"""Messages about zones in which nodes that need a single zone can launch."""

from tests.support.parallelcluster import EXISTING_VPC
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.network import NewVpc
from trainyard.components.network.pool_place import candidate_zones

TRN1 = instance_type("trn1.32xlarge")


def test_an_existing_vpc_offers_its_subnets():
    found = candidate_zones(TRN1, EXISTING_VPC, {}, subnet_key="subnet_ids")
    assert found == "one zone, or one of `network.private_subnet_ids` as `subnet_ids`"


def test_zone_ids_are_compared_with_the_catalog():
    network = NewVpc(kind="new-vpc", availability_zones=("use1-az1", "use1-az4"))
    assert candidate_zones(TRN1, network, {}) == "one zone: use1-az4"


def test_what_the_account_says_comes_first():
    network = NewVpc(kind="new-vpc", availability_zones=("us-west-2a", "us-west-2b"))
    offered = {TRN1.name: ("us-west-2b",)}
    assert candidate_zones(TRN1, network, offered) == "one zone: us-west-2b"
    nowhere = candidate_zones(TRN1, network, {TRN1.name: ()})
    assert nowhere == "one zone: none of the VPC offers trn1.32xlarge"
