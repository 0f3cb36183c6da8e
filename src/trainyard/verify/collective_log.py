"""What the log of nccl-tests or nccom-test says.

Lines of ranks are interleaved and have the prefixes of `mpirun --tag-output` and `srun --label`. A
log may end at any line.

Source:
    https://github.com/NVIDIA/nccl-tests, `src/common.cu` (tables of 2.10 to 2.18)
    https://github.com/aws/aws-ofi-nccl, `src/nccl_ofi_rdma.cpp` and `nccl_ofi_sendrecv.cpp`
        (the provider and its NICs)
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_LABEL = re.compile(r"^\[(?:alone|dcgm|node|pair|version) [^]]+\]")
"""Begin of a line that another reader of this package reads."""
_PREFIX = re.compile(r"^\s*(?:\[\d+,\d+\]<std(?:out|err)>:|\d+:\s)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*([\d.]+)")
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)")
_RANK = re.compile(r"\bRank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device")
_NCCL = re.compile(r"NCCL version (\d+(?:\.\d+)+)")
_PLUGIN = re.compile(r"NET/OFI Initializing aws-ofi-nccl (\S+)")
_NETWORK = re.compile(r"NCCL INFO Using network (?:AWS )?(\S+)")
_PROVIDER = re.compile(
    r"NET/OFI Selected [Pp]rovider is ([^\s,]+)(?:, fabric is ([^\s,]+))?"
    r"(?: \(found (\d+) nics\))?"
)
_FAILURES = (
    re.compile(r"(NCCL WARN .*)"),
    re.compile(r"(Test (?:NCCL|CUDA) failure .*)"),
    re.compile(r"(NET/OFI No eligible providers were found)"),
    re.compile(r"(mpirun (?:noticed|was unable|detected) .*)"),
    re.compile(r"((?:srun|slurmstepd): error: .*)"),
    re.compile(r"(DUE TO TIME LIMIT)"),
    re.compile(r"(Failure running neuron-bench .*)"),
    re.compile(r"(Neuron DKMS Driver is not running!)"),
)
"""Lines that say why a test failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One message size of a collective operation."""

    size_bytes: int
    bus_bandwidth_gb_per_second: float
    """As the test prints it: nccl-tests has gigabytes (10^9), the lower one of out-of-place and
    in-place; nccom-test has GiB, although it prints GB.

    https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md"""


@dataclass(frozen=True, slots=True, order=True)
class Provider:
    """The libfabric provider that the EFA plugin of NCCL selected in one process."""

    name: str
    nics: int | None
    """None if the version of the plugin does not log it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveLog:
    """The content of a log."""

    measurements: tuple[Measurement, ...]
    """By message size, the smallest first."""
    average_gb_per_second: float | None
    """Bus bandwidth of the last line of the test; None if the test did not end."""
    wrong_values: int
    """Wrong values that the test found in the results; 0 without checks."""
    nodes: frozenset[str]
    """Hosts of the ranks; empty if the log does not list them."""
    ranks: int
    """Number of ranks that the log lists."""
    nccl_versions: frozenset[str]
    plugin_versions: frozenset[str]
    """Versions of aws-ofi-nccl."""
    networks: frozenset[str]
    """Networks that NCCL uses, such as `Libfabric` or `Socket`."""
    providers: frozenset[Provider]
    failures: tuple[str, ...]
    """Different messages of warnings and failures, in the order of the log."""

    @property
    def largest(self) -> Measurement | None:
        """The measurement of the largest message; None without any."""
        return self.measurements[-1] if self.measurements else None


def read_log(text: str) -> CollectiveLog:
    """Return what a log says; a log of something else has no measurements."""
    lines = [_PREFIX.sub("", line) for line in text.splitlines() if not _LABEL.match(line)]
    # A last line without its end may lack digits.
    whole = lines if text.endswith("\n") else lines[:-1]
    rows = [row for row in map(_row, whole) if row]
    ranks = {(match[1], match[2]) for match in _found(_RANK, lines)}
    averages = [float(match[1]) for match in _found(_AVERAGE, lines)]
    stated = [int(match[1]) for match in _found(_OUT_OF_BOUNDS, lines)]
    return CollectiveLog(
        measurements=tuple(
            sorted((measured for measured, _ in rows), key=lambda each: each.size_bytes)
        ),
        average_gb_per_second=averages[-1] if averages else None,
        wrong_values=max([sum(wrong for _, wrong in rows), *stated]),
        nodes=frozenset(host for _, host in ranks),
        ranks=len(ranks),
        nccl_versions=frozenset(match[1] for match in _found(_NCCL, lines)),
        plugin_versions=frozenset(match[1] for match in _found(_PLUGIN, lines)),
        networks=frozenset(match[1] for match in _found(_NETWORK, lines)),
        providers=frozenset(
            Provider(match[1], int(match[3]) if match[3] else None)
            for match in _found(_PROVIDER, lines)
        ),
        failures=tuple(dict.fromkeys(_failures(lines))),
    )


def _found(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[re.Match[str]]:
    return (match for line in lines if (match := pattern.search(line)))


def _failures(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for pattern in _FAILURES:
            match = pattern.search(line)
            if match:
                yield match[1].strip()
                break


def _row(line: str) -> tuple[Measurement, int] | None:
    """Return the measurement and the wrong values of a row of a table; None for other lines.

    Rows begin with size, count and type. nccl-tests adds the operation, since 2.13 the root, and
    twice time, algorithm bandwidth, bus bandwidth and wrong values; nccom-test adds time,
    algorithm bandwidth, bus bandwidth and, with `--show-algorithm`, the algorithm.
    """
    match line.split():
        case [size, count, kind, *rest] if size.isdigit() and count.isdigit():
            if not _TYPE.fullmatch(kind):
                return None
        case _:
            return None
    if len(rest) == 4 and _TYPE.fullmatch(rest[3]):
        rest = rest[:3]
    if len(rest) == 3 and all(map(_NUMBER.fullmatch, rest)):
        return _measured(size, [rest[2]]), 0
    numbers = rest[-8:]
    if not 9 <= len(rest) <= 10 or not all(map(_is_cell, numbers)):
        return None
    if not all(_fits(int(size), *numbers[half : half + 2]) for half in (0, 4)):
        return None
    # Before 2.13 the last column was the relative error, which is not a count of values.
    wrong = [each for each in (numbers[3], numbers[7]) if each.isdigit()]
    return _measured(size, [numbers[2], numbers[6]]), sum(map(int, wrong))


def _fits(size: int, microseconds: str, gb_per_second: str) -> bool:
    """Return whether two columns are time and algorithm bandwidth, which is size by time.

    If not, the row lacks a column.
    """
    if "N/A" in (microseconds, gb_per_second):
        return True
    time, found = float(microseconds), float(gb_per_second)
    return time > 0 and abs(size / time / 1000 - found) <= 0.01 + 0.01 * found


def _is_cell(text: str) -> bool:
    return text == "N/A" or _NUMBER.fullmatch(text) is not None


def _measured(size: str, bandwidths: Iterable[str]) -> Measurement:
    lowest = min(float(each) for each in bandwidths if each != "N/A")
    return Measurement(size_bytes=int(size), bus_bandwidth_gb_per_second=lowest)


def size_text(size_bytes: int) -> str:
    """Return a size such as `16 GiB`."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >= 1 << bits:
            return f"{size_bytes / (1 << bits):g} {unit}"
    return f"{size_bytes} B"
