"""Log groups of CloudWatch, and the flow logs of VPCs that are written there.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/cloudwatch/loggroup/ and
`ec2/flowlog/`
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import (
    Account,
    removed_tags,
    retag_ec2,
    tag_map,
    tag_specifications,
)
from sandbox.providers.aws.resource import ResourceType, Values


def _create_group(account: Account, inputs: Values) -> tuple[str, Values]:
    logs, tags = account.client("logs"), inputs.get("tags")
    logs.create_log_group(logGroupName=inputs["name"], **({"tags": tags} if tags else {}))
    return inputs["name"], {}


def _settle_group(account: Account, name: str, inputs: Values) -> None:
    _retain(account.client("logs"), inputs)


def _retain(logs: Any, inputs: Values) -> None:
    if inputs["retentionInDays"]:
        logs.put_retention_policy(
            logGroupName=inputs["name"], retentionInDays=int(inputs["retentionInDays"])
        )
    else:
        logs.delete_retention_policy(logGroupName=inputs["name"])


def _read_group(account: Account, name: str) -> Values | None:
    logs = account.client("logs")
    for page in logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=name):
        for group in page["logGroups"]:
            if group["logGroupName"] == name:
                arn = group["arn"].removesuffix(":*")
                return {
                    "arn": arn,
                    "name": name,
                    "retentionInDays": group.get("retentionInDays", 0),
                    "tags": logs.list_tags_for_resource(resourceArn=arn)["tags"] or None,
                }
    return None


def _update_group(account: Account, name: str, olds: Values, news: Values) -> None:
    logs, arn = account.client("logs"), account.arn("logs", f"log-group:{name}")
    _retain(logs, news)
    gone = removed_tags(olds, news)
    if gone:
        logs.untag_resource(resourceArn=arn, tagKeys=gone)
    if news.get("tags"):
        logs.tag_resource(resourceArn=arn, tags=news["tags"])


def _delete_group(account: Account, name: str, outputs: Values) -> None:
    account.client("logs").delete_log_group(logGroupName=name)


LOG_GROUP = ResourceType(
    token="aws:cloudwatch/logGroup:LogGroup",
    inputs=frozenset({"name", "retentionInDays", "skipDestroy", "tags"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset({"name"}),
    name_property="name",
    name_limit=512,
    defaults={"retentionInDays": 0, "skipDestroy": False},
    create=_create_group,
    settle=_settle_group,
    read=_read_group,
    update=_update_group,
    delete=_delete_group,
)


def _create_flow_log(account: Account, inputs: Values) -> tuple[str, Values]:
    if inputs["logDestinationType"] != "cloud-watch-logs":
        raise ProviderError("the sandbox writes flow logs to CloudWatch only")
    made = account.client("ec2").create_flow_logs(
        ClientToken=str(uuid4()),
        ResourceType="VPC",
        ResourceIds=[inputs["vpcId"]],
        TrafficType=inputs["trafficType"],
        LogDestinationType=inputs["logDestinationType"],
        LogGroupName=inputs["logDestination"].partition(":log-group:")[2],
        DeliverLogsPermissionArn=inputs["iamRoleArn"],
        MaxAggregationInterval=int(inputs["maxAggregationInterval"]),
        TagSpecifications=tag_specifications("vpc-flow-log", inputs),
    )
    if made["Unsuccessful"]:
        raise ProviderError(made["Unsuccessful"][0]["Error"]["Message"])
    return made["FlowLogIds"][0], {}


def _read_flow_log(account: Account, flow_log_id: str) -> Values | None:
    found = account.client("ec2").describe_flow_logs(FlowLogIds=[flow_log_id])["FlowLogs"]
    if not found:
        return None
    (log,) = found
    return {
        "arn": account.arn("ec2", f"vpc-flow-log/{flow_log_id}"),
        "vpcId": log["ResourceId"],
        "trafficType": log["TrafficType"],
        "logDestinationType": log["LogDestinationType"],
        "logDestination": account.arn("logs", f"log-group:{log['LogGroupName']}"),
        "iamRoleArn": log["DeliverLogsPermissionArn"],
        "maxAggregationInterval": int(log["MaxAggregationInterval"]),
        "tags": tag_map(log.get("Tags")) or None,
    }


def _delete_flow_log(account: Account, flow_log_id: str, outputs: Values) -> None:
    account.client("ec2").delete_flow_logs(FlowLogIds=[flow_log_id])


_FLOW_LOG = {
    "vpcId",
    "trafficType",
    "logDestinationType",
    "logDestination",
    "iamRoleArn",
    "maxAggregationInterval",
}

FLOW_LOG = ResourceType(
    token="aws:ec2/flowLog:FlowLog",
    inputs=frozenset({*_FLOW_LOG, "tags"}),
    required=frozenset({"vpcId", "logDestination", "iamRoleArn"}),
    computed=frozenset({"arn"}),
    replace_on=frozenset(_FLOW_LOG),
    defaults={
        "trafficType": "ALL",
        "logDestinationType": "cloud-watch-logs",
        "maxAggregationInterval": 600,
    },
    create=_create_flow_log,
    read=_read_flow_log,
    update=retag_ec2,
    delete=_delete_flow_log,
)

RESOURCE_TYPES = (LOG_GROUP, FLOW_LOG)
