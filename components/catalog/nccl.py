"""How NCCL's tests are run on AWS, whatever runs them: the image, and settings of the libraries.

Source:
    https://github.com/NVIDIA/nccl-tests
    https://github.com/aws/aws-ofi-nccl, doc/efa-env-var.md
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests, whose
    Dockerfile the image is built from
"""

from __future__ import annotations

from components.catalog.instance_type import Accelerators

MPI = "/opt/amazon/openmpi"
"""Where the EFA installer puts Open MPI."""
ALL_REDUCE = "/opt/nccl-tests/build/all_reduce_perf"
"""In the image."""
BUILT = "/tmp/built"  # noqa: S108 - in the container
"""Where `build_commands` put what they make."""

_MISSING_ARCHITECTURE = {"T4": "75", "RTX PRO Server 6000": "120"}
"""Compute capability of the GPUs for which the image holds no kernels: it is built for 8.0, 8.6,
8.9, 9.0 and 10.0, and without PTX. Sources and compiler are in the image.
https://developer.nvidia.com/cuda-gpus"""
_BUILD = f"""\
unset LD_PRELOAD
code=-gencode=arch=compute_@architecture@,code=sm_@architecture@
make -s -j "$(nproc)" -C /opt/nccl src.build BUILDDIR={BUILT}/nccl NVCC_GENCODE="$code"
make -s -j "$(nproc)" -C /opt/nccl-tests MPI=1 MPI_HOME={MPI} NCCL_HOME={BUILT}/nccl \\
  BUILDDIR={BUILT}/nccl-tests NVCC_GENCODE="$code"
export LD_LIBRARY_PATH={BUILT}/nccl/lib:$LD_LIBRARY_PATH
"""

_SEVERAL_EFA = {"NCCL_BUFFSIZE": "8388608", "NCCL_P2P_NET_CHUNKSIZE": "524288"}
"""Buffers for the bandwidth of several EFA interfaces: what the plugin of today sets itself on p4d,
p4de, p5 and later types (`platform_data_map` in src/platform-aws.cpp of aws-ofi-nccl)."""


def build_commands(accelerators: Accelerators) -> str:
    """Return bash text that builds NCCL and its tests in `BUILT`; empty where the image has them.

    The image holds kernels for most GPUs only.
    """
    architecture = _MISSING_ARCHITECTURE.get(accelerators.model)
    return _BUILD.replace("@architecture@", architecture) if architecture else ""


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
