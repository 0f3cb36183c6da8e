"""Accelerated nodes of EKS use the disks that they came with.

Why:
    A p5.48xlarge has 30 TB of NVMe, and Amazon Linux 2023 leaves it unformatted unless nodeadm is
    told what to do with it. Images of 20 GB and shards of data then go to the root volume, and
    pulls and data loading are slow on the most expensive nodes there are.
Fix:
    Set `spec.instance.localStorage.strategy: RAID0` in the NodeConfig of the user data.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/al2023.html
    https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.props import Facts
from policies.resources.types import LAUNCH_TEMPLATE
from policies.rule import Config, on_types

_NODEADM = "node.eks.aws"


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    instance_type = INSTANCE_TYPES.get(facts.get("instanceType"))
    if instance_type is None or not instance_type.accelerators:
        return
    if not instance_type.local_nvme_disks:
        return
    script = _decoded(facts.needed("userData"))
    # A node that says nothing to nodeadm may format its disks in a way of its own.
    if _NODEADM in script and "localStorage" not in script and "mkfs" not in script:
        yield (
            f"its {instance_type.local_nvme_gb} GB of local NVMe stay unformatted; set "
            "spec.instance.localStorage.strategy to RAID0 in the NodeConfig of user_data"
        )


def _decoded(text: object) -> str:
    if not isinstance(text, str):
        return ""
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", errors="replace")
    except binascii.Error:
        return text


POLICY = ResourceValidationPolicy(
    name="eks-local-storage",
    display_name="Accelerated nodes use their local disks",
    description="Launch templates with a NodeConfig for types with local disks format them.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["kubernetes", "storage", "G9"],
    remediation_steps="Set localStorage.strategy to RAID0.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/al2023.html",
    validate=on_types(LAUNCH_TEMPLATE, check=_check),
)
