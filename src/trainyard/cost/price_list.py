"""Prices of today from the AWS Price List, and what a stack costs at them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import failures
from trainyard.components import clock
from trainyard.components.account.reader import AccountUnreachableError
from trainyard.components.capacity.lookup import with_block_times
from trainyard.components.catalog.prices import Price, snapshot_prices
from trainyard.components.cost.item import Prices
from trainyard.cost.stack_cost import Cost, estimate_of, planned_cost
from trainyard.workspace.target import Target

# How the AWS Price List names the prices of the catalog.
#
# Sources of the fields and usage types:
#     https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
#     https://github.com/aws/karpenter-provider-aws, pkg/providers/pricing/pricing.go
#     for instances
#     https://github.com/infracost/infracost, internal/resources/aws (other services)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One product of the Price List in a region."""

    service: str
    """Service code."""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attributes that the product must have."""
    usage_type: str = ""
    """Usage type without the prefix of the region, such as `USW2-`; empty for any."""
    per: float = 1
    """Units of the catalog in a unit of the Price List: it has throughput in GiB/s."""


def _ebs(kind: str) -> Query:
    return Query(
        service="AmazonEC2", attributes={"productFamily": "Storage", "volumeApiName": kind}
    )


def _iops(kind: str, usage_type: str) -> Query:
    return Query(
        service="AmazonEC2",
        attributes={"productFamily": "System Operation", "volumeApiName": kind},
        usage_type=usage_type,
    )


def _lustre(usage_type: str) -> Query:
    return Query(
        service="AmazonFSx",
        attributes={"productFamily": "Storage", "fileSystemType": "Lustre"},
        usage_type=usage_type,
    )


def _open_zfs(family: str) -> Query:
    attributes = {"fileSystemType": "OpenZFS", "deploymentOption": "Single-AZ"}
    if family == "Storage":
        attributes["storageType"] = "SSD"
    return Query(service="AmazonFSx", attributes={"productFamily": family, **attributes})


def _nat(usage_type: str) -> Query:
    return Query(
        service="AmazonEC2", attributes={"productFamily": "NAT Gateway"}, usage_type=usage_type
    )


def _endpoint(usage_type: str) -> Query:
    return Query(
        service="AmazonVPC", attributes={"productFamily": "VpcEndpoint"}, usage_type=usage_type
    )


def _eks(usage_type: str) -> Query:
    return Query(
        service="AmazonEKS", attributes={"productFamily": "Compute"}, usage_type=usage_type
    )


QUERIES: Mapping[str, Query] = {
    "eks:cluster": _eks("AmazonEKS-Hours:perCluster"),
    # It is charged in addition to the cluster.
    "eks:extended-support": _eks("AmazonEKS-Hours:extendedSupport"),
    "vpc:nat-gateway": _nat("NatGateway-Hours"),
    "vpc:nat-gateway-data": _nat("NatGateway-Bytes"),
    "vpc:interface-endpoint": _endpoint("VpcEndpoint-Hours"),
    "vpc:interface-endpoint-data": _endpoint("VpcEndpoint-Bytes"),
    "vpc:public-ipv4": Query(service="AmazonVPC", usage_type="PublicIPv4:InUseAddress"),
    **{f"ebs:{kind}": _ebs(kind) for kind in ("gp2", "gp3", "io1", "io2", "st1", "sc1")},
    "ebs:standard": _ebs("standard"),
    "ebs:gp3-iops": _iops("gp3", "EBS:VolumeP-IOPS.gp3"),
    "ebs:io1-iops": _iops("io1", "EBS:VolumeP-IOPS.piops"),
    "ebs:io2-iops": _iops("io2", "EBS:VolumeP-IOPS.io2"),
    "ebs:gp3-throughput": Query(
        service="AmazonEC2",
        attributes={"productFamily": "Provisioned Throughput", "volumeApiName": "gp3"},
        usage_type="EBS:VolumeP-Throughput.gp3",
        per=1024,
    ),
    "fsx-lustre:SCRATCH_2": _lustre("Storage"),
    **{f"fsx-lustre:PERSISTENT_1:{n}": _lustre(f"Storage.SSD.{n}") for n in (50, 100, 200)},
    **{f"fsx-lustre:PERSISTENT_2:{n}": _lustre(f"Storage.SSD.{n}") for n in (125, 250, 500, 1000)},
    "fsx-openzfs:SINGLE_AZ_1": _open_zfs("Storage"),
    "fsx-openzfs:SINGLE_AZ_1:throughput": _open_zfs("Provisioned Throughput"),
    "efs:storage": Query(
        service="AmazonEFS",
        attributes={"productFamily": "Storage"},
        usage_type="TimedStorage-ByteHrs",
    ),
    "efs:provisioned-throughput": Query(
        service="AmazonEFS",
        attributes={"productFamily": "Provisioned Throughput"},
        usage_type="ProvisionedTP-MiBpsHrs",
    ),
    "cloudwatch:logs": Query(
        service="AmazonCloudWatch",
        attributes={"productFamily": "Data Payload"},
        usage_type="DataProcessing-Bytes",
    ),
    "cloudwatch:alarm": Query(
        service="AmazonCloudWatch",
        attributes={"productFamily": "Alarm", "alarmType": "Standard"},
        usage_type="CW:AlarmMonitorUsage",
    ),
    "ecr:storage": Query(
        service="AmazonECR",
        attributes={"productFamily": "EC2 Container Registry"},
        usage_type="TimedStorage-ByteHrs",
    ),
}
"""By key of the catalog, except instances. A dashboard has one price worldwide, and no region."""


def query_of(key: str) -> Query | None:
    """Return the query for a key of the catalog; None if the Price List is not asked for it."""
    service, _, name = key.partition(":")
    if service != "ec2":
        return QUERIES.get(key)
    return Query(
        service="AmazonEC2",
        attributes={
            "productFamily": "Compute Instance (bare metal)"
            if ".metal" in name
            else "Compute Instance",
            "tenancy": "Dedicated" if ".metal" in name else "Shared",
            "instanceType": name,
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
        },
    )


# Prices from `GetProducts` of the AWS Price List.
#
# Sources:
#     https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
#     https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html


ENDPOINT_REGION = "us-east-1"
"""Region of the endpoint, which knows the prices of all regions."""
GET_PRODUCTS = "pricing:GetProducts"
_URL = "https://aws.amazon.com/pricing/"


class AmbiguousPriceError(Exception):
    """The Price List has several prices for what should be one product."""


def listed_prices(client: Any, region: str, keys: Iterable[str], today: date) -> dict[str, Price]:
    """Return the current prices of a region by key; without those that AWS does not list.

    Args:
        client: A boto3 client of `pricing`.
        region: Region of the prices.
        keys: Keys of the catalog.
        today: Day of the answer.

    Raises:
        ClientError, BotoCoreError: AWS refuses or denies the call, or does not answer.
        AmbiguousPriceError: a query finds different prices.
    """
    found: dict[str, Price] = {}
    for key in dict.fromkeys(keys):
        query = query_of(key)
        usd = None if query is None else _price(client, region, key, query)
        if usd is not None:
            found[key] = Price(usd=usd, source=f"AWS Price List of {region}", url=_URL, day=today)
    return found


def _price(client: Any, region: str, key: str, query: Query) -> float | None:
    attributes = {"regionCode": region, **query.attributes}
    pages = client.get_paginator("get_products").paginate(
        ServiceCode=query.service,
        Filters=[
            {"Type": "TERM_MATCH", "Field": name, "Value": value}
            for name, value in attributes.items()
        ],
    )
    products = (json.loads(each) for page in pages for each in page["PriceList"])
    prices = {usd / query.per for each in products if _fits(each, query) for usd in _first(each)}
    if len(prices) > 1:
        listed = ", ".join(f"{each:g}" for each in sorted(prices))
        raise AmbiguousPriceError(
            f"the Price List has several prices for {key} in {region}: {listed}"
        )
    return next(iter(prices), None)


def _fits(product: Mapping[str, Any], query: Query) -> bool:
    """Return whether the usage type of a product is the wanted one, with any region's prefix."""
    found = product["product"]["attributes"].get("usagetype", "")
    wanted = re.escape(query.usage_type)
    return not wanted or re.fullmatch(rf"(?:[A-Z]{{2,4}}\d?-)?{wanted}", found) is not None


