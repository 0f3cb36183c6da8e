"""An all-reduce over every NeuronCore of a group, and over pairs of its nodes."""

from __future__ import annotations

from trainyard.components.catalog.neuron import (
    NCCOM_TEST_IMAGE,
    NEURON_SCHEDULER_NAME,
    neuron_cores,
)
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.mpi import MpiJob, render_mpi_job
from trainyard.jobs.names import NCCOM_PAIRS
from trainyard.jobs.node_job import PART_MINUTES, pair_tests, require_pairs
from trainyard.jobs.node_versions import NODE_FIELDS, REPORT_NODES
from trainyard.jobs.nodes import JobError, JobNodes, JobRequest, choose_nodes

# `nccom-tests`: an all-reduce over every NeuronCore of every node of a group.
#
# Source:
#     https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
#     https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html
#     https://github.com/aws/aws-k8s-tester, test/cases/neuron/manifests/multi-node-test-neuron.yaml


ROOT_PORT = 63182
"""A free port on the first pod for the rendezvous of the ranks."""
ADDRESSES = """\
addresses=()
for host in "${hosts[@]}"; do
  addresses+=("$(getent hosts "$host" | awk '{print $1; exit}')")
done
"""
"""Bash commands that put the addresses of `hosts` into an array."""
_ENVIRONMENT = {
    # The Neuron runtime uses the pod's own interface for the rendezvous.
    "CCOM_SOCKET_IFNAME": "eth0",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def render_nccom_tests(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest of the job on a node group with Neuron devices.

    Raises:
        JobError: the stack has no such nodes, or too few; or several without EFA.
    """
    nodes = choose_neuron_nodes(plan, request)
    job = nccom_job("nccom-tests", plan, nodes, _command(nodes))
    return render_mpi_job(job, nodes, request.namespace)


def choose_neuron_nodes(plan: EksPlan, request: JobRequest) -> JobNodes:
    """Return the nodes with Neuron devices.

    Raises:
        JobError: the stack has no such nodes, or too few; or several without EFA.
    """
    chosen = choose_nodes(plan, "neuron", request)
    if chosen.count > 1 and not chosen.efa_interfaces:
        raise JobError(
            f"node group {chosen.group.name} has no EFA, and Neuron devices of several nodes "
            "communicate over EFA only; set `efa_enabled: true` on a type that has it, or ask for "
            "one node with --nodes 1"
        )
    return chosen


def nccom_job(name: str, plan: EksPlan, nodes: JobNodes, command: str) -> MpiJob:
    """Return a job that runs commands with nccom-test.

    Args:
        name: Name of the job.
        plan: Plan of the stack.
        nodes: Its nodes.
        command: Commands of the first pod.
    """
    # FI_EFA_USE_DEVICE_RDMA is omitted as for NCCL (A23); FI_EFA_FORK_SAFE is for Amazon Linux 2.
    network = {"FI_PROVIDER": "efa"} if nodes.efa_interfaces else {}
    environment = {**_ENVIRONMENT, **network}
    return MpiJob(
        job=name,
        image=NCCOM_TEST_IMAGE,
        command=REPORT_NODES + command,
        environment=environment,
        pod_fields=NODE_FIELDS,
        session_environment=["PATH", "LD_LIBRARY_PATH", *environment, *NODE_FIELDS],
        scheduler=NEURON_SCHEDULER_NAME if "neuron-scheduler" in plan.self_managed_addons else None,
    )


def _command(nodes: JobNodes) -> str:
    ranks = nodes.count * neuron_cores(nodes.accelerators.model, nodes.accelerators.count)
    sizes = "-b 8 -e 2GB -f 2 -n 5 -w 5 -d fp32 --check --non-interactive"
    if nodes.count == 1:
        return f"nccom-test -r {ranks} {sizes} allr\n"
    return f"""\
{ADDRESSES}\
export NEURON_RT_ROOT_COMM_ID="${{addresses[0]}}:{ROOT_PORT}"
nccom-test -r {ranks} -N {nodes.count} {sizes} allr --hosts "${{addresses[@]}}"
"""


# `nccom-pairs`: an all-reduce over pairs of nodes with Neuron devices, to find a bad node.
#
# The pairs are those of `trainyard.jobs.node_job`. All tests are started on the first node, which
# the guide of nccom-test allows for hosts that it reaches, also if it is none of them.
#
# Source:
#     https://github.com/aws-neuron/aws-neuron-sdk, tools/neuron-sys-tools/nccom-test.rst: MPI
#         execution (`--hosts`, the address in NEURON_RT_ROOT_COMM_ID), `--data-collector-host` and
#         `--data-collector-port`


_COLLECTOR_PORT = 60006
"""The default port at which a test collects the latencies of its nodes; pairs run at the same time
and need one each."""


def render_nccom_pairs(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest of the job on a node group with Neuron devices.

    Raises:
        JobError: the stack has no such nodes, too few, or no EFA.
    """
    nodes = choose_neuron_nodes(plan, request)
    require_pairs(NCCOM_PAIRS, nodes.count)
    cores = neuron_cores(nodes.accelerators.model, nodes.accelerators.count)
    command = f"{ADDRESSES}{nccom_pair_tests(cores)}"
    return render_mpi_job(nccom_job(NCCOM_PAIRS, plan, nodes, command), nodes, request.namespace)


def nccom_pair_tests(cores: int) -> str:
    """Return Bash commands that test all pairs of the hosts in `hosts`.

    Their addresses are in the array `addresses`, in the same order; the first one is this node.

    Args:
        cores: Number of NeuronCores of a node; each gets one rank.
    """
    # Only messages that use the whole bandwidth.
    test = f"""\
  local one=${{address[$1]}} two=${{address[$2]}}
  NEURON_RT_ROOT_COMM_ID=$one:{ROOT_PORT} timeout {PART_MINUTES}m \\
    nccom-test allr -r {2 * cores} -N 2 -b 1GB -e 2GB -f 2 -n 5 -w 5 -d fp32 --check \\
    --non-interactive --data-collector-host "${{addresses[0]}}" \
    --data-collector-port "$(({_COLLECTOR_PORT} + $3))" --hosts "$one" "$two"
"""
    return f"""\
declare -A address
for index in "${{!hosts[@]}}"; do address[${{hosts[index]}}]=${{addresses[index]}}; done
{pair_tests(test)}"""
