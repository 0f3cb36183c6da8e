"""Prices are read from answers of the shape of `GetProducts`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from tools.prices.__main__ import refreshed, text
from trainyard.components.catalog.prices import PRICES, Price, snapshot_prices
from trainyard.cost.price_list import QUERIES, AmbiguousPriceError, listed_prices, query_of

REGION = "us-west-2"
TODAY = date(2026, 11, 25)


def product(usage_type: str, *tiers: tuple[str, str], **attributes: str) -> str:
    """Return an entry of `PriceList`: a JSON text."""
    dimensions = {
        f"SKU.JRTCKXETXF.{number}": {
            "unit": "Hrs",
            "beginRange": begin,
            "endRange": "Inf",
            "pricePerUnit": {"USD": usd},
        }
        for number, (begin, usd) in enumerate(tiers)
    }
    return json.dumps(
        {
            "product": {"sku": "SKU", "attributes": {"usagetype": usage_type, **attributes}},
            "serviceCode": "AmazonEC2",
            "terms": {"OnDemand": {"SKU.JRTCKXETXF": {"priceDimensions": dimensions}}},
        }
    )


class Client:
    """Answers with pages of products, and records what it was asked."""

    def __init__(self, *pages: list[str]) -> None:
        self.pages = pages
        self.asked: list[dict[str, Any]] = []

    def get_paginator(self, operation: str) -> Client:
        assert operation == "get_products"
        return self

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:
        self.asked.append(asked)
        yield from ({"FormatVersion": "aws_v1", "PriceList": page} for page in self.pages)


def usd(client: Client, key: str) -> float | None:
    found = listed_prices(client, REGION, [key], TODAY)
    return found[key].usd if key in found else None


def test_an_instance_is_asked_for_by_region_type_and_system() -> None:
    client = Client([], [product("USW2-BoxUsage:p5.48xlarge", ("0", "55.0400000000"))])
    assert usd(client, "ec2:p5.48xlarge") == 55.04
    (asked,) = client.asked
    wanted = {each["Field"]: each["Value"] for each in asked["Filters"]}
    assert {each["Type"] for each in asked["Filters"]} == {"TERM_MATCH"}
    assert asked["ServiceCode"] == "AmazonEC2"
    assert wanted["regionCode"] == REGION
    assert wanted["instanceType"] == "p5.48xlarge"
    assert wanted["operatingSystem"] == "Linux"


def test_other_usage_types_of_the_answer_are_left_out() -> None:
    client = Client(
        [
            product("USW2-AmazonEKS-Hours:perCluster", ("0", "0.1000000000")),
            product("USW2-AmazonEKS-Hours:extendedSupport", ("0", "0.5000000000")),
            product("USW2-Other-AmazonEKS-Hours:perCluster", ("0", "0.3000000000")),
        ]
    )
    assert usd(client, "eks:cluster") == 0.1
    assert usd(client, "eks:extended-support") == 0.5


def test_throughput_is_converted_to_mib() -> None:
    client = Client([product("USW2-EBS:VolumeP-Throughput.gp3", ("0", "40.9600000000"))])
    assert usd(client, "ebs:gp3-throughput") == pytest.approx(0.04)


def test_the_first_tier_that_is_not_free_counts() -> None:
    tiers = (("0", "0.5000000000"), ("10240", "0.2500000000"))
    client = Client([product("USW2-DataProcessing-Bytes", *tiers)])
    assert usd(client, "cloudwatch:logs") == 0.5


def test_what_is_not_listed_has_no_price() -> None:
    assert usd(Client([]), "ec2:p5.48xlarge") is None
    assert usd(Client(), "spot:p5.48xlarge") is None


def test_several_prices_are_an_error_and_not_a_guess() -> None:
    both = [product("USW2-EBS:VolumeUsage.gp3", ("0", each)) for each in ("0.08", "0.09")]
    with pytest.raises(AmbiguousPriceError, match=r"ebs:gp3 in us-west-2: 0\.08, 0\.09"):
        usd(Client(both), "ebs:gp3")


def test_every_price_of_the_catalog_can_be_refreshed() -> None:
    keys = snapshot_prices(REGION)
    # A dashboard has one price worldwide, which is in no region of the Price List.
    assert {key for key in keys if query_of(key) is None} == {"cloudwatch:dashboard"}
    assert all(query_of(key) for key in QUERIES)


def test_a_refreshed_price_has_a_new_source_and_the_others_keep_theirs() -> None:
    content = json.loads(PRICES.read_text(encoding="utf-8"))
    new = Price(usd=0.09, source="AWS Price List", url="https://aws.amazon.com", day=TODAY)
    after = json.loads(text(refreshed(content, REGION, {"ebs:gp3": new})))
    gp3 = after["regions"][REGION].pop("ebs:gp3")
    assert gp3["usd"] == 0.09
    assert after["sources"][gp3["source"]]["date"] == "2026-11-25"
    before = content["regions"][REGION]
    del before["ebs:gp3"]
    assert after["regions"] == content["regions"]


def test_the_data_file_is_as_the_tool_writes_it() -> None:
    written = PRICES.read_text(encoding="utf-8")
    assert text(json.loads(written)) == written
