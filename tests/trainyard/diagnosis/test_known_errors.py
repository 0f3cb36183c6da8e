"""The page on troubleshooting has a section for each error that the diagnosis knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.diagnosis.bundle import Bundle
from trainyard.diagnosis.known_errors import KNOWN_ERRORS, PAGE, KnownError, known_error
from trainyard.diagnosis.node_groups import GroupFacts, NodeGroupPlace, what_it_lacks
from trainyard.diagnosis.waiting_job import REMEDIES
from trainyard.workspace.accounts import AwsAccount

TEXT = (ROOT / PAGE).read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (.+)\n((?:(?!##).*\n)*)", TEXT, flags=re.MULTILINE))


def also(section: str) -> list[str]:
    """Return the other texts of an error, which a section lists first."""
    found = re.match(r"\nAlso ((?:.+\n)+)", section)
    return re.findall(r"`([^`]+)`", found[1]) if found else []


def test_every_known_error_has_a_section_and_every_section_is_known() -> None:
    assert {each.heading for each in KNOWN_ERRORS} == set(SECTIONS)
    assert len(KNOWN_ERRORS) == len(SECTIONS) == TEXT.count("\n### ")


@pytest.mark.parametrize("error", KNOWN_ERRORS, ids=lambda each: each.heading)
def test_an_error_is_found_by_its_text_and_has_a_cause_and_commands(error: KnownError) -> None:
    assert known_error(f"operation error EC2: {error.heading}: something") is error
    section = SECTIONS[error.heading]
    assert "```sh\n" in section
    cause = section.partition("```")[0].strip().splitlines()
    assert [line for line in cause if line and not line.startswith(("Also ", "`"))]


@pytest.mark.parametrize(
    ("text", "error"),
    [(text, error) for error in KNOWN_ERRORS for text in also(SECTIONS[error.heading])],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_other_texts_of_a_section_lead_to_it(text: str, error: KnownError) -> None:
    assert known_error(f"failed: {text}") is error


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (
            "Fetching secret data from AWS Secrets Manager in region x: secret y: AccessDenied",
            "Fetching secret data from",
        ),
        (
            "ResourceInitializationError: unable to pull secrets or registry auth: execution",
            "Fetching secret data from",
        ),
        ("couldn't find key token in Secret default/hf", "CreateContainerConfigError"),
        (
            "You've reached your quota for maximum Fleet Requests for this account. Launching",
            "MaxFleetCountExceeded",
        ),
        (
            "You have requested more vCPU capacity than your current vCPU limit of 384 allows for",
            "VcpuLimitExceeded",
        ),
        (
            "You have requested more instances (7) than your current instance limit of 5 allows",
            "VcpuLimitExceeded",
        ),
        ("Max spot instance count exceeded. Launching EC2 instance failed.", "VcpuLimitExceeded"),
        (
            "We currently do not have sufficient p2.xlarge capacity in zones with support for",
            "InsufficientInstanceCapacity",
        ),
        (
            "We currently do not have sufficient capacity in the Availability Zone you requested",
            "InsufficientInstanceCapacity",
        ),
        (
            "The requested reservation does not have sufficient compatible and available capacity",
            "InsufficientInstanceCapacity",
        ),
        (
            "The requested configuration is currently not supported. Please check the",
            "The requested configuration is currently not supported",
        ),
        (
            "There are not enough free addresses in subnet 'subnet-0a1b2c' to satisfy the",
            "InsufficientFreeAddresses",
        ),
        (
            "Your request for accessing resources in this region is being validated, and you will",
            "PendingVerification",
        ),
    ],
)
def test_a_launch_that_failed_without_a_code_is_known_by_its_sentence(text, heading) -> None:
    """The issues with these texts are in the docstring of the module."""
    found = known_error(text)
    assert found is not None
    assert found.heading == heading


REFUSED = (
    "User: arn:aws:iam::430864128097:user/w is not authorized to perform: sts:AssumeRole on "
    "resource: arn:aws:iam::527336378561:role/deploy"
)


# aws-sdk-go-base, `errors.go`, as cloud-toolkit/cloud-toolkit-aws 31 has it from the provider.
OF_PROVIDER = (
    "1 error occurred:\n    * error configuring Terraform AWS Provider: IAM Role "
    "(arn:aws:iam::527336378561:role/deploy) cannot be assumed.\n\nThere are a number of "
    "possible causes of this - the most common are:\n  * The credentials used in order to "
    "assume the role are invalid\n\nError: operation error STS: AssumeRole, https response "
    f"error StatusCode: 403, RequestID: 0529cbfe, api error AccessDenied: {REFUSED}"
)
OF_BOTO3 = "An error occurred ({}) when calling the AssumeRole operation: {}"
EXPIRED = "The security token included in the request is expired"


@pytest.mark.parametrize(
    "text",
    [OF_PROVIDER, f"Cannot assume IAM Role: {REFUSED}", OF_BOTO3.format("AccessDenied", REFUSED)],
)
def test_a_role_that_cannot_be_assumed_is_no_permission_of_the_stack(text: str) -> None:
    for source in ("aws", None):
        found = known_error(text, source)
        assert found is not None
        assert found.heading == "Cannot assume IAM Role"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (OF_BOTO3.format("ExpiredToken", EXPIRED), "ExpiredToken"),
        (
            "AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity",
            "UnauthorizedOperation",
        ),
    ],
)
def test_other_errors_of_sts_keep_their_section(text: str, heading: str) -> None:
    found = known_error(text, "aws")
    assert found is not None
    assert found.heading == heading


@pytest.mark.parametrize("code", REMEDIES)
def test_every_reason_of_a_waiting_batch_job_has_its_own_section(code: str) -> None:
    found = known_error(f"{code} - job")
    assert found is not None
    assert found.heading == code


def test_the_place_of_an_error_is_an_anchor_of_its_heading() -> None:
    places = {each.heading: each.place for each in KNOWN_ERRORS}
    assert places["NET/OFI No eligible providers were found"].endswith(
        "#netofi-no-eligible-providers-were-found"
    )
    assert places["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"].endswith(
        "#capacityinsufficient_instance_capacity"
    )


def test_an_unknown_text_has_no_section() -> None:
    assert known_error("the sky is falling") is None


def test_the_summary_of_a_diagnosis_names_the_section_of_a_cause(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.blame(
        [
            "node group p5: EC2 launched no instance: VcpuLimitExceeded - more vCPU capacity",
            "node ip-10-0-144-5 is cordoned",
        ]
    )
    summary = bundle.finish("p5-cb")
    assert "capacity (more: docs/troubleshooting.md#vcpulimitexceeded)\n" in summary
    assert "- node ip-10-0-144-5 is cordoned\n" in summary


def test_missing_nodes_come_with_the_sections_of_their_errors() -> None:
    group = GroupFacts(
        name="p5",
        scaling_group="p5",
        desired=2,
        instance_ids=("i-1",),
        refusal="ReservationCapacityExceeded - no capacity",
        issues=(),
        role_arn="",
        managed=True,
        let_in=None,
    )
    place = NodeGroupPlace(cluster="p5-cb", region="us-west-2", account=AwsAccount())
    lines = what_it_lacks(group, joined=(), place=place)
    assert lines[1] == "  more: docs/troubleshooting.md#insufficientinstancecapacity"
    assert lines[-1] == "  more: docs/troubleshooting.md#nodecreationfailure"
