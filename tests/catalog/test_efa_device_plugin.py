import pytest

from trainyard.components.catalog.efa import (
    EFA_DEVICE_PLUGIN_CHART_VERSION,
    EFA_PLUGIN_INSTANCE_TYPES,
    chart_version_with,
    efa_device_plugin_image,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES


def test_every_type_is_listed_once():
    assert len(set(EFA_PLUGIN_INSTANCE_TYPES)) == len(EFA_PLUGIN_INSTANCE_TYPES) > 300


def test_every_type_of_the_catalog_with_accelerators_and_efa_is_supported():
    """A19."""
    with_efa = {t.name for t in INSTANCE_TYPES.values() if t.efa_supported and t.accelerators}
    assert with_efa <= set(EFA_PLUGIN_INSTANCE_TYPES)


@pytest.mark.parametrize(
    ("region", "registry"),
    [
        pytest.param("us-west-2", "602401143452.dkr.ecr.us-west-2.amazonaws.com", id="most"),
        pytest.param("me-south-1", "558608220178.dkr.ecr.me-south-1.amazonaws.com", id="own"),
        pytest.param("cn-north-1", "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn", id="china"),
    ],
)
def test_the_image_comes_from_the_regions_registry(region, registry):
    image = efa_device_plugin_image(region)
    assert image == f"{registry}/eks/aws-efa-k8s-device-plugin:v0.5.21-eksbuild.9"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("p5e.48xlarge", (0, 5, 5)),
        ("g6e.48xlarge", (0, 5, 5)),
        ("p6-b200.48xlarge", (0, 5, 9)),
        ("g7e.8xlarge", (0, 5, 23)),
        ("g7.8xlarge", (0, 5, 30)),
        ("p5.48xlarge", None),
    ],
)
def test_the_first_chart_that_lists_a_type(name, version):
    """A19: from the history of the chart; its first version has p5.48xlarge."""
    assert chart_version_with(name) == version


def test_no_type_was_added_after_the_chart_that_is_pinned():
    pinned = tuple(map(int, EFA_DEVICE_PLUGIN_CHART_VERSION.lstrip("v").split(".")))
    added = {name: chart_version_with(name) for name in EFA_PLUGIN_INSTANCE_TYPES}
    assert not [name for name, version in added.items() if version and version > pinned]
