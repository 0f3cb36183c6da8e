"""Launch templates with a NodeConfig format the local NVMe disks of accelerated nodes.

Why:
    A p5.48xlarge has 30 TB of NVMe, and Amazon Linux 2023 does not format it unless nodeadm is
    configured to. Container images and data shards then use the root volume, which slows down image
    pulls and data loading.
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

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, resource_rule

_NODEADM = "node.eks.aws"


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    instance_type = INSTANCE_TYPES.get(facts.get("instanceType"))
    if instance_type is None or not instance_type.accelerators:
        return
    if not instance_type.local_nvme_disks:
        return
    script = _decoded(facts.needed("userData"))
    # User data without a NodeConfig may format the disks in another way.
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


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["storage", "G9"],
    types=(LAUNCH_TEMPLATE,),
    check=_check,
)
