"""Launch templates and instances require session tokens for instance metadata (IMDSv2).

Why:
    With IMDSv1, a forged request through any program on the node returns the credentials of the
    node role. The rule does not check the hop limit, which decides whether pods reach the service;
    `eks-hop-limit` does.
Fix:
    Set `http_tokens` to `required` in the metadata options. On EKS, set the hop limit to 1, or to 2
    if pods need instance metadata.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES, Launch
from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.rule import Config, resource_rule


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if facts.get("metadataOptions", "httpEndpoint") == "disabled":
        return
    tokens = facts.needed("metadataOptions", "httpTokens")
    if tokens in ("required", UNKNOWN):
        return
    if tokens is None and Launch(resource_type, facts).takes_the_rest_from_a_template:
        return
    yield (
        "its metadata service answers without a session token (IMDSv1), so a forged request "
        "through a program on the node gets the credentials of its role; set http_tokens of the "
        "metadata options to required (and the hop limit to 1, on EKS to 2 if pods need metadata)"
    )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["baseline", "E15", "H3"],
    types=LAUNCHES,
    check=_check,
)
