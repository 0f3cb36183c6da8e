"""Settings of NCCL's tests, for every scheduler."""

import pytest

from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.catalog.nccl import build_commands, largest_message, nccl_environment


@pytest.mark.parametrize(
    ("efa_interfaces", "settings"),
    [
        pytest.param(0, {"NCCL_NET": "Socket"}, id="no-efa"),
        pytest.param(1, {"NCCL_NET": "AWS Libfabric"}, id="one-efa"),
        pytest.param(
            32,
            {
                "NCCL_NET": "AWS Libfabric",
                "NCCL_BUFFSIZE": "8388608",
                "NCCL_P2P_NET_CHUNKSIZE": "524288",
            },
            id="many-efa",
        ),
    ],
)
def test_nccl_is_told_its_network(efa_interfaces, settings):
    """BAT5-10, A23, A24: settings that the libraries choose themselves are not set."""
    assert nccl_environment(efa_interfaces) == {"NCCL_DEBUG": "INFO", **settings}


@pytest.mark.parametrize(("type_name", "largest"), [("g4dn.8xlarge", "2G"), ("p5.48xlarge", "16G")])
def test_three_of_the_largest_buffers_fit_into_a_gpu(type_name, largest):
    accelerators = instance_type(type_name).accelerators
    assert largest_message(accelerators) == largest
    assert 3 * int(largest[:-1]) * 1024 < accelerators.memory_mib


def test_only_kernels_that_the_image_lacks_are_built():
    assert "compute_75,code=sm_75" in build_commands(instance_type("g4dn.8xlarge").accelerators)
    assert "@" not in build_commands(instance_type("g4dn.8xlarge").accelerators)
    assert build_commands(instance_type("p5.48xlarge").accelerators) == ""
