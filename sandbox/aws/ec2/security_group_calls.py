"""Calls on security groups and their rules, where moto differs from EC2.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteSecurityGroup.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifySecurityGroupRules.html
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SecurityGroupRuleRequest.html
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NoReturn

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse

_PROTOCOLS = {"6": "tcp", "17": "udp", "1": "icmp", "58": "icmpv6", "all": "-1"}
"""Protocol names by number (IANA), and the value for all protocols, as in rules."""
_PEERS = ("CidrIpv4", "CidrIpv6", "PrefixListId", "ReferencedGroupId")
"""Request fields of which exactly one is required."""


class SecurityGroupCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def delete_security_group(self) -> ActionResult:
        """DeleteSecurityGroup, by id or name; rejected while the group is in use."""
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

    def modify_security_group_rules(self) -> ActionResult:
        """ModifySecurityGroupRules; atomic, so one invalid rule rejects the request."""
        self.error_on_dryrun()
        group_id = self._get_param("GroupId")
        group = known_group(self.ec2_backend, group_id)
        changed: dict[str, Any] = {}
        for update in self._get_param("SecurityGroupRules", []):
            rule_id = update["SecurityGroupRuleId"]
            rule = group.get_rule(rule_id)
            if rule is None:
                _refuse_rule_id(rule_id)
            request = update.get("SecurityGroupRule") or {}
            changed[rule_id] = _changed(self.ec2_backend, rule, request)
        for rules in (group.ingress_rules, group.egress_rules):
            permitted = [_permits(changed.get(rule.id, rule)) for rule in rules]
            if len(set(permitted)) < len(permitted):
                refuse("InvalidPermission.Duplicate", "The specified rule already exists")
        for rule_id, new in changed.items():
            vars(group.get_rule(rule_id)).update(vars(new))
        return ActionResult({"Return": True})

    def _check_rule_ids(self) -> None:
        """Reject ids of missing rules, with EC2's error code for ids.

        Raises:
            EC2ClientError: InvalidSecurityGroupRuleId.NotFound.
        """
        every = (g for groups in self.ec2_backend.groups.values() for g in groups.values())
        known = {rule.id for g in every for rule in (*g.ingress_rules, *g.egress_rules)}
        for rule_id in self._get_param("SecurityGroupRuleIds", []):
            if rule_id not in known:
                _refuse_rule_id(rule_id)


def _refuse_rule_id(rule_id: str) -> NoReturn:
    refuse(
        "InvalidSecurityGroupRuleId.NotFound",
        f"The security group rule ID '{rule_id}' does not exist",
    )


def _changed(ec2: Any, rule: Any, request: Mapping[str, Any]) -> Any:
    """Return a copy of a rule with the requested changes; an omitted description stays.

    Raises:
        EC2ClientError: MissingParameter, InvalidParameterCombination, InvalidParameterValue,
            InvalidGroup.NotFound, InvalidPrefixListID.NotFound.
    """
    changed, peer = copy(rule), _asked_peer(rule, request)
    changed.ip_protocol, changed.from_port, changed.to_port = _protocol_and_ports(request)
    value, description = request[peer], request.get("Description") or rule.description
    described = {"Description": description} if description else {}
    if peer == "ReferencedGroupId":
        known_group(ec2, value)
        owner = {"OwnerId": ec2.account_id, "UserId": ec2.account_id}
        changed.source_group = {"GroupId": value, **owner, **described}
        return changed
    if peer == "PrefixListId":
        if value not in ec2.managed_prefix_lists:
            message = f"The prefix list ID '{value}' does not exist"
            refuse("InvalidPrefixListID.NotFound", message)
        changed.prefix_list_id, changed.ip_range = value, described
    elif peer == "CidrIpv6":
        changed.ip_range = {"CidrIpv6": _network(value, version=6), **described}
    else:
        changed.ip_range = {"CidrIp": _network(value, version=4), **described}
    return changed


def _asked_peer(rule: Any, request: Mapping[str, Any]) -> str:
    """Return the request field that specifies the peer.

    Raises:
        EC2ClientError: MissingParameter, InvalidParameterCombination, or InvalidParameterValue if
            the rule has another type of peer.
    """
    given = [peer for peer in _PEERS if request.get(peer)]
    if not given:
        refuse("MissingParameter", f"The request must contain exactly one of: {', '.join(_PEERS)}")
    if len(given) > 1:
        refuse("InvalidParameterCombination", f"Only one of {', '.join(_PEERS)} can be specified")
    (peer,) = given
    if peer != _peer(rule):
        refuse(
            "InvalidParameterValue",
            f"Invalid rule type for security group rule '{rule.id}'. You may not specify {peer} "
            f"for an existing {_peer(rule)} rule.",
        )
    return peer


def _protocol_and_ports(request: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """Return the requested protocol and ports, in the form of a rule.

    Raises:
        EC2ClientError: InvalidParameterValue.
    """
    asked: str | None = request.get("IpProtocol")
    if not asked:
        refuse(
            "InvalidParameterValue",
            "Invalid value 'null' for protocol. VPC security group rules must specify protocols "
            "explicitly.",
        )
    named = asked.lower()
    protocol = _PROTOCOLS.get(named, named)
    if protocol == "-1":
        return protocol, None, None
    ports = [request.get("FromPort"), request.get("ToPort")]
    if protocol in {"tcp", "udp"} and None in ports:
        refuse(
            "InvalidParameterValue",
            "Invalid value for portRange. Must specify both from and to ports with TCP/UDP.",
        )
    start, end = (None if port is None else int(port) for port in ports)
    return protocol, start, end


def _network(text: str, *, version: int) -> str:
    """Return the canonical form of a CIDR block, which AWS stores.

    Raises:
        EC2ClientError: InvalidParameterValue.
    """
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        network = None
    if network is None or network.version != version:
        refuse("InvalidParameterValue", f"invalid CIDR subnet specification: {text}")
    return str(network)


def _peer(rule: Any) -> str:
    """Return the request field that specifies the peer of a rule."""
    if rule.source_group:
        return "ReferencedGroupId"
    if rule.prefix_list_id:
        return "PrefixListId"
    return "CidrIpv6" if rule.cidr_ipv6 else "CidrIpv4"


def _permits(rule: Any) -> tuple[object, ...]:
    """Return the identity of a rule within its direction, without the description."""
    peers = (rule.cidr_ipv4, rule.cidr_ipv6, rule.prefix_list_id, rule.source_group.get("GroupId"))
    return (rule.ip_protocol, rule.from_port, rule.to_port, *peers)


def known_group(ec2: Any, group_id: str) -> Any:
    """Return a security group.

    Raises:
        EC2ClientError: InvalidGroup.NotFound.
    """
    group = ec2.get_security_group_from_id(group_id)
    if group is None:
        refuse("InvalidGroup.NotFound", f"The security group '{group_id}' does not exist")
    return group


def users_of(ec2: Any, group_id: str) -> Iterator[str]:
    """Yield the ids of the users of a security group: interfaces, and rules of other groups."""
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
