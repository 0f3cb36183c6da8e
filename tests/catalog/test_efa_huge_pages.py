"""Huge pages of nodes with EFA, as `kubectl describe node` shows them."""

import pytest

from trainyard.components.catalog.efa import huge_pages_of_pod_mib, reserved_huge_pages
from trainyard.components.catalog.instance_types import instance_type


@pytest.mark.parametrize(
    ("name", "shown_mib"), [("p4de.24xlarge", 21122), ("p5.48xlarge", 42242), ("g5.8xlarge", 7042)]
)
def test_a_node_sets_pages_aside_for_every_cpu(name, shown_mib):
    """A18."""
    assert 2 * reserved_huge_pages(instance_type(name).vcpus) == shown_mib


@pytest.mark.parametrize(
    ("name", "asked_mib"),
    [
        pytest.param("p5.48xlarge", 5120, id="as-recommended"),
        pytest.param("g4dn.8xlarge", 5120, id="still-enough"),
        pytest.param("p5.4xlarge", 3522, id="all-there-is"),
    ],
)
def test_a_pod_asks_for_no_more_than_its_node_has(name, asked_mib):
    """A18."""
    assert huge_pages_of_pod_mib(instance_type(name).vcpus) == asked_mib