def _first(product: Mapping[str, Any]) -> Iterator[float]:
    """Yield the On-Demand price of the first tier, if it is not free."""
    for term in product.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = float(dimension["pricePerUnit"].get("USD", 0))
            if dimension.get("beginRange", "0") in ("0", "0.0000000000") and usd:
                yield usd


def current_cost(target: Target, *, listed: Callable[..., Prices] = listed_prices) -> Cost:
    """Return what a stack costs at the prices of the AWS Price List, if they can be read.

    The times of Capacity Blocks are read from the account. The sandbox has no Price List.

    Args:
        target: The stack and its account.
        listed: Reads the Price List.

    Raises:
        ConfigError: the configuration is invalid; a budget does not matter.
    """
    planned = planned_cost(target.stack_file)
    try:
        with target.access():
            return _in_account(target, planned, None if target.is_sandbox else listed)
    except (failures.CommandError, AccountUnreachableError) as error:
        why = re.split(r"[;\n]", str(error))[0]
        return planned._replace(notes=(f"the account was not read: {why}",))


def _in_account(target: Target, planned: Cost, listed: Callable[..., Prices] | None) -> Cost:
    stack_file = target.stack_file
    notes: list[str] = []
    config = planned.config
    if planned.estimate.blocks:
        reader = target.reader()
        config = with_block_times(config, reader)
        notes += [f"not read: {call}" for call in reader.not_read()]
    prices = snapshot_prices(stack_file.region)
    if listed is not None:
        keys = [each.key for each in planned.estimate.items]
        client = target.account.client("pricing", ENDPOINT_REGION)
        try:
            today = clock.now().date()
            prices = {**prices, **listed(client, stack_file.region, keys, today)}
        except (ClientError, BotoCoreError, AmbiguousPriceError) as error:
            notes.append(f"not read: {GET_PRODUCTS}: {error}; the prices are those of the snapshot")
    return Cost(estimate_of(stack_file, config, prices), config, tuple(notes))
