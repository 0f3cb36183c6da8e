"""Template errors that CloudFormation refuses and that its emulator would accept."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.sandbox.aws.cloudformation.templates import template_fault

CUSTOM = {"Type": "Custom::Thing", "Properties": {"ServiceToken": "arn"}}
NESTED = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://…"}}


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ({"Resources": {"A": CUSTOM, "B": NESTED}, "Outputs": {}}, None),
        ({"Resorces": {}}, "Invalid template property or properties [Resorces]"),
        ({"Resources": {"A": {**CUSTOM, "Depends": "B"}}}, "resource property 'Depends'"),
        ({"Resources": {"A": {"Type": "Custom::Thing"}}}, "Missing required property ServiceToken"),
        (
            {"Resources": {"B": {**NESTED, "Properties": {"TemplateUrl": "…"}}}},
            "Encountered unsupported property TemplateUrl in resource B",
        ),
    ],
)
def test_a_template_is_refused_in_cloudformations_words(
    template: dict[str, Any], fault: str | None
) -> None:
    found = template_fault(template)
    assert found is None if fault is None else fault in (found or "")
