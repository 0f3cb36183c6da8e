"""The vCPU quotas of running nodes."""

import pytest

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.quotas import vcpu_quota


@pytest.mark.parametrize(
    ("family", "market", "code"),
    [
        ("p5", "on-demand", "L-417A185B"),
        ("p6-b200", "on-demand", "L-417A185B"),
        ("p4de", "spot", "L-7212CCBC"),
        ("p5en", "spot", "L-C4BD4855"),
        ("g6e", "on-demand", "L-DB2E81BA"),
        ("g5", "spot", "L-3819A6DF"),
        ("trn1n", "on-demand", "L-2C3B7624"),
        ("trn2", "spot", "L-6B0D517C"),
        ("c5", "on-demand", "L-1216C47A"),
        ("m7i", "spot", "L-34B43A08"),
        ("gr6", "on-demand", "L-DB2E81BA"),
        ("im4gn", "on-demand", "L-1216C47A"),
        ("x2idn", "spot", "L-E3A00192"),
        ("u7i-12tb", "on-demand", "L-43DA4232"),
        ("hpc7g", "on-demand", "L-F7808C92"),
    ],
)
def test_a_family_counts_against_the_quota_of_its_letters_and_market(family, market, code):
    """E18."""
    found = vcpu_quota(family, market)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize(("family", "market"), [("p6-b200", "spot"), ("hpc7g", "spot")])
def test_a_family_that_the_pages_name_no_quota_for_has_none(family, market):
    assert vcpu_quota(family, market) is None


def test_every_type_of_the_catalog_has_an_on_demand_quota():
    families = {each.family for each in INSTANCE_TYPES.values()}
    assert [family for family in families if vcpu_quota(family, "on-demand") is None] == []
