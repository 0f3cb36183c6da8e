"""Options of an existing object of a VPC that becomes a resource of the stack."""

from __future__ import annotations

import pulumi

LEFT_AS_IT_IS = (
    "assignGeneratedIpv6CidrBlock",
    "assignIpv6AddressOnCreation",
    "customerOwnedIpv4Pool",
    "enableDns64",
    "enableNetworkAddressUsageMetrics",
    "enableResourceNameDnsARecordOnLaunch",
    "enableResourceNameDnsAaaaRecordOnLaunch",
    "instanceTenancy",
    "ipv6CidrBlock",
    "ipv6CidrBlockNetworkBorderGroup",
    "mapPublicIpOnLaunch",
    "policy",
    "privateDnsHostnameTypeOnLaunch",
    "tags",
)
"""Properties of VPCs, subnets and endpoints that a stack file does not describe.

Names: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/
"""


def adopting(options: pulumi.ResourceOptions, import_id: str | None) -> pulumi.ResourceOptions:
    """Return options that import an object, protect it and keep it in the account.

    `import_id` is None for an object that the stack creates, which keeps its options.
    """
    if import_id is not None:
        options.import_ = import_id
        options.ignore_changes = [*LEFT_AS_IT_IS]
        options.protect = options.retain_on_delete = True
    return options
