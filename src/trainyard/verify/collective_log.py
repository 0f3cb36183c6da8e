"""What the log of nccl-tests or nccom-test says.

Lines of ranks are interleaved and have the prefixes of `mpirun --tag-output` and `srun --label`. A
log may end at any line.

Source:
    https://github.com/NVIDIA/nccl-tests/blob/v2.19.6/src/util.cu (`writeDeviceReport`,
        `writeResultFooter`), and `src/common.cu` of 2.10 to 2.18 for the tables
    https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc ("Using network", which each rank
        says), `src/plugin/net.cc`, and `src/net.cc` of 2.18.5 ("Error: network … not found")
    https://github.com/aws/aws-ofi-nccl/blob/v1.21.1/src/nccl_ofi_net.cpp: each process says
        "Selected provider is", since 1.6 with the number of its NICs, before it creates endpoints,
        so that "aws-ofi-nccl initialization failed" can follow
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

_LABEL = re.compile(r"^\[(?:alone|dcgm|node|pair|version) [^]]+\]")
"""Begin of a line that another reader of this package reads."""
_PREFIX = re.compile(r"^\s*(?:\[\d+,(\d+)\]<std(?:out|err)>:|(\d+):\s)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*([\d.]+)")
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)")
_NONE_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*0\s+OK\s*$")
_LARGEST = re.compile(r"\bminBytes \d+ maxBytes (\d+) step:")
_RANK = re.compile(r"\bRank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+(\d+)\s+on\s+(\S+)\s+device")
_PROCESS = re.compile(r"([^\s:]+):(\d+):\d+ \[\d+\] NCCL INFO ")
_NCCL = re.compile(r"NCCL version (\d+(?:\.\d+)+)")
_PLUGIN = re.compile(r"NET/OFI Initializing aws-ofi-nccl (\S+)")
_NETWORK = re.compile(
    r"NCCL INFO Using network (?:AWS )?(\S+)\s*$|\bvia NET/(?:AWS )?([A-Za-z]\w*)/\d"
)
_USED = re.compile(r"NCCL INFO Using network (?:AWS Libfabric|Libfabric|OFI)\s*$")
"""The names of the EFA plugin: https://github.com/aws/aws-ofi-nccl/blob/v1.21.1/src/
nccl_ofi_interface_nvidia.cpp, `nvidia_plugin_name_fixup`"""
_PROVIDER = re.compile(
    r"NET/OFI Selected [Pp]rovider is ([^\s,]+)(?:, fabric is ([^\s,]+))?"
    r"(?: \(found (\d+) nics\))?\s*$"
)
_NETWORK_FAILURES = re.compile(
    r"(NET/OFI (?:.*initialization failed|.*Failed to initialize|.*Failing initialization|"
    r"No eligible providers|EFA provider requires).*|"
    r"Failed to initialize NET plugin (?:AWS Libfabric|Libfabric|OFI)|"
    r"Failed to initialize any NET plugin|Error: network .* not found)"
)
"""What NCCL and the EFA plugin say if the plugin cannot be used."""
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

Value = TypeVar("Value")


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
    """None if the log does not say it, as before version 1.6 of the plugin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveLog:
    """The content of a log."""

    measurements: tuple[Measurement, ...]
    """By message size, the smallest first."""
    average_gb_per_second: float | None
    """Bus bandwidth of the last line of the test; None if the test did not end."""
    announced_bytes: int | None
    """The largest message that nccl-tests said it would send; None if the log does not say it."""
    has_checked_values: bool
    """Whether the test says that it has compared its results, and that none is wrong."""
    wrong_values: int
    """Wrong values that the test found in the results; 0 without checks."""
    ranks: frozenset[tuple[int, str]]
    """Numbers of the ranks that the log lists, and their hosts."""
    processes: frozenset[str]
    """The processes of these ranks, as HOST:PID."""
    nccl_versions: frozenset[str]
    plugins: Mapping[str, frozenset[str]]
    """Versions of aws-ofi-nccl, by process."""
    networks: frozenset[str]
    """Networks that NCCL uses, such as `Libfabric` or `Socket`."""
    on_libfabric: frozenset[str]
    """The processes that say that they use the EFA plugin."""
    providers_of: Mapping[str, frozenset[Provider]]
    """What the EFA plugin selected, by process."""
    network_failures: tuple[str, ...]
    """Different messages that the EFA plugin cannot be used."""
    failures: tuple[str, ...]
    """Different messages of warnings and failures, in the order of the log."""

    @property
    def largest(self) -> Measurement | None:
        """The slowest measurement of the largest message; None without any."""
        return max(
            self.measurements,
            key=lambda each: (each.size_bytes, -each.bus_bandwidth_gb_per_second),
            default=None,
        )

    @property
    def nodes(self) -> frozenset[str]:
        """Hosts of the ranks; empty if the log does not list them."""
        return frozenset(host for _, host in self.ranks)

    @property
    def plugin_versions(self) -> frozenset[str]:
        """Versions of aws-ofi-nccl."""
        return frozenset[str]().union(*self.plugins.values())

    @property
    def providers(self) -> frozenset[Provider]:
        """The libfabric providers of all processes."""
        return frozenset[Provider]().union(*self.providers_of.values())


