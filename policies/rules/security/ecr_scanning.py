"""Images are scanned when they are pushed.

Why:
    Training images carry whole distributions, and live longer than anybody looks at them. Basic
    scanning costs nothing.
Fix:
    Set `scan_on_push` in the repository's image scanning configuration, or scan the whole
    registry by an `aws.ecr.RegistryScanningConfiguration`.
Source:
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.props import UNKNOWN, is_true
from policies.resources.stack import Stack
from policies.resources.types import ECR_REGISTRY_SCANNING, ECR_REPOSITORY
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    # What the registry says goes before what its repositories say.
    if next(stack.of_type(ECR_REGISTRY_SCANNING), None) is not None:
        return
    for repository in stack.of_type(ECR_REPOSITORY):
        scan = stack.facts_of(repository.urn).get("imageScanningConfiguration", "scanOnPush")
        if scan is not UNKNOWN and not is_true(scan):
            yield (
                repository.urn,
                "its images are not scanned; set scan_on_push in image_scanning_configuration",
            )


POLICY = StackValidationPolicy(
    name="ecr-scanning",
    display_name="Images are scanned when they are pushed",
    description="ECR repositories scan on push, unless the registry is scanned as a whole.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["security", "baseline"],
    remediation_steps="Set scan_on_push.",
    url="https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-scanning.html",
    validate=on_stack(_check),
)
