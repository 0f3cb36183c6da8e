"""`nccl-tests`: NCCL's all-reduce over every GPU of every node of a group.

The results show whether the nodes communicate over EFA at the speed of their instance type: the log
names the network (`NET/Libfabric`), and the last column shows the bus bandwidth.

Source:
    https://github.com/NVIDIA/nccl-tests
    https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests, whose Dockerfile
        the image is built from
"""

from __future__ import annotations

from components.catalog.nccl import (
    ALL_REDUCE,
    BUILT,
    MPI,
    build_commands,
    largest_message,
    nccl_environment,
)
from components.catalog.versions import NCCL_TESTS_IMAGE
from components.eks.plan import EksPlan
from tools.jobs.mpi import MpiJob, render_mpi_job
from tools.jobs.nodes import JobNodes, JobRequest, choose_nodes


def render_nccl_tests(plan: EksPlan, request: JobRequest) -> str:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    chosen = choose_nodes(plan, "nvidia", request)
    build = build_commands(chosen.accelerators)
    job = MpiJob(
        job="nccl-tests",
        image=NCCL_TESTS_IMAGE,
        prepare=build,
        command=_command(chosen, built=bool(build)),
        environment={
            # Pod names cannot be resolved without their domain.
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            **nccl_environment(chosen.efa_interfaces),
        },
        session_environment=["PATH", "LD_LIBRARY_PATH", "OPAL_PREFIX"],
    )
    return render_mpi_job(job, chosen, request.namespace)


def _command(nodes: JobNodes, *, built: bool) -> str:
    gpus = nodes.accelerators.count
    passed = ["PATH", "LD_LIBRARY_PATH", *nccl_environment(nodes.efa_interfaces)]
    program = f"{BUILT}/nccl-tests/all_reduce_perf" if built else ALL_REDUCE
    largest = largest_message(nodes.accelerators)
    return f"""\
{MPI}/bin/mpirun --allow-run-as-root --tag-output --prefix {MPI} \\
  -np {nodes.count * gpus} --map-by ppr:{gpus}:node --bind-to none \\
  --host "$(IFS=,; echo "${{hosts[*]/%/:{gpus}}}")" \\
  {" ".join(f"-x {name}" for name in passed)} \\
  --mca pml ^cm,ucx --mca btl tcp,self --mca btl_tcp_if_exclude lo,docker0,veth_def_agent \\
  {program} -b 8 -e {largest} -f 2 -g 1 -c 1 -n 100
"""
