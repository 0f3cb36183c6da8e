"""ECR repositories scan images on push, unless the registry has a scanning configuration.

Why:
    Training images contain many packages and stay in use for a long time, so they collect known
    vulnerabilities. Basic scanning is free.
Fix:
    Set `scan_on_push` in the image scanning configuration of the repository, or scan the whole
    registry with an `aws.ecr.RegistryScanningConfiguration`.
Source:
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import ECR_REGISTRY_SCANNING, ECR_REPOSITORY
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    # The configuration of the registry overrides that of its repositories.
    if next(stack.of_type(ECR_REGISTRY_SCANNING), None) is not None:
        return
    for repository in stack.of_type(ECR_REPOSITORY):
        scan = stack.facts_of(repository.urn).get("imageScanningConfiguration", "scanOnPush")
        if scan is not UNKNOWN and not is_true(scan):
            yield (
                repository.urn,
                "its images are not scanned; set scan_on_push in image_scanning_configuration",
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["baseline"],
    check=_check,
)
