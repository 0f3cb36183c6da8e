"""IMDSv2, without a check of the hop limit, which would block pods (E15, H3)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, template
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.security.imdsv2_required import POLICY

VIOLATING = ((template("metadataOptions"), *EFA_NETWORK),)
CLEAN = ((template(), *EFA_NETWORK),)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template("metadataOptions"), id="no-options"),
        pytest.param(template(metadataOptions={"httpTokens": "optional"}), id="optional"),
        pytest.param(template(metadataOptions={"httpPutResponseHopLimit": 2}), id="hops-only"),
        pytest.param(Declared(INSTANCE, "bastion", {"instanceType": "t3.micro"}), id="instance"),
    ],
)
def test_fails(program):
    (message,) = check(POLICY, program).messages
    assert "set http_tokens of the metadata options to required" in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template(), id="required"),
        pytest.param(
            template(metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": 1}),
            id="one-hop",
        ),
        pytest.param(template(metadataOptions={"httpEndpoint": "disabled"}), id="disabled"),
        pytest.param(
            Declared(INSTANCE, "node", {"launchTemplate": {"id": UNKNOWN}}), id="from-a-template"
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, program)
    assert (found.messages, found.undecided) == ([], [])


def test_what_is_not_known_yet_is_said():
    found = check(POLICY, template(metadataOptions={"httpTokens": UNKNOWN}))
    assert found.messages == []
    assert "p5-template.metadataOptions.httpTokens" in found.undecided[0]
