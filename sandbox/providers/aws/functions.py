"""The functions of pulumi-aws that the sandbox answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.providers._protocol.values import secret
from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import Values


def _partition(account: Account, arguments: Values) -> Values:
    suffix = "amazonaws.com.cn" if account.partition == "aws-cn" else "amazonaws.com"
    return {
        "id": account.partition,
        "partition": account.partition,
        "dnsSuffix": suffix,
        "reverseDnsPrefix": ".".join(reversed(suffix.split("."))),
    }


def _region(account: Account, arguments: Values) -> Values:
    return {"id": account.region, "name": account.region, "region": account.region}


def _caller_identity(account: Account, arguments: Values) -> Values:
    identity = account.client("sts").get_caller_identity()
    return {
        "id": identity["Account"],
        "accountId": identity["Account"],
        "arn": identity["Arn"],
        "userId": identity["UserId"],
    }


def _parameter(account: Account, arguments: Values) -> Values:
    found = account.client("ssm").get_parameter(Name=arguments["name"])["Parameter"]
    return {
        "id": found["Name"],
        "name": found["Name"],
        "arn": found["ARN"],
        "type": found["Type"],
        "value": secret(found["Value"]),
        "insecureValue": found["Value"],
        "version": found["Version"],
    }


FUNCTIONS: Mapping[str, Callable[[Account, Values], Values]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
    "aws:ssm/getParameter:getParameter": _parameter,
}
"""By token: arguments to answer."""
