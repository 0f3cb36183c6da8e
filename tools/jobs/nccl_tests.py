"""`nccl-tests`: NCCL's all-reduce over every GPU of every node of a group.

The figures say whether the nodes reach one another over EFA at the speed of their type: the log
names the network (`NET/Libfabric`), and the last column the bus bandwidth.

Source:
    https://github.com/NVIDIA/nccl-tests
    https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests, whose
    Dockerfile the image is built from
"""

from __future__ import annotations

from components.catalog.instance_type import Accelerators
from components.catalog.versions import NCCL_TESTS_IMAGE
from components.eks.plan import EksPlan
from tools.jobs.mpi import MpiJob, render_mpi_job
from tools.jobs.nodes import JobNodes, JobRequest, choose_nodes

MPI = "/opt/amazon/openmpi"
ALL_REDUCE = "/opt/nccl-tests/build/all_reduce_perf"

_MISSING_ARCHITECTURE = {"T4": "75", "RTX PRO Server 6000": "120"}
"""Compute capability of the GPUs for which the image holds no kernels: it is built for 8.0, 8.6,
8.9, 9.0 and 10.0, and without PTX. Sources and compiler are in the image.
https://developer.nvidia.com/cuda-gpus"""
_BUILT = "/tmp/built"  # noqa: S108 - in the container
_BUILD = f"""\
unset LD_PRELOAD
code=-gencode=arch=compute_@architecture@,code=sm_@architecture@
make -s -j "$(nproc)" -C /opt/nccl src.build BUILDDIR={_BUILT}/nccl NVCC_GENCODE="$code"
make -s -j "$(nproc)" -C /opt/nccl-tests MPI=1 MPI_HOME={MPI} NCCL_HOME={_BUILT}/nccl \\
  BUILDDIR={_BUILT}/nccl-tests NVCC_GENCODE="$code"
export LD_LIBRARY_PATH={_BUILT}/nccl/lib:$LD_LIBRARY_PATH
"""

_SEVERAL_EFA = {"NCCL_BUFFSIZE": "8388608", "NCCL_P2P_NET_CHUNKSIZE": "524288"}
"""Buffers for the bandwidth of several EFA interfaces (BAT5-10); what the plugin sets itself on
p4d and p5 since some version."""


def render_nccl_tests(plan: EksPlan, request: JobRequest) -> str:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    chosen = choose_nodes(plan, "nvidia", request)
    architecture = _MISSING_ARCHITECTURE.get(chosen.accelerators.model)
    job = MpiJob(
        job="nccl-tests",
        image=NCCL_TESTS_IMAGE,
        prepare=_BUILD.replace("@architecture@", architecture) if architecture else "",
        command=_command(chosen, built=architecture is not None),
        environment={
            # Names of pods are not known without their domain.
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            **nccl_environment(chosen.efa_interfaces),
        },
        session_environment=["PATH", "LD_LIBRARY_PATH", "OPAL_PREFIX"],
    )
    return render_mpi_job(job, chosen, request.namespace)


def nccl_environment(efa_interfaces: int) -> dict[str, str]:
    """Return NCCL's settings for nodes with so many EFA interfaces (0: EFA is off).

    Left out on purpose: FI_EFA_USE_DEVICE_RDMA (A23), FI_EFA_SET_CUDA_SYNC_MEMOPS, FI_PROVIDER,
    NCCL_PROTO (A24), FI_EFA_FORK_SAFE and NCCL_TUNER_PLUGIN. Libfabric and the plugin choose
    right by themselves since versions that are older than the image's and those of
    ParallelCluster's AMIs; NCCL finds the tuner in the plugin since 2.21.
    """
    # NCCL fails where a network that is named does not load, instead of falling back to TCP. The
    # plugin's name on AWS is Libfabric since 1.15; before, it was AWS Libfabric.
    network = "Libfabric" if efa_interfaces else "Socket"
    several = _SEVERAL_EFA if efa_interfaces > 1 else {}
    return {"NCCL_DEBUG": "INFO", "NCCL_NET": network, **several}


def largest_message(accelerators: Accelerators) -> str:
    """Return the largest buffer of the test, as `all_reduce_perf` takes it: at most 16 GiB.

    With checks on, a GPU holds three of them, and NCCL's own buffers.
    """
    gib = min(16, accelerators.memory_mib // 5 // 1024)
    return f"{1 << (gib.bit_length() - 1)}G"


def _command(nodes: JobNodes, *, built: bool) -> str:
    gpus = nodes.accelerators.count
    passed = ["PATH", "LD_LIBRARY_PATH", *nccl_environment(nodes.efa_interfaces)]
    program = f"{_BUILT}/nccl-tests/all_reduce_perf" if built else ALL_REDUCE
    largest = largest_message(nodes.accelerators)
    return f"""\
{MPI}/bin/mpirun --allow-run-as-root --tag-output --prefix {MPI} \\
  -np {nodes.count * gpus} --map-by ppr:{gpus}:node --bind-to none \\
  --host "$(IFS=,; echo "${{hosts[*]/%/:{gpus}}}")" \\
  {" ".join(f"-x {name}" for name in passed)} \\
  --mca pml ^cm,ucx --mca btl tcp,self --mca btl_tcp_if_exclude lo,docker0,veth_def_agent \\
  {program} -b 8 -e {largest} -f 2 -g 1 -c 1 -n 100
"""
