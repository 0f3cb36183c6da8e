"""Prices from `GetProducts` of the AWS Price List.

Sources:
    https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
    https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

from trainyard.components.catalog.prices import Price
from trainyard.cost.price_queries import Query, query_of

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
