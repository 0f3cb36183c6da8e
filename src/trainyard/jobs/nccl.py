"""NCCL's all-reduce over every GPU of a group, and over pairs of its nodes."""

from __future__ import annotations

from trainyard.components.catalog.nccl import (
    all_reduce_command,
    build_commands,
    largest_message,
    nccl_environment,
)
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.mpi import MpiJob, render_mpi_job
from trainyard.jobs.names import NCCL_PAIRS
from trainyard.jobs.node_job import (
    PART_MINUTES,
    alone_tests,
    pair_tests,
    part_options,
    require_pairs,
)
from trainyard.jobs.node_versions import NODE_FIELDS, REPORT_NODES
from trainyard.jobs.nodes import JobNodes, JobRequest, choose_nodes

# `nccl-tests`: NCCL's all-reduce over every GPU of every node of a group.
#
# The results show whether the nodes communicate over EFA at the speed of their instance type: the
# log names the network (`NET/AWS Libfabric`), and the last column shows the bus bandwidth. Before,
# each node with several GPUs runs it alone, which shows its NVLink.
#
# Source:
#     https://github.com/NVIDIA/nccl-tests
#     https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md
#     https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests, whose
#     Dockerfile
#         the image is built from


def render_nccl_tests(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_nodes(plan, "nvidia", request)
    gpus = nodes.accelerators.count
    command = all_reduce(
        nodes,
        ranks=nodes.count * gpus,
        hosts=f'"$(IFS=,; echo "${{hosts[*]/%/:{gpus}}}")"',
        test=f"-b 8 -e {largest_message(nodes.accelerators)} -f 2 -g 1 -c 1 -n 100",
    )
    if nodes.count > 1 and gpus > 1:
        alone = all_reduce(
            nodes, ranks=gpus, hosts=f'"$1:{gpus}"', test=part_options(nodes.accelerators)
        )
        command = alone_tests(f"NCCL_DEBUG=WARN timeout {PART_MINUTES}m {alone}") + command
    return render_mpi_job(nccl_job("nccl-tests", nodes, command), nodes, request.namespace)


def nccl_job(name: str, nodes: JobNodes, command: str) -> MpiJob:
    """Return a job that runs commands with NCCL's tests.

    Args:
        name: Name of the job.
        nodes: Its nodes.
        command: Commands of the first pod.
    """
    return MpiJob(
        job=name,
        image=NCCL_TESTS_IMAGE,
        prepare=build_commands(nodes.accelerators),
        command=REPORT_NODES + command,
        environment={
            # Pod names cannot be resolved without their domain.
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            **nccl_environment(nodes.efa_interfaces),
        },
        pod_fields=NODE_FIELDS,
        session_environment=["PATH", "LD_LIBRARY_PATH", "OPAL_PREFIX", *NODE_FIELDS],
    )


def all_reduce(nodes: JobNodes, *, ranks: int, hosts: str, test: str) -> str:
    """Return the command that runs `all_reduce_perf`, one rank per GPU.

    Args:
        nodes: The nodes of the job.
        ranks: Number of ranks.
        hosts: Hosts and their slots, as a word of Bash.
        test: Options of the test.
    """
    command = all_reduce_command(
        nodes.accelerators,
        processes=nodes.accelerators.count,
        ranks=str(ranks),
        hosts=f"--host {hosts}",
        variables=nccl_environment(nodes.efa_interfaces),
        options="--tag-output",
        excluded_interface="veth_def_agent",
        test=test,
    )
    return f"{command}\n"


# `nccl-pairs`: NCCL's all-reduce over pairs of nodes, to find the node that is slow or fails.
#
# The nodes form a ring, and each pair is two neighbors, so that every node is in two pairs.


def render_nccl_pairs(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_nodes(plan, "nvidia", request)
    require_pairs(NCCL_PAIRS, nodes.count)
    gpus = nodes.accelerators.count
    test = all_reduce(
        nodes,
        ranks=2 * gpus,
        hosts=f'"$1:{gpus},$2:{gpus}"',
        test=part_options(nodes.accelerators),
    )
    command = pair_tests(f"timeout {PART_MINUTES}m {test}")
    return render_mpi_job(nccl_job(NCCL_PAIRS, nodes, command), nodes, request.namespace)
