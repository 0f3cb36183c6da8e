"""Errors of public threads lead to their sections, and to no other."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
import yaml

from trainyard.diagnosis.job_log import LOG_LINES, LogEnd, error_in, sections
from trainyard.diagnosis.known_errors import KNOWN_ERRORS, Source, known_error


@dataclass(frozen=True, slots=True)
class PublicError:
    """An error of a thread, in the words of the program."""

    section: str | None
    """Heading of its section on the page; None if no section explains it."""
    origin: Literal["aws", "batch", "kubernetes", "log", "node", "slurm"]
    """Where it stands; `node` is the log of a kernel."""
    source: str
    """Address of the thread."""
    text: str

    @property
    def is_held_back(self) -> bool:
        """Whether no pattern may be written for it: it only measures the others."""
        return int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % 3 == 0


def public_errors() -> list[PublicError]:
    """Return all of them."""
    path = Path(__file__).with_name("public_errors.yaml")
    return [
        PublicError(each["section"], each["from"], each["source"], each["text"])
        for each in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


ERRORS = public_errors()
THREAD = re.compile(r"https://github\.com/[^/]+/[^/]+/(?:issues|pull)/\d+")
CASES = [pytest.param(each, id=f"{each.source[19:]} {each.text[:40]}") for each in ERRORS]
HELD_BACK = [each for each in ERRORS if each.is_held_back]


def source_of(error: PublicError) -> Source:
    """Return who says an error; the log of a kernel is read like one of a program."""
    return "log" if error.origin == "node" else error.origin


def heading(text: str, source: Source | None = None) -> str | None:
    found = known_error(text, source)
    return found.heading if found else None


def test_there_are_enough_errors_and_each_names_its_thread_once() -> None:
    texts = [each.text for each in ERRORS]
    assert len(texts) == len(set(texts)) >= 120
    assert [each.source for each in ERRORS if not THREAD.fullmatch(each.source)] == []
    assert len(HELD_BACK) >= len(ERRORS) // 4


def test_every_section_of_an_error_is_one_of_the_page() -> None:
    known = {each.heading for each in KNOWN_ERRORS}
    assert {each.section for each in ERRORS if each.section} <= known


@pytest.mark.parametrize("error", [each for each in CASES if not each.values[0].is_held_back])
def test_an_error_leads_to_its_section_whether_its_source_is_known_or_not(
    error: PublicError,
) -> None:
    assert heading(error.text, source_of(error)) == error.section
    assert heading(error.text) == error.section


def rightly(errors: Iterable[PublicError]) -> list[bool]:
    return [heading(each.text, source_of(each)) == each.section for each in errors]


def test_nine_of_ten_held_back_errors_are_known_and_none_is_mistaken() -> None:
    with_section = [each for each in HELD_BACK if each.section]
    assert sum(rightly(with_section)) >= 0.9 * len(with_section)
    mistaken = [
        (each.text, found)
        for each in HELD_BACK
        if (found := heading(each.text, source_of(each))) not in (None, each.section)
    ]
    assert mistaken == []


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("BackoffLimitExceeded: Job has reached the specified backoff limit", "kubernetes"),
        ("BackoffLimitExceeded: Job has reached the specified backoff limit", None),
        ("rpc error: code = AlreadyExists desc = snapshot exists", None),
        ('Error from server (AlreadyExists): jobs.batch "train" already exists', None),
        ("tensorflow.python.framework.errors_impl.InternalError: Blas GEMM launch failed", None),
        ("google.api_core.exceptions.ServiceUnavailable: 503 socket closed", None),
        ("openai.RateLimitExceeded: slow down", None),
        ("minio: <Code>AccessDenied</Code><Message>Access Denied.</Message>", "log"),
        ("the mirror says ServiceUnavailable", "log"),
        ("cache entry Evicted", "log"),
    ],
)
def test_an_error_of_another_service_is_none_of_aws(text: str, source: Source | None) -> None:
    assert heading(text, source) is None


@pytest.mark.parametrize(
    ("text", "section"),
    [
        (
            (
                "botocore.exceptions.ClientError: An error occurred (AccessDenied) when "
                "calling the GetObject operation: Access Denied"
            ),
            "UnauthorizedOperation",
        ),
        (
            (
                "operation error S3: HeadObject, https response error StatusCode: 403, "
                "RequestID: X, api error ExpiredToken: The provided token has expired."
            ),
            "ExpiredToken",
        ),
        (
            (
                "InsufficientFreeAddressesInSubnet: no free addresses\n\tstatus code: 400, "
                "request id: 1-2"
            ),
            "InsufficientFreeAddresses",
        ),
    ],
)
def test_a_program_has_an_error_of_aws_in_the_form_of_an_sdk(text: str, section: str) -> None:
    """botocore/exceptions.py, `ClientError.MSG_TEMPLATE`; aws/smithy-go `errors.go`,
    `GenericAPIError`; aws/aws-sdk-go `aws/awserr/types.go`."""
    for source in ("log", "kubernetes"):
        assert heading(text, source) == section


def test_the_cause_counts_more_than_its_consequences() -> None:
    log = """\
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 29.76 GiB
[rank0]: [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)
[rank1]: ncclRemoteError: A call failed possibly due to a network error
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""
    found = error_in(log)
    assert found is not None
    assert found.heading == "CUDA out of memory"


def test_only_the_end_of_a_log_counts() -> None:
    end = LogEnd()
    end.add("CUDA out of memory\n" + "step\n" * LOG_LINES)
    assert end.error is None
    end.add("Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10")
    assert end.error is not None
    assert end.error.heading == "Duplicate GPU detected"


def test_the_reason_of_a_scheduler_and_the_log_have_a_section_each() -> None:
    error = error_in("[E socket.cpp:860] [c10d] The client socket has timed out after 60s")
    both = sections("Job was active longer than specified deadline", "kubernetes", error)
    assert [each.rpartition("#")[2] for each in both] == [
        "due-to-time-limit",
        "rendezvousconnectionerror",
    ]
    assert sections("BackoffLimitExceeded: …", "kubernetes", None) == []
