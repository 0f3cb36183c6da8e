"""NCCL tests on AWS: image and library settings.

Source:
    https://github.com/NVIDIA/nccl-tests
    https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests, whose
    Dockerfile the image is built from
    https://www.open-mpi.org/doc/v4.1/man1/mpirun.1.php
"""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.components.catalog.instance_types import Accelerators

MPI = "/opt/amazon/openmpi"
"""Open MPI directory of the EFA installer."""
ALL_REDUCE = "/opt/nccl-tests/build/all_reduce_perf"
"""Path in the image."""
BUILT = "/tmp/built"  # noqa: S108 - in the container
"""Output directory of `build_commands`."""

_MISSING_ARCHITECTURE = {
    "T4": "75",
    "V100": "70",
    "RTX PRO 4500": "120",
    "RTX PRO Server 6000": "120",
}
"""Compute capability of GPUs for which the image has no kernels: it is built for 8.0, 8.6, 8.9, 9.0
and 10.0, without PTX. The image contains sources and compiler.
https://developer.nvidia.com/cuda-gpus"""
_BUILD = f"""\
unset LD_PRELOAD
code=-gencode=arch=compute_@architecture@,code=sm_@architecture@
make -s -j "$(nproc)" -C /opt/nccl src.build BUILDDIR={BUILT}/nccl NVCC_GENCODE="$code"
make -s -j "$(nproc)" -C /opt/nccl-tests MPI=1 MPI_HOME={MPI} NCCL_HOME={BUILT}/nccl \\
  BUILDDIR={BUILT}/nccl-tests NVCC_GENCODE="$code"
export LD_LIBRARY_PATH={BUILT}/nccl/lib:$LD_LIBRARY_PATH
"""

EFA_NETWORK = "AWS Libfabric"
"""The value of NCCL_NET with which NCCL fails instead of falling back to TCP. Before 1.13, this is
the name of the plugin's network; since then, it is Libfabric, and the plugin takes the older name
if NCCL_NET has it.
https://github.com/aws/aws-ofi-nccl/commit/7c014f0d51fe208588c6e82cce399b5adb907a0f"""
_SEVERAL_EFA = {"NCCL_BUFFSIZE": "8388608", "NCCL_P2P_NET_CHUNKSIZE": "524288"}
"""Buffers for the bandwidth of several EFA interfaces: the current plugin sets them itself on p4d,
p4de, p5 and later types (`platform_data_map` in src/platform-aws.cpp of aws-ofi-nccl)."""


def build_commands(accelerators: Accelerators) -> str:
    """Return a bash script that builds NCCL and its tests in `BUILT`; empty if not needed.

    The image has kernels for most GPUs only.
    """
    architecture = _MISSING_ARCHITECTURE.get(accelerators.model)
    return _BUILD.replace("@architecture@", architecture) if architecture else ""


def nccl_environment(efa_interfaces: int) -> dict[str, str]:
    """Return NCCL settings for nodes with this number of EFA interfaces (0: no EFA).

    Not set on purpose: FI_EFA_USE_DEVICE_RDMA (A23), FI_EFA_SET_CUDA_SYNC_MEMOPS, FI_PROVIDER,
    NCCL_PROTO (A24), FI_EFA_FORK_SAFE and NCCL_TUNER_PLUGIN. The versions of Libfabric and the
    plugin in the image and in ParallelCluster AMIs choose the right values themselves; NCCL finds
    the tuner in the plugin since 2.21.
    """
    network = EFA_NETWORK if efa_interfaces else "Socket"
    several = _SEVERAL_EFA if efa_interfaces > 1 else {}
    return {"NCCL_DEBUG": "INFO", "NCCL_NET": network, **several}


def all_reduce_command(
    accelerators: Accelerators,
    *,
    processes: int,
    ranks: str,
    hosts: str,
    variables: Iterable[str],
    options: str,
    excluded_interface: str,
    test: str,
) -> str:
    """Return the Bash command that runs `all_reduce_perf` of the image, with one rank per GPU.

    Args:
        accelerators: Accelerators of a node.
        processes: Number of ranks of a node.
        ranks: Number of all ranks, as a word of Bash.
        hosts: The option of mpirun with the hosts, as Bash.
        variables: Names of variables that the ranks get.
        options: More options of mpirun, as Bash.
        excluded_interface: An interface of the nodes that has no route to other nodes.
        test: Options of the test.
    """
    passed = " ".join(f"-x {name}" for name in ("PATH", "LD_LIBRARY_PATH", *variables))
    # The image preloads a library other than the one that was built.
    built = f"env -u LD_PRELOAD {BUILT}/nccl-tests/all_reduce_perf"
    program = built if build_commands(accelerators) else ALL_REDUCE
    return f"""\
{MPI}/bin/mpirun --allow-run-as-root --prefix {MPI} \\
  -np {ranks} {hosts} --map-by ppr:{processes}:node --bind-to none \\
  {passed} {options} \\
  --mca pml ^cm,ucx --mca btl tcp,self --mca btl_tcp_if_exclude lo,docker0,{excluded_interface} \\
  {program} {test}"""


def largest_message(accelerators: Accelerators) -> str:
    """Return the largest buffer size, in `all_reduce_perf` syntax: at most 16 GiB."""
    mib = largest_message_bytes(accelerators) >> 20
    return f"{mib // 1024}G" if mib >= 1024 else f"{mib}M"


def largest_message_bytes(accelerators: Accelerators) -> int:
    """Return the largest buffer size: at most 16 GiB.

    With checks enabled, a GPU holds three buffers, in addition to those of NCCL.
    """
    mib = min(16 * 1024, accelerators.memory_mib // 5)
    return 1 << (mib.bit_length() - 1 + 20)
