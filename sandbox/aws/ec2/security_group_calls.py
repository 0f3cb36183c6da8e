"""Calls of security groups and their rules, where moto answers otherwise than EC2.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSecurityGroup.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from sandbox.aws.errors import refuse


class SecurityGroupCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def delete_security_group(self) -> ActionResult:
        """DeleteSecurityGroup, by id or by name; refused while something uses the group."""
        name = self._get_param("GroupId") or self._get_param("GroupName")
        group = self.ec2_backend.get_security_group_by_name_or_id(name)
        if group is not None and any(users_of(self.ec2_backend, group.id)):
            refuse("DependencyViolation", f"resource {group.id} has a dependent object")
        return super().delete_security_group()

    def revoke_security_group_ingress(self) -> ActionResult:
        """RevokeSecurityGroupIngress."""
        self._check_rule_ids()
        return super().revoke_security_group_ingress()

    def revoke_security_group_egress(self) -> ActionResult:
        """RevokeSecurityGroupEgress."""
        self._check_rule_ids()
        return super().revoke_security_group_egress()

    def _check_rule_ids(self) -> None:
        """Refuse ids of rules that are not there, with the code that EC2 has for ids.

        Raises:
            EC2ClientError: InvalidSecurityGroupRuleId.NotFound.
        """
        every = (g for groups in self.ec2_backend.groups.values() for g in groups.values())
        known = {rule.id for g in every for rule in (*g.ingress_rules, *g.egress_rules)}
        for rule_id in self._get_param("SecurityGroupRuleIds", []):
            if rule_id not in known:
                refuse(
                    "InvalidSecurityGroupRuleId.NotFound",
                    f"The security group rule ID '{rule_id}' does not exist",
                )


def users_of(ec2: Any, group_id: str) -> Iterator[str]:
    """Yield the ids of what keeps a security group: interfaces, and rules of other groups."""
    for interface in ec2.enis.values():
        if any(group.id == group_id for group in interface.group_set):
            yield interface.id
    for groups in ec2.groups.values():
        for other in groups.values():
            rules = [*other.ingress_rules, *other.egress_rules]
            if other.id != group_id and any(
                rule.source_group.get("GroupId") == group_id for rule in rules
            ):
                yield other.id
