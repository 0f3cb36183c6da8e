"""Resource groups of capacity reservations, and what is in them.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/resourcegroups/group/
"""

from __future__ import annotations

from typing import Any

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import Account, removed_tags
from sandbox.providers.aws.resource import ResourceType, Values


def _configuration(inputs: Values) -> list[dict[str, Any]]:
    return [
        {
            "Type": item["type"],
            "Parameters": [
                {"Name": each["name"], "Values": each["values"]}
                for each in item.get("parameters", [])
            ],
        }
        for item in inputs.get("configurations", [])
    ]


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    account.client("resource-groups").create_group(
        Name=inputs["name"],
        Description=inputs.get("description", ""),
        Configuration=_configuration(inputs),
        Tags=inputs.get("tags") or {},
    )
    return inputs["name"], {}


def _read(account: Account, name: str) -> Values:
    client = account.client("resource-groups")
    group = client.get_group(GroupName=name)["Group"]
    found = client.get_group_configuration(Group=name)["GroupConfiguration"]["Configuration"]
    return {
        "arn": group["GroupArn"],
        "name": group["Name"],
        "description": group.get("Description") or None,
        "configurations": [
            {
                "type": item["Type"],
                **_parameters(item.get("Parameters") or []),
            }
            for item in found
        ],
        "tags": client.get_tags(Arn=group["GroupArn"])["Tags"] or None,
    }


def _parameters(found: list[dict[str, Any]]) -> dict[str, Any]:
    if not found:
        return {}
    return {"parameters": [{"name": each["Name"], "values": each["Values"]} for each in found]}


def _update(account: Account, name: str, olds: Values, news: Values) -> None:
    client = account.client("resource-groups")
    client.update_group(GroupName=name, Description=news.get("description", ""))
    if olds.get("configurations") != news.get("configurations"):
        client.put_group_configuration(Group=name, Configuration=_configuration(news))
    arn = client.get_group(GroupName=name)["Group"]["GroupArn"]
    gone = removed_tags(olds, news)
    if gone:
        client.untag(Arn=arn, Keys=gone)
    if news.get("tags"):
        client.tag(Arn=arn, Tags=news["tags"])


def _delete(account: Account, name: str, outputs: Values) -> None:
    account.client("resource-groups").delete_group(GroupName=name)


GROUP = ResourceType(
    token="aws:resourcegroups/group:Group",
    inputs=frozenset({"name", "description", "configurations", "tags"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset({"name"}),
    name_property="name",
    name_limit=127,
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)


def _add(account: Account, inputs: Values) -> tuple[str, Values]:
    answer = account.client("resource-groups").group_resources(
        Group=inputs["groupArn"], ResourceArns=[inputs["resourceArn"]]
    )
    if answer["Failed"]:
        failed = answer["Failed"][0]
        raise ProviderError(f"{failed.get('ErrorCode')}: {failed.get('ErrorMessage')}")
    # The official provider's id: https://github.com/hashicorp/terraform-provider-aws,
    # internal/service/resourcegroups/resource.go
    return f"{inputs['groupArn']},{inputs['resourceArn']}", {}


def _read_member(account: Account, identifier: str) -> Values | None:
    group, _, resource = identifier.partition(",")
    answer = account.client("resource-groups").list_group_resources(Group=group)
    for each in answer["Resources"]:
        if each["Identifier"]["ResourceArn"] == resource:
            kind = each["Identifier"]["ResourceType"]
            return {"groupArn": group, "resourceArn": resource, "resourceType": kind}
    return None


def _remove(account: Account, identifier: str, outputs: Values) -> None:
    group, _, resource = identifier.partition(",")
    account.client("resource-groups").ungroup_resources(Group=group, ResourceArns=[resource])


RESOURCE = ResourceType(
    token="aws:resourcegroups/resource:Resource",
    inputs=frozenset({"groupArn", "resourceArn"}),
    required=frozenset({"groupArn", "resourceArn"}),
    computed=frozenset({"resourceType"}),
    replace_on=frozenset({"groupArn", "resourceArn"}),
    create=_add,
    read=_read_member,
    delete=_remove,
)

RESOURCE_TYPES = (GROUP, RESOURCE)
