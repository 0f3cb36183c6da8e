"""Security groups and their standalone rules.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/vpc/securitygroupingressrule/
"""

from __future__ import annotations

from typing import Any, Literal

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, is_missing, retag_ec2, tag_list, tag_map
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.retries import until_propagated

Direction = Literal["ingress", "egress"]


def _create_group(account: Account, inputs: Values) -> tuple[str, Values]:
    ec2 = account.client("ec2")
    group_id = ec2.create_security_group(
        GroupName=inputs["name"],
        Description=inputs["description"],
        VpcId=inputs["vpcId"],
        TagSpecifications=_tags("security-group", inputs),
    )["GroupId"]
    return group_id, {}


def _settle_group(account: Account, group_id: str, inputs: Values) -> None:
    """Take away the rule that AWS puts into every new group, as the official provider does."""
    ec2 = account.client("ec2")
    found = until_propagated(
        lambda: ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0], is_missing
    )
    if found["IpPermissionsEgress"]:
        ec2.revoke_security_group_egress(
            GroupId=group_id, IpPermissions=found["IpPermissionsEgress"]
        )


def _read_group(account: Account, group_id: str) -> Values:
    found = account.client("ec2").describe_security_groups(GroupIds=[group_id])
    group = found["SecurityGroups"][0]
    return {
        "arn": account.arn("ec2", f"security-group/{group_id}"),
        "name": group["GroupName"],
        "description": group["Description"],
        "vpcId": group["VpcId"],
        "ownerId": group["OwnerId"],
        "tags": tag_map(group.get("Tags")) or None,
    }


def _delete_group(account: Account, group_id: str, outputs: Values) -> None:
    account.client("ec2").delete_security_group(GroupId=group_id)


SECURITY_GROUP = ResourceType(
    token="aws:ec2/securityGroup:SecurityGroup",
    inputs=frozenset({"name", "description", "vpcId", "tags", "revokeRulesOnDelete"}),
    required=frozenset({"vpcId"}),
    computed=frozenset({"arn", "ownerId"}),
    replace_on=frozenset({"name", "description", "vpcId"}),
    name_property="name",
    defaults={"description": "Managed by Pulumi"},
    create=_create_group,
    settle=_settle_group,
    read=_read_group,
    update=retag_ec2,
    delete=_delete_group,
)

PEERS = {
    "cidrIpv4": "CidrIpv4",
    "cidrIpv6": "CidrIpv6",
    "prefixListId": "PrefixListId",
    "referencedSecurityGroupId": "ReferencedSecurityGroupId",
}


def _permission(inputs: Values) -> dict[str, Any]:
    permission: dict[str, Any] = {"IpProtocol": inputs["ipProtocol"]}
    if inputs["ipProtocol"] != "-1":
        permission |= {"FromPort": inputs["fromPort"], "ToPort": inputs["toPort"]}
    text = {"Description": inputs["description"]} if inputs.get("description") else {}
    if "referencedSecurityGroupId" in inputs:
        pair = {"GroupId": inputs["referencedSecurityGroupId"], **text}
        permission["UserIdGroupPairs"] = [pair]
    elif "cidrIpv4" in inputs:
        permission["IpRanges"] = [{"CidrIp": inputs["cidrIpv4"], **text}]
    elif "cidrIpv6" in inputs:
        permission["Ipv6Ranges"] = [{"CidrIpv6": inputs["cidrIpv6"], **text}]
    else:
        raise ProviderError("a rule needs one of referencedSecurityGroupId, cidrIpv4 and cidrIpv6")
    return permission


def _other_kind_of_peer(olds: Values, news: Values) -> list[str]:
    """Return the peers of a rule that has another kind of peer, which EC2 does not change.

    https://github.com/hashicorp/terraform-provider-aws,
    internal/service/ec2/vpc_security_group_ingress_rule.go: `ModifyPlan`; all but the group and the
    kind of peer changes in place.
    """
    before, after = ({name for name in PEERS if name in each} for each in (olds, news))
    return [] if before == after else sorted(before ^ after)


