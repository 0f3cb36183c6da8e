"""What the Slurm jobs for Neuron devices have in common.

Known issue of these clusters: a host name resolves to `<host>.<cluster>.pcluster`, and where that
name cannot be resolved collectives end with `Invalid NCCL_COMM_ID`. The scripts hand out IPv4
addresses, which Slurm knows of every node, so that no name is resolved and /etc/hosts stays as
ParallelCluster writes it.

Source:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html
    https://github.com/aws/aws-parallelcluster, tests/integration-tests/tests/trainium: its own
    test takes the address from `NodeAddr` too
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.catalog.neuron import neuron_cores
from tools.jobs.slurm.nodes import SlurmNodes

NEURON_BIN = "/opt/aws/neuron/bin"
"""Where aws-neuronx-tools lies."""
ADDRESSES = "neuron/addresses.sh"
"""The template that both jobs hold as `addresses.sh`."""

EFA_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {"FI_PROVIDER": "efa", "FI_EFA_USE_DEVICE_RDMA": "1"}
)
"""What Neuron's page on several nodes asks for. With libfabric 1.18 and newer the second says no
more than that a device without RDMA is an error. `FI_EFA_FORK_SAFE` is for Amazon Linux 2, which
ParallelCluster has left behind."""


def cores_of_a_node(nodes: SlurmNodes) -> int:
    """Return how many NeuronCores a node has; each gets one rank."""
    return neuron_cores(nodes.accelerators.model, nodes.accelerators.count)


def efa_environment(nodes: SlurmNodes) -> Mapping[str, str]:
    """Return libfabric's settings; none where the nodes have no EFA."""
    return EFA_ENVIRONMENT if nodes.efa_interfaces else {}
