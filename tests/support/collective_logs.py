"""Logs of nccl-tests with a chosen bandwidth, in the format of the recorded ones.

Each process of NCCL says its host, its process and its network:
https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc, and nccl_ofi_net.cpp of aws-ofi-nccl. The
lines of nccl-tests are those of https://github.com/NVIDIA/nccl-tests/blob/v2.19.6/src/util.cu.
"""

from __future__ import annotations

from collections.abc import Sequence

SIZE_BYTES = 16 << 30


def rank_lines(hosts: Sequence[str], gpus: int) -> str:
    """Return the ranks that nccl-tests lists: one process for each GPU."""
    return "".join(
        f"#  Rank {rank:2} Group  0 Pid {_pid(rank):6} on {hosts[rank // gpus]} device "
        f"{rank % gpus:2} [0000:{rank % gpus:02x}:00] NVIDIA H100 80GB HBM3\n"
        for rank in range(len(hosts) * gpus)
    )


def efa_lines(interfaces: int, hosts: Sequence[str], gpus: int) -> str:
    """Return what each process of NCCL says about EFA."""
    return "".join(
        f"{hosts[rank // gpus]}:{_pid(rank)}:{_pid(rank)} [{rank % gpus}] NCCL INFO {said}\n"
        for rank in range(len(hosts) * gpus)
        for said in (
            f"NET/OFI Selected provider is efa, fabric is efa (found {interfaces} nics)",
            "Using network AWS Libfabric",
        )
    )


def version_lines(hosts: Sequence[str]) -> str:
    """Return the versions that the jobs print on each node."""
    return "".join(
        f"[version {host}] {said}\n"
        for host in hosts
        for said in ("kernel: 6.12.46", "locked memory limit: unlimited")
    )


def measured_lines(gb_per_second: float, size_bytes: int = SIZE_BYTES) -> str:
    """Return the row of the largest message, and the end."""
    seconds = size_bytes / (gb_per_second * 1e9)
    speed = f"{seconds * 1e6:.0f} {size_bytes / seconds / 1e9:.2f} {gb_per_second}"
    return (
        f"{size_bytes} {size_bytes // 4} float sum -1 {speed} 0 {speed} 0\n"
        "# Out of bounds values : 0 OK\n"
        f"# Avg bus bandwidth    : {gb_per_second} \n"
    )


def alone_lines(host: str, gb_per_second: float) -> str:
    """Return the log of a node alone."""
    return _part("alone", host, gb_per_second)


def pair_lines(pair: str, gb_per_second: float) -> str:
    """Return the log of a pair of nodes, such as `a b`."""
    return _part("pair", pair, gb_per_second)


def whole_log(
    hosts: Sequence[str], gpus: int, interfaces: int, gb_per_second: float, alone: float = 480.0
) -> str:
    """Return the log of a job that tests each node with several GPUs alone, and then all nodes."""
    return (
        version_lines(hosts)
        + "".join(alone_lines(host, alone) for host in hosts if gpus > 1)
        + rank_lines(hosts, gpus)
        + efa_lines(interfaces, hosts, gpus)
        + measured_lines(gb_per_second)
    )


def _part(kind: str, nodes: str, gb_per_second: float) -> str:
    lines = measured_lines(gb_per_second).splitlines()
    return "".join(f"[{kind} {nodes}] {line}\n" for line in lines)


def _pid(rank: int) -> int:
    return 100 + rank