def _update_rule(account: Account, rule_id: str, olds: Values, news: Values) -> None:
    moved = [name for name in PEERS if olds.get(name) != news.get(name) and name != "cidrIpv4"]
    if moved:
        raise ProviderError(
            f"the sandbox's account does not change {moved[0]} of a rule that exists, as AWS does; "
            "destroy the stack and bring it up again"
        )
    said = ("ipProtocol", "fromPort", "toPort", "description", "cidrIpv4")
    if any(olds.get(key) != news.get(key) for key in said):
        account.client("ec2").modify_security_group_rules(
            GroupId=news["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": rule_id, "SecurityGroupRule": _rule(news)}],
        )
    retag_ec2(account, rule_id, olds, news)


def _rule(inputs: Values) -> dict[str, Any]:
    group = inputs.get("referencedSecurityGroupId")
    rule = {
        "IpProtocol": inputs["ipProtocol"],
        "FromPort": inputs.get("fromPort", -1),
        "ToPort": inputs.get("toPort", -1),
        "Description": inputs.get("description"),
        "ReferencedGroupId": group,
        "CidrIpv4": inputs.get("cidrIpv4"),
        "CidrIpv6": inputs.get("cidrIpv6"),
        "PrefixListId": inputs.get("prefixListId"),
    }
    return {key: value for key, value in rule.items() if value is not None}


def _rule_type(direction: Direction) -> ResourceType:
    noun = direction.capitalize()

    def create(account: Account, inputs: Values) -> tuple[str, Values]:
        ec2 = account.client("ec2")
        authorize = getattr(ec2, f"authorize_security_group_{direction}")
        answer = authorize(
            GroupId=inputs["securityGroupId"],
            IpPermissions=[_permission(inputs)],
            TagSpecifications=_tags("security-group-rule", inputs),
        )
        return answer["SecurityGroupRules"][0]["SecurityGroupRuleId"], {}

    def delete(account: Account, rule_id: str, outputs: Values) -> None:
        revoke = getattr(account.client("ec2"), f"revoke_security_group_{direction}")
        revoke(GroupId=outputs["securityGroupId"], SecurityGroupRuleIds=[rule_id])

    return ResourceType(
        token=f"aws:vpc/securityGroup{noun}Rule:SecurityGroup{noun}Rule",
        inputs=frozenset(
            {"securityGroupId", "ipProtocol", "fromPort", "toPort", "description", "tags", *PEERS}
        ),
        required=frozenset({"securityGroupId", "ipProtocol"}),
        computed=frozenset({"arn", "securityGroupRuleId"}),
        replace_on=frozenset({"securityGroupId"}),
        replace_when=_other_kind_of_peer,
        create=create,
        read=_read_rule,
        update=_update_rule,
        delete=delete,
    )


def _read_rule(account: Account, rule_id: str) -> Values | None:
    found = account.client("ec2").describe_security_group_rules(SecurityGroupRuleIds=[rule_id])
    if not found["SecurityGroupRules"]:
        return None
    rule = found["SecurityGroupRules"][0]
    rule["ReferencedSecurityGroupId"] = rule.get("ReferencedGroupInfo", {}).get("GroupId")
    all_traffic = rule["IpProtocol"] == "-1"
    return {
        "arn": account.arn("ec2", f"security-group-rule/{rule_id}"),
        "securityGroupRuleId": rule_id,
        "securityGroupId": rule["GroupId"],
        "ipProtocol": rule["IpProtocol"],
        "fromPort": None if all_traffic else rule["FromPort"],
        "toPort": None if all_traffic else rule["ToPort"],
        "description": rule.get("Description") or None,
        "tags": tag_map(rule.get("Tags")) or None,
        **{name: rule.get(aws) for name, aws in PEERS.items()},
    }


def _tags(resource_type: str, inputs: Values) -> list[dict[str, Any]]:
    tags = tag_list(inputs.get("tags"))
    return [{"ResourceType": resource_type, "Tags": tags}] if tags else []


RESOURCE_TYPES = (SECURITY_GROUP, _rule_type("ingress"), _rule_type("egress"))
