"""Refresh the prices of the catalog from the AWS Price List.

    python -m tools.prices --region us-west-2
    python -m tools.prices --region us-west-2 --type p5.48xlarge --type p6-b200.48xlarge

It needs AWS credentials that allow `pricing:GetProducts`, and writes every price of the region that
the Price List has: of all services, and of the instance types that the catalog already prices there
or that are named. Prices that AWS does not list keep their value and date.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.catalog.prices import PRICES, Price
from trainyard.cost.price_list import (
    ENDPOINT_REGION,
    GET_PRODUCTS,
    QUERIES,
    AmbiguousPriceError,
    listed_prices,
)


def main(arguments: list[str] | None = None) -> int:
    """Write the current prices, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.prices")
    parser.add_argument("--region", required=True, help="region whose prices are refreshed")
    parser.add_argument("--type", action="append", default=[], help="further instance type")
    given = parser.parse_args(arguments)
    content: dict[str, Any] = json.loads(PRICES.read_text(encoding="utf-8"))
    before = content["regions"].get(given.region, {})
    instances = [key for key in before if key.startswith("ec2:")]
    keys = [*instances, *(f"ec2:{name}" for name in given.type), *QUERIES]
    client = boto3.client("pricing", region_name=ENDPOINT_REGION)
    try:
        found = listed_prices(client, given.region, keys, datetime.now(UTC).date())
    except (ClientError, BotoCoreError, AmbiguousPriceError) as error:
        sys.stderr.write(f"{GET_PRODUCTS}: {error}\nnothing was written\n")
        return 1
    PRICES.write_text(text(refreshed(content, given.region, found)), encoding="utf-8")
    for key in dict.fromkeys(keys):
        if key not in found:
            sys.stdout.write(f"not listed, unchanged: {key}\n")
    sys.stdout.write(f"{len(found)} prices of {given.region} in {PRICES}\n")
    return 0


def refreshed(content: dict[str, Any], region: str, found: dict[str, Price]) -> dict[str, Any]:
    """Return the content of the data file with the prices of a region."""
    prices = dict(content["regions"].get(region, {}))
    sources = dict(content["sources"])
    for key, price in found.items():
        name = f"price-list-{region}-{price.day}"
        sources[name] = {"title": price.source, "url": price.url, "date": price.day.isoformat()}
        prices[key] = {"usd": price.usd, "source": name}
    regions = {**content["regions"], region: prices}
    used = {each["source"] for found_in in regions.values() for each in found_in.values()}
    return {
        "sources": {name: each for name, each in sources.items() if name in used},
        "regions": regions,
    }


def text(content: dict[str, Any]) -> str:
    """Return the data file, with a line for each price, so that diffs show changed prices."""
    regions = ",\n".join(
        f"    {json.dumps(name)}: {{\n{_lines(prices, '      ')}\n    }}"
        for name, prices in sorted(content["regions"].items())
    )
    sources = _lines(content["sources"], "    ")
    return f'{{\n  "sources": {{\n{sources}\n  }},\n  "regions": {{\n{regions}\n  }}\n}}\n'


def _lines(mapping: dict[str, Any], indent: str) -> str:
    rows = (f"{indent}{json.dumps(key)}: {json.dumps(mapping[key])}" for key in sorted(mapping))
    return ",\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