def read_log(text: str) -> CollectiveLog:
    """Return what a log says; a log of something else has no measurements."""
    said = [_said(at, line) for at, line in enumerate(text.splitlines()) if not _LABEL.match(line)]
    lines = [line for _, line in said]
    # A last line without its end may lack digits.
    whole = lines if text.endswith("\n") else lines[:-1]
    rows = [row for row in map(_row, whole) if row]
    ranks = [match.groups() for match in _found(_RANK, lines)]
    averages = [float(match[1]) for match in _found(_AVERAGE, lines)]
    stated = [int(match[1]) for match in _found(_OUT_OF_BOUNDS, lines)]
    are_checked = rows and all(row.wrong_values is not None for row in rows)
    return CollectiveLog(
        measurements=tuple(
            sorted((row.measured for row in rows), key=lambda each: each.size_bytes)
        ),
        average_gb_per_second=averages[-1] if averages else None,
        announced_bytes=max((int(match[1]) for match in _found(_LARGEST, lines)), default=None),
        has_checked_values=bool(are_checked and any(_found(_NONE_OUT_OF_BOUNDS, whole))),
        wrong_values=max([sum(row.wrong_values or 0 for row in rows), *stated]),
        ranks=frozenset((int(number), host) for number, _, host in ranks),
        processes=frozenset(f"{host}:{pid}" for _, pid, host in ranks),
        nccl_versions=frozenset(match[1] for match in _found(_NCCL, lines)),
        plugins=_by_process(_PLUGIN, said, lambda match: match[1]),
        networks=frozenset(match[1] or match[2] for match in _found(_NETWORK, lines)),
        on_libfabric=frozenset(_by_process(_USED, said, lambda match: match[0])),
        providers_of=_by_process(
            _PROVIDER, said, lambda match: Provider(match[1], int(match[3]) if match[3] else None)
        ),
        network_failures=tuple(
            dict.fromkeys(match[1].strip() for match in _found(_NETWORK_FAILURES, lines))
        ),
        failures=tuple(dict.fromkeys(_failures(lines))),
    )


def _said(number: int, line: str) -> tuple[str, str]:
    """Return who said a line, and what.

    NCCL writes host and process; mpirun and srun write the rank. Without both, every line can be
    one of another process.
    """
    label = _PREFIX.match(line)
    return (f"rank {label[1] or label[2]}" if label else f"line {number}"), _PREFIX.sub("", line)


def _by_process(
    pattern: re.Pattern[str],
    said: Iterable[tuple[str, str]],
    value: Callable[[re.Match[str]], Value],
) -> dict[str, frozenset[Value]]:
    """Return what processes said, by the most exact name that the log has for them.

    Scripts repeat lines of NCCL without their process: such lines are no further processes.
    """
    found: dict[int, dict[str, frozenset[Value]]] = {}
    for rank, line in said:
        match = pattern.search(line)
        if not match:
            continue
        named = [*_PROCESS.finditer(line, 0, match.start() + len("NCCL INFO "))]
        exactness = 2 if named else 1 if rank.startswith("rank ") else 0
        who = f"{named[-1][1]}:{named[-1][2]}" if named else rank
        of = found.setdefault(exactness, {})
        of[who] = of.get(who, frozenset()) | {value(match)}
    return found[max(found)] if found else {}


def _found(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[re.Match[str]]:
    return (match for line in lines if (match := pattern.search(line)))


def _failures(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for pattern in _FAILURES:
            match = pattern.search(line)
            if match:
                yield match[1].strip()
                break


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table."""

    measured: Measurement
    wrong_values: int | None
    """None if the test did not compare its results."""


def _row(line: str) -> _Row | None:
    """Return a row of a table; None for other lines.

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
        return _Row(_measured(size, [rest[2]]), None)
    numbers = rest[-8:]
    if not 9 <= len(rest) <= 10 or not all(map(_is_cell, numbers)):
        return None
    if not all(_fits(int(size), *numbers[half : half + 2]) for half in (0, 4)):
        return None
    bandwidths = [each for each in (numbers[2], numbers[6]) if each != "N/A"]
    if not bandwidths:
        return None
    compared = [each for each in (numbers[3], numbers[7]) if each != "N/A"]
    # Before 2.13 the last column was the relative error, which is not a count of values.
    wrong = sum(int(each) for each in compared if each.isdigit()) if compared else None
    return _Row(_measured(size, bandwidths), wrong)


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
    lowest = min(map(float, bandwidths))
    return Measurement(size_bytes=int(size), bus_bandwidth_gb_per_second=lowest)


def size_text(size_bytes: int) -> str:
    """Return a size such as `16 GiB`."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >= 1 << bits:
            return f"{size_bytes / (1 << bits):g} {unit}"
    return f"{size_bytes} B"
