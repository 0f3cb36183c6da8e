"""VPC endpoints.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/vpcendpoint/
"""

from __future__ import annotations

from uuid import uuid4

from sandbox.providers.aws.account import Account, retag_ec2, tag_map, tag_specifications
from sandbox.providers.aws.resource import ResourceType, Values

_LISTS = {
    "routeTableIds": "RouteTableIds",
    "subnetIds": "SubnetIds",
    "securityGroupIds": "SecurityGroupIds",
}


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    lists = {aws: inputs[name] for name, aws in _LISTS.items() if inputs.get(name)}
    made = account.client("ec2").create_vpc_endpoint(
        VpcId=inputs["vpcId"],
        ServiceName=inputs["serviceName"],
        ClientToken=str(uuid4()),
        VpcEndpointType=inputs["vpcEndpointType"],
        PrivateDnsEnabled=inputs.get("privateDnsEnabled", False),
        TagSpecifications=tag_specifications("vpc-endpoint", inputs),
        **lists,
    )
    return made["VpcEndpoint"]["VpcEndpointId"], {}


def _read(account: Account, endpoint_id: str) -> Values:
    found = account.client("ec2").describe_vpc_endpoints(VpcEndpointIds=[endpoint_id])
    endpoint = found["VpcEndpoints"][0]
    return {
        "arn": account.arn("ec2", f"vpc-endpoint/{endpoint_id}"),
        "vpcId": endpoint["VpcId"],
        "serviceName": endpoint["ServiceName"],
        "vpcEndpointType": endpoint["VpcEndpointType"],
        "privateDnsEnabled": endpoint["PrivateDnsEnabled"],
        "state": endpoint["State"],
        "routeTableIds": endpoint.get("RouteTableIds") or None,
        "subnetIds": endpoint.get("SubnetIds") or None,
        "securityGroupIds": [group["GroupId"] for group in endpoint.get("Groups", [])] or None,
        "networkInterfaceIds": endpoint.get("NetworkInterfaceIds", []),
        "tags": tag_map(endpoint.get("Tags")) or None,
    }


def _update(account: Account, endpoint_id: str, olds: Values, news: Values) -> None:
    changes = {}
    for name, aws in _LISTS.items():
        before, after = olds.get(name) or [], news.get(name) or []
        added = [each for each in after if each not in before]
        removed = [each for each in before if each not in after]
        changes |= {f"Add{aws}": added} if added else {}
        changes |= {f"Remove{aws}": removed} if removed else {}
    if changes:
        account.client("ec2").modify_vpc_endpoint(VpcEndpointId=endpoint_id, **changes)
    retag_ec2(account, endpoint_id, olds, news)


def _delete(account: Account, endpoint_id: str, outputs: Values) -> None:
    account.client("ec2").delete_vpc_endpoints(VpcEndpointIds=[endpoint_id])


VPC_ENDPOINT = ResourceType(
    token="aws:ec2/vpcEndpoint:VpcEndpoint",
    inputs=frozenset(
        {"vpcId", "serviceName", "vpcEndpointType", "privateDnsEnabled", "tags", *_LISTS}
    ),
    required=frozenset({"vpcId"}),
    computed=frozenset({"arn", "state", "networkInterfaceIds"}),
    replace_on=frozenset({"vpcId", "serviceName", "vpcEndpointType", "privateDnsEnabled"}),
    defaults={"vpcEndpointType": "Gateway"},
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)

RESOURCE_TYPES = (VPC_ENDPOINT,)
