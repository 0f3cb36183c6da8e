"""Logs of nccl-tests with a chosen bandwidth, in the format of the recorded ones."""

from __future__ import annotations

SIZE_BYTES = 16 << 30


def efa_lines(interfaces: int) -> str:
    """Return what NCCL says about EFA."""
    return (
        f"NCCL INFO NET/OFI Selected Provider is efa (found {interfaces} nics)\n"
        "NCCL INFO Using network Libfabric\n"
    )


def measured_lines(gb_per_second: float) -> str:
    """Return the row of the largest message, and the end."""
    seconds = SIZE_BYTES / (gb_per_second * 1e9)
    speed = f"{seconds * 1e6:.0f} {SIZE_BYTES / seconds / 1e9:.2f} {gb_per_second}"
    return (
        f"{SIZE_BYTES} {SIZE_BYTES // 4} float sum -1 {speed} 0 {speed} 0\n"
        f"# Avg bus bandwidth    : {gb_per_second}\n"
    )


def pair_lines(pair: str, gb_per_second: float) -> str:
    """Return the log of a pair of nodes, such as `a b`."""
    return "".join(f"[pair {pair}] {line}\n" for line in measured_lines(gb_per_second).splitlines())
