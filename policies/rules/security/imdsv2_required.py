"""Instances give their credentials only to callers with a session token (IMDSv2).

Why:
    With version 1 of the instance metadata service any request that a program on the node can be
    talked into making returns the credentials of the node's role. The hop limit is no part of
    this rule: pods that are not on the host network need 2, and the limit of 1 that general rule
    sets ask for cuts them off.
Fix:
    Set `http_tokens` to `required` in the metadata options, with a hop limit of 2 on EKS.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import LAUNCHES, Launch
from policies.resources.props import UNKNOWN, Facts
from policies.rule import Config, on_types


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if facts.get("metadataOptions", "httpEndpoint") == "disabled":
        return
    tokens = facts.needed("metadataOptions", "httpTokens")
    if tokens in ("required", UNKNOWN):
        return
    if tokens is None and Launch(resource_type, facts).takes_the_rest_from_a_template:
        return
    yield (
        "its metadata service answers without a session token (IMDSv1), so a request forged "
        "through a program on the node gets the credentials of its role; set http_tokens of the "
        "metadata options to required (and the hop limit to 2 on EKS, for pods)"
    )


POLICY = ResourceValidationPolicy(
    name="imdsv2-required",
    display_name="Instance metadata needs a session token",
    description="Launch templates and instances require IMDSv2.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["security", "baseline", "E15", "H3"],
    remediation_steps="Set http_tokens to required in the metadata options.",
    url=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/"
        "configuring-instance-metadata-service.html"
    ),
    validate=on_types(*LAUNCHES, check=_check),
)
