"""Common parts of the Slurm jobs for Neuron devices.

Known issue of these clusters: a host name resolves to `<host>.<cluster>.pcluster`, and if that name
cannot be resolved, collectives fail with `Invalid NCCL_COMM_ID`. The scripts use IPv4 addresses,
which Slurm knows for every node, so that no name is resolved and /etc/hosts remains as
ParallelCluster writes it.

Source:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html
    https://github.com/aws/aws-parallelcluster, tests/integration-tests/tests/trainium: this test
        also takes the address from `NodeAddr`
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from trainyard.components.catalog.neuron import neuron_cores
from trainyard.jobs.slurm.nodes import SlurmNodes

NEURON_BIN = "/opt/aws/neuron/bin"
"""Installation directory of aws-neuronx-tools."""
ADDRESSES = "neuron/addresses.sh"
"""The template for the `addresses.sh` of both jobs."""

EFA_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}
)
"""Settings that Neuron's page on multi-node execution requires. With libfabric 1.18 and newer, the
second only makes a device without RDMA an error. `FI_EFA_FORK_SAFE` is for Amazon Linux 2, which
ParallelCluster no longer supports."""


def cores_of_a_node(nodes: SlurmNodes) -> int:
    """Return the number of NeuronCores per node; each gets one rank."""
    return neuron_cores(nodes.accelerators.model, nodes.accelerators.count)


def efa_environment(nodes: SlurmNodes) -> Mapping[str, str]:
    """Return libfabric's settings; empty for nodes without EFA."""
    return EFA_ENVIRONMENT if nodes.efa_interfaces else {}
