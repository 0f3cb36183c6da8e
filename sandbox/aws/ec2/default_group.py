"""Security groups as EC2 creates them; moto omits a rule of the default group.

https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html
"""

from __future__ import annotations

from typing import Any

from moto.ec2.models.security_groups import SecurityGroup, SecurityGroupRule


class Ec2SecurityGroup(SecurityGroup):
    """A security group; the default one of a VPC admits its members."""

    def __init__(self, ec2_backend: Any, group_id: str, *arguments: Any, **settings: Any) -> None:
        super().__init__(ec2_backend, group_id, *arguments, **settings)
        if self.is_default:
            members = {"GroupId": self.id, "OwnerId": self.owner_id, "UserId": self.owner_id}
            rule: Any = SecurityGroupRule(
                ec2_backend, "-1", self.id, None, None, None, members, is_egress=False
            )
            self.ingress_rules.append(rule)
