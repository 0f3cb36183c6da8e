"""Suppressed violations are reported, expired suppressions are errors, incomplete ones refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date

import jsonschema
import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2

from tests.support.policy import Declared
from tests.support.policy_pack import (
    Pack,
    configuration,
    resource_requests,
    running_pack,
    stack_request,
)
from tests.support.policy_programs import EFA_NETWORK, auto_scaling_group, template
from trainyard.policies.pack.configured import served
from trainyard.policies.pack.discovery import PACK_NAME, POLICIES
from trainyard.policies.pack.servicer import PackServicer
from trainyard.policies.pack.suppressions import Ledger, Suppression, suppressions_of

VOLUME = Declared("aws:ebs/volume:Volume", "scratch", {"size": 100})
OTHER_VOLUME = Declared("aws:ebs/volume:Volume", "data", {"size": 100})
REASON = "scratch data, deleted within the hour"
HOLDS = {"resource": "scratch", "reason": REASON, "expires": "2099-12-31"}
EXPIRED = HOLDS | {"expires": "2020-01-31"}


@pytest.fixture(scope="module")
def pack() -> Iterator[Pack]:
    with running_pack() as running:
        yield running


def findings(
    *program: Declared, **config: Mapping[str, object]
) -> dict[str, list[analyzer_pb2.AnalyzeDiagnostic]]:
    """Return the messages of a new pack about a program, by policy; rule names have underscores."""
    servicer = PackServicer(PACK_NAME, served(POLICIES))
    given = {rule.replace("_", "-"): value for rule, value in config.items()}
    servicer.Configure(configuration(dict.fromkeys(given, analyzer_pb2.MANDATORY), given), None)
    answers = [servicer.Analyze(request, None) for request in resource_requests(program)]
    found: dict[str, list[analyzer_pb2.AnalyzeDiagnostic]] = {}
    for answer in (*answers, servicer.AnalyzeStack(stack_request(program), None)):
        for diagnostic in answer.diagnostics:
            found.setdefault(diagnostic.policyName, []).append(diagnostic)
    return found


def test_a_suppressed_violation_is_an_advisory_that_names_rule_day_and_reason():
    found = findings(VOLUME, ebs_encrypted={"suppressions": [HOLDS]})
    assert "ebs-encrypted" not in found
    assert "expired-suppressions" not in found
    (told,) = found["suppressions"]
    assert told.enforcementLevel == analyzer_pb2.ADVISORY
    assert told.urn == VOLUME.urn
    for word in ("ebs-encrypted", "2099-12-31", REASON, "scratch: ", "set encrypted to true"):
        assert word in told.message


def test_other_resources_still_count():
    found = findings(VOLUME, OTHER_VOLUME, ebs_encrypted={"suppressions": [HOLDS]})
    (diagnostic,) = found["ebs-encrypted"]
    assert "data: " in diagnostic.message


@pytest.mark.parametrize("resource", [VOLUME.urn, "scr*", "*:ebs/volume:Volume::scratch"])
def test_a_urn_and_a_pattern_mean_a_resource_too(resource):
    entry = HOLDS | {"resource": resource}
    found = findings(VOLUME, ebs_encrypted={"suppressions": [entry]})
    assert "ebs-encrypted" not in found


def test_a_rule_on_the_stack_is_suppressed_for_the_resource_at_fault():
    program = (
        template(),
        auto_scaling_group(vpcZoneIdentifiers=["subnet-a", "subnet-b"]),
        *EFA_NETWORK,
    )
    entry = HOLDS | {"resource": "p5-asg"}
    found = findings(*program, efa_single_zone={"suppressions": [entry]})
    assert "efa-single-zone" not in found
    assert "p5-asg: " in found["suppressions"][0].message


def test_an_expired_suppression_is_an_error_and_the_violation_counts_again():
    found = findings(VOLUME, ebs_encrypted={"suppressions": [EXPIRED]})
    (violation,) = found["ebs-encrypted"]
    assert violation.enforcementLevel == analyzer_pb2.MANDATORY
    (expired,) = found["expired-suppressions"]
    assert expired.enforcementLevel == analyzer_pb2.MANDATORY
    for message in (violation.message, expired.message):
        for word in ("scratch", "expired on 2020-01-31", REASON):
            assert word in message
    assert "ebs-encrypted" in expired.message
    assert "suppressions" not in found


def test_an_expired_suppression_of_nothing_is_an_error_too():
    encrypted = Declared(VOLUME.type, VOLUME.name, {"size": 100, "encrypted": True})
    found = findings(encrypted, ebs_encrypted={"suppressions": [EXPIRED]})
    assert list(found) == ["expired-suppressions"]


def test_a_suppression_that_covers_nothing_is_named():
    found = findings(OTHER_VOLUME, ebs_encrypted={"suppressions": [HOLDS]})
    (idle,) = found["suppressions"]
    assert idle.urn == ""
    assert "covers no violation; remove it" in idle.message


def test_a_suppression_that_was_renewed_holds_beside_the_expired_one():
    found = findings(VOLUME, ebs_encrypted={"suppressions": [EXPIRED, HOLDS]})
    assert "ebs-encrypted" not in found
    assert list(found) == ["suppressions", "expired-suppressions"]


def test_a_suppression_holds_to_the_end_of_its_last_day():
    entry = Suppression("rule", "scratch", "why", date(2027, 3, 1))
    for day, message in ((date(2027, 3, 1), None), (date(2027, 3, 2), "fault")):
        ledger = Ledger(lambda day=day: day)
        reported = ledger.judge([entry], "scratch", "urn", "fault")
        assert (reported and reported.partition(" (")[0]) == message


def test_brackets_in_a_name_are_no_pattern():
    entry = Suppression("rule", "node[*]", "why", date(2027, 3, 1))
    assert entry.covers("node[0]", "urn")
    assert not entry.covers("node0", "urn")


def schema_of(pack: Pack, rule: str) -> dict[str, object]:
    """Return the schema with which the engine checks a rule's configuration."""
    (policy,) = [p for p in pack.info().policies if p.name == rule]
    properties = json_format.MessageToDict(policy.configSchema.properties)
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize("rule", [policy.name for policy in POLICIES])
def test_every_rule_takes_suppressions(pack, rule):
    schema = schema_of(pack, rule)
    jsonschema.validate({"suppressions": [HOLDS]}, schema)
    assert suppressions_of(rule, {"suppressions": [HOLDS]})


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"resource": "scratch", "expires": "2099-12-31"}, id="no-reason"),
        pytest.param(HOLDS | {"reason": " "}, id="empty-reason"),
        pytest.param({"resource": "scratch", "reason": REASON}, id="no-day"),
        pytest.param(HOLDS | {"expires": "2099-02-30"}, id="no-such-day"),
        pytest.param(HOLDS | {"expires": "next year"}, id="day-in-words"),
        pytest.param(HOLDS | {"resource": "*"}, id="everything"),
        pytest.param(HOLDS | {"expiry": "2099-12-31"}, id="unknown-key"),
    ],
)
def test_a_half_suppression_does_not_fit_the_schema(pack, entry):
    checker = jsonschema.FormatChecker()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"suppressions": [entry]}, schema_of(pack, "ebs-encrypted"), format_checker=checker
        )
