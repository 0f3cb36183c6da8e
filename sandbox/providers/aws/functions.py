"""The functions of pulumi-aws that the sandbox answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers._protocol.values import secret
from sandbox.providers.aws.account import Account, tag_map
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


def _subnet(account: Account, arguments: Values) -> Values:
    other = sorted(arguments.keys() - {"id"})
    if other:
        raise ProviderError(f"aws:ec2/getSubnet: the sandbox finds subnets by id, not by {other}")
    found = account.client("ec2").describe_subnets(SubnetIds=[arguments["id"]])["Subnets"][0]
    return {
        "id": found["SubnetId"],
        "arn": found["SubnetArn"],
        "availabilityZone": found["AvailabilityZone"],
        "availabilityZoneId": found["AvailabilityZoneId"],
        "availableIpAddressCount": found["AvailableIpAddressCount"],
        "cidrBlock": found["CidrBlock"],
        "mapPublicIpOnLaunch": found["MapPublicIpOnLaunch"],
        "ownerId": found["OwnerId"],
        "state": found["State"],
        "vpcId": found["VpcId"],
    }


def _stack(account: Account, arguments: Values) -> Values:
    client, name = account.client("cloudformation"), arguments["name"]
    found = client.describe_stacks(StackName=name)["Stacks"][0]
    return {
        "id": found["StackId"],
        "name": name,
        "description": found.get("Description", ""),
        "capabilities": found.get("Capabilities", []),
        "disableRollback": found.get("DisableRollback", False),
        "outputs": {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])},
        "parameters": {
            each["ParameterKey"]: each["ParameterValue"] for each in found.get("Parameters", [])
        },
        "tags": tag_map(found.get("Tags")),
        "timeoutInMinutes": found.get("TimeoutInMinutes", 0),
    }


FUNCTIONS: Mapping[str, Callable[[Account, Values], Values]] = {
    "aws:cloudformation/getStack:getStack": _stack,
    "aws:ec2/getSubnet:getSubnet": _subnet,
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
    "aws:ssm/getParameter:getParameter": _parameter,
}
"""By token: arguments to answer."""
