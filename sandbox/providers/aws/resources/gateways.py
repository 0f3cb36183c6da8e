"""Internet gateways, public addresses and NAT gateways.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/ (`internetgateway`, `eip`,
`natgateway`)
"""

from __future__ import annotations

from sandbox.providers.aws.account import Account, retag_ec2, tag_map, tag_specifications
from sandbox.providers.aws.resource import ResourceType, Values


def _create_gateway(account: Account, inputs: Values) -> tuple[str, Values]:
    ec2 = account.client("ec2")
    gateway_id = ec2.create_internet_gateway(
        TagSpecifications=tag_specifications("internet-gateway", inputs)
    )["InternetGateway"]["InternetGatewayId"]
    return gateway_id, {}


def _settle_gateway(account: Account, gateway_id: str, inputs: Values) -> None:
    if inputs.get("vpcId"):
        account.client("ec2").attach_internet_gateway(
            InternetGatewayId=gateway_id, VpcId=inputs["vpcId"]
        )


def _read_gateway(account: Account, gateway_id: str) -> Values:
    found = account.client("ec2").describe_internet_gateways(InternetGatewayIds=[gateway_id])
    gateway = found["InternetGateways"][0]
    attached = [each["VpcId"] for each in gateway["Attachments"]]
    return {
        "arn": account.arn("ec2", f"internet-gateway/{gateway_id}"),
        "ownerId": gateway["OwnerId"],
        "vpcId": attached[0] if attached else None,
        "tags": tag_map(gateway.get("Tags")) or None,
    }


def _update_gateway(account: Account, gateway_id: str, olds: Values, news: Values) -> None:
    ec2, before, after = account.client("ec2"), olds.get("vpcId"), news.get("vpcId")
    if before != after and before:
        ec2.detach_internet_gateway(InternetGatewayId=gateway_id, VpcId=before)
    if before != after and after:
        ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=after)
    retag_ec2(account, gateway_id, olds, news)


def _delete_gateway(account: Account, gateway_id: str, outputs: Values) -> None:
    ec2 = account.client("ec2")
    if outputs.get("vpcId"):
        ec2.detach_internet_gateway(InternetGatewayId=gateway_id, VpcId=outputs["vpcId"])
    ec2.delete_internet_gateway(InternetGatewayId=gateway_id)


INTERNET_GATEWAY = ResourceType(
    token="aws:ec2/internetGateway:InternetGateway",
    inputs=frozenset({"vpcId", "tags"}),
    computed=frozenset({"arn", "ownerId"}),
    create=_create_gateway,
    settle=_settle_gateway,
    read=_read_gateway,
    update=_update_gateway,
    delete=_delete_gateway,
)


def _create_address(account: Account, inputs: Values) -> tuple[str, Values]:
    made = account.client("ec2").allocate_address(
        Domain=inputs.get("domain", "vpc"),
        TagSpecifications=tag_specifications("elastic-ip", inputs),
    )
    return made["AllocationId"], {}


def _read_address(account: Account, allocation_id: str) -> Values:
    found = account.client("ec2").describe_addresses(AllocationIds=[allocation_id])
    address = found["Addresses"][0]
    return {
        "arn": account.arn("ec2", f"elastic-ip/{allocation_id}"),
        "allocationId": allocation_id,
        "domain": address["Domain"],
        "publicIp": address["PublicIp"],
        "tags": tag_map(address.get("Tags")) or None,
    }


def _delete_address(account: Account, allocation_id: str, outputs: Values) -> None:
    account.client("ec2").release_address(AllocationId=allocation_id)


ADDRESS = ResourceType(
    token="aws:ec2/eip:Eip",
    inputs=frozenset({"domain", "tags"}),
    computed=frozenset({"arn", "allocationId", "domain", "publicIp"}),
    replace_on=frozenset({"domain"}),
    create=_create_address,
    read=_read_address,
    update=retag_ec2,
    delete=_delete_address,
)


def _create_nat_gateway(account: Account, inputs: Values) -> tuple[str, Values]:
    address = {"AllocationId": inputs["allocationId"]} if "allocationId" in inputs else {}
    made = account.client("ec2").create_nat_gateway(
        SubnetId=inputs["subnetId"],
        ConnectivityType=inputs["connectivityType"],
        TagSpecifications=tag_specifications("natgateway", inputs),
        **address,
    )
    return made["NatGateway"]["NatGatewayId"], {}


def _read_nat_gateway(account: Account, gateway_id: str) -> Values | None:
    found = account.client("ec2").describe_nat_gateways(NatGatewayIds=[gateway_id])["NatGateways"]
    if not found or found[0]["State"] in ("deleting", "deleted"):
        return None
    (gateway,) = found
    address = gateway["NatGatewayAddresses"][0]
    return {
        "subnetId": gateway["SubnetId"],
        "connectivityType": gateway["ConnectivityType"],
        "allocationId": address.get("AllocationId"),
        "associationId": address.get("AssociationId"),
        "networkInterfaceId": address["NetworkInterfaceId"],
        "privateIp": address["PrivateIp"],
        "publicIp": address.get("PublicIp"),
        "tags": tag_map(gateway.get("Tags")) or None,
    }


def _delete_nat_gateway(account: Account, gateway_id: str, outputs: Values) -> None:
    account.client("ec2").delete_nat_gateway(NatGatewayId=gateway_id)


NAT_GATEWAY = ResourceType(
    token="aws:ec2/natGateway:NatGateway",
    inputs=frozenset({"subnetId", "allocationId", "connectivityType", "tags"}),
    required=frozenset({"subnetId"}),
    computed=frozenset({"associationId", "networkInterfaceId", "privateIp", "publicIp"}),
    replace_on=frozenset({"subnetId", "allocationId", "connectivityType"}),
    defaults={"connectivityType": "public"},
    create=_create_nat_gateway,
    read=_read_nat_gateway,
    update=retag_ec2,
    delete=_delete_nat_gateway,
)

RESOURCE_TYPES = (INTERNET_GATEWAY, ADDRESS, NAT_GATEWAY)
