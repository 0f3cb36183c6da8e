"""`nccom-tests`: an all-reduce over every NeuronCore of every node of a group.

Source:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/setup-trn1-multi-node-execution.html
    https://github.com/aws/aws-k8s-tester, test/cases/neuron/manifests/multi-node-test-neuron.yaml
"""

from __future__ import annotations

from trainyard.components.catalog.neuron import (
    NCCOM_TEST_IMAGE,
    NEURON_SCHEDULER_NAME,
    neuron_cores,
)
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.mpi import MpiJob, render_mpi_job
from trainyard.jobs.node_versions import NODE_FIELDS, REPORT_NODES
from trainyard.jobs.nodes import JobError, JobNodes, JobRequest, choose_nodes

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


def render_nccom_tests(plan: EksPlan, request: JobRequest) -> str:
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
