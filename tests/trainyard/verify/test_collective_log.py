"""Logs of real runs of nccl-tests and nccom-test; `logs/README.md` names their sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.verify.collective_log import CollectiveLog, Provider, read_log

UNHANDLED = "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"
LOGS = Path(__file__).parent / "logs"


def log(name: str) -> CollectiveLog:
    return read_log((LOGS / f"{name}.log").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "rows", "largest", "gb_per_second", "average"),
    [
        ("sixteen-gpus-infiniband", 6, 2**33, 187.51, 57.1241),
        ("slow-network-concluded", 4, 2**33, 49.83, 21.0721),
        # The last line of this log is cut off.
        ("p5-two-nodes-labelled", 7, 2**33, 478.95, None),
        ("p4d-two-nodes-nccl-2.7", 1, 2**30, 26.58, None),
        ("p4d-two-nodes-nccl-2.19", 1, 2**30, 45.73, None),
        ("bottlerocket-alltoall", 3, 2**19, 2.20, None),
        ("trn1-two-nodes", 7, 2**30, 47.09, 9.3924),
        ("trn1-one-node", 4, 2**19, 2.64, 0.7731),
        ("neuron-show-algorithm", 6, 2**29, 103.89, 16.6181),
    ],
)
def test_the_table_and_the_end_of_a_test_are_read(
    name: str, rows: int, largest: int, gb_per_second: float, average: float | None
) -> None:
    found = log(name)
    assert len(found.measurements) == rows
    assert found.largest is not None
    assert found.largest.size_bytes == largest
    assert found.largest.bus_bandwidth_gb_per_second == gb_per_second
    assert found.average_gb_per_second == average
    assert found.wrong_values == 0


@pytest.mark.parametrize(
    ("name", "networks", "providers"),
    [
        ("p5-two-nodes-labelled", {"Libfabric"}, {Provider("efa", 32)}),
        ("p5-efa-direct", set(), {Provider("efa", 32)}),
        ("p5en-sixteen-nics", {"Libfabric"}, {Provider("efa", 16)}),
        ("g7e-cuda-failure", {"Libfabric"}, {Provider("efa", 1)}),
        ("g6e-socket-fallback", {"Socket"}, set()),
        ("p3-tcp-provider", set(), {Provider("tcp;ofi_rxm", None)}),
        ("trn1-two-nodes", set(), set()),
    ],
)
def test_network_and_provider_are_read(
    name: str, networks: set[str], providers: set[Provider]
) -> None:
    found = log(name)
    assert found.networks == networks
    assert found.providers == providers


@pytest.mark.parametrize(
    ("name", "failures"),
    [
        (
            "g7e-cuda-failure",
            (
                "NCCL WARN Cuda failure 'named symbol not found'",
                f"Test NCCL failure all_reduce.cu:44 '{UNHANDLED} / '",
            ),
        ),
        (
            "g6e-socket-fallback",
            (
                "NET/OFI No eligible providers were found",
                "NCCL WARN NET/OFI Unable to find a protocol that worked.  Failing initialization.",
                "NCCL WARN NET/OFI aws-ofi-nccl initialization failed",
            ),
        ),
        (
            "out-of-memory",
            (
                "NCCL WARN Cuda failure 'out of memory'",
                "NCCL WARN Failed to CUDA calloc 2097152 / 10485760 bytes",
            ),
        ),
        (
            "neuron-bench-failure",
            ("Failure running neuron-bench - log file /tmp/nccom_test_log_7pqpdfjf.log",),
        ),
        ("sixteen-gpus-infiniband", ()),
    ],
)
def test_every_failure_is_read_once(name: str, failures: tuple[str, ...]) -> None:
    assert log(name).failures == failures


def test_versions_and_ranks_are_read() -> None:
    found = log("g7e-cuda-failure")
    assert found.nccl_versions == {"2.29.2"}
    assert found.plugin_versions == {"1.18.0"}
    assert found.nodes == {"gpu-st-ml-1", "gpu-st-ml-2"}
    assert found.ranks == {(0, "gpu-st-ml-1"), (1, "gpu-st-ml-2")}
    assert found.processes == {"gpu-st-ml-1:50292", "gpu-st-ml-2:49542"}
    assert found.announced_bytes == 2**30
    old = log("p3-tcp-provider")
    assert (old.nccl_versions, len(old.ranks)) == ({"2.4.6"}, 2)


def test_wrong_values_are_counted() -> None:
    row = "1048576 262144 float sum -1 123.2 8.51 15.95 3 121.3 8.64 16.21 4"
    assert read_log(f"{row}\n").wrong_values == 7
    assert read_log(f"{row}\n# Out of bounds values : 9 FAILED").wrong_values == 9


def test_what_a_process_says_is_counted_once() -> None:
    found = log("g7e-cuda-failure")
    both = {"gpu-st-ml-1:50292", "gpu-st-ml-2:49542"}
    assert found.on_libfabric == both
    assert set(found.providers_of) == both
    repeated = (
        "a:1:1 [0] NCCL INFO Using network AWS Libfabric\n"
        "a:1:7 [0] NCCL INFO Using network AWS Libfabric\n"
        "NCCL INFO Using network AWS Libfabric\n"
        "3: NCCL INFO Using network AWS Libfabric\n"
    )
    assert read_log(repeated).on_libfabric == {"a:1"}


@pytest.mark.parametrize(
    "line",
    [
        "a:1:1 [0] NCCL INFO Using network Libfabb:2:2 [0] NCCL INFO comm 0x1",
        "a:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 1",
        "a:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 32 nib:2:2",
    ],
)
def test_a_line_that_is_cut_off_or_goes_over_into_another_says_nothing(line: str) -> None:
    found = read_log(f"{line}\n")
    assert (found.networks, found.on_libfabric, found.providers) == (set(), set(), set())


def test_values_are_checked_if_the_columns_and_the_end_say_so() -> None:
    row = "1048576 262144 float sum -1 123.2 8.51 15.95 {0} 121.3 8.64 16.21 {0}\n"
    end = "# Out of bounds values : 0 OK\n"
    assert read_log(row.format(0) + end).has_checked_values
    assert not read_log(row.format("N/A") + end).has_checked_values
    assert not read_log(row.format(0)).has_checked_values
    assert not read_log(end).has_checked_values


def test_a_log_of_something_else_has_nothing() -> None:
    found = read_log("Collecting torch\n100 200 installed\n  5 of 7 done 1 2 3 4 5 6 7 8\n")
    assert (found.measurements, found.failures, found.largest) == ((), (), None)


@pytest.mark.parametrize("name", ["sixteen-gpus-infiniband", "trn1-two-nodes"])
@given(data=st.data())
def test_a_log_may_end_anywhere_and_no_number_is_made_up(name: str, data: st.DataObject) -> None:
    text = (LOGS / f"{name}.log").read_text(encoding="utf-8")
    end = data.draw(st.integers(min_value=0, max_value=len(text)))
    assert set(read_log(text[:end]).measurements) <= set(read_log(text).measurements)


def test_a_row_without_its_last_columns_is_left_out() -> None:
    row = "1048576 262144 float sum -1 123.2 8.51 15.95 0 121.3 8.64 16.21 0"
    assert len(read_log(f"{row}\n").measurements) == 1
    assert not read_log(f"{row.removesuffix(' 0')}\n").measurements
    assert not read_log(row).measurements


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert not read_log(text).ranks
