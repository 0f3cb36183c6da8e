"""The filters of Xid errors match lines of the NVIDIA driver after which a GPU is broken."""

from __future__ import annotations

import json

import pytest

from tests.monitoring.support.log_patterns import PatternError, matches
from trainyard.components.monitoring.gpu_errors import FATAL_XIDS, JSON_PATTERN, TEXT_PATTERN

# Lines of the driver in public reports.
FATAL = (
    "NVRM: Xid (PCI:0000:23:00): 79, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:01:00): 79, pid=1122, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:53:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    (
        "NVRM: Xid (PCI:0000:9b:00): 119, pid=1234, name=nvidia-smi, Timeout after 6s of "
        "waiting for RPC response from GPU1 GSP! Expected function 76 "
        "(GSP_RM_CONTROL) (0x2080a097 0x0)."
    ),
    (
        "NVRM: Xid (PCI:0000:4f:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double "
        "bit error (DBE) has been detected on GPU in the framebuffer at partition 11."
    ),
)
HARMLESS = (
    (
        "NVRM: Xid (PCI:0000:00:06): 31, pid=79749, name=exe, Ch 0000000a, intr 00000000. MMU "
        "Fault: ENGINE GRAPHICS GPC2 GPCCLIENT_T1_7 faulted @ 0x2b57_b3000000."
    ),
    "NVRM: Xid (PCI:0000:1b:00): 94, pid=29832, name=python, Ch 00000008",
    "NVRM: Xid (PCI:0000:1b:00): 13, pid=46, name=python, SM Warp Exception on (GPC 0): 79",
    "NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.",
    "eth0: link up",
)


def of_fluent_bit(message: str) -> str:
    """Return a log event of the CloudWatch Observability add-on."""
    return json.dumps({"host": "ip-10-0-1-5", "ident": "kernel", "message": message})


def of_syslog(message: str) -> str:
    """Return a line of `/var/log/messages`, which ParallelCluster sends."""
    return f"Nov 25 14:20:15 ip-10-0-1-5 kernel: [ 8412.1] {message}"


@pytest.mark.parametrize("line", FATAL)
def test_a_line_of_a_broken_gpu_is_counted(line: str) -> None:
    assert matches(JSON_PATTERN, of_fluent_bit(line))
    assert matches(TEXT_PATTERN, of_syslog(line))


@pytest.mark.parametrize("line", HARMLESS)
def test_other_lines_are_not_counted(line: str) -> None:
    assert not matches(JSON_PATTERN, of_fluent_bit(line))
    assert not matches(TEXT_PATTERN, of_syslog(line))


@pytest.mark.parametrize("xid", range(1, 200))
def test_exactly_the_fatal_numbers_are_counted(xid: int) -> None:
    line = f"NVRM: Xid (PCI:0000:53:00): {xid}, pid=1, name=python3"
    assert matches(TEXT_PATTERN, of_syslog(line)) == (xid in FATAL_XIDS)


def test_an_event_without_a_message_is_not_counted() -> None:
    assert not matches(JSON_PATTERN, json.dumps({"host": "ip-10-0-1-5"}))


@pytest.mark.parametrize("pattern", ["%Xid: (79|48)%", "%a b%", "NVRM", f"%{'a' * 1024}%"])
def test_the_evaluator_refuses_what_cloudwatch_refuses(pattern: str) -> None:
    with pytest.raises(PatternError):
        matches(pattern, "a")
