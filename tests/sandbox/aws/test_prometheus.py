"""Collectors of Amazon Managed Service for Prometheus."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.monitoring import WORKSPACE_ARN
from tests.support.sandbox_aws import PRIVATE_A, PRIVATE_B, Account, refused

OPEN = {"subnetIds": [PRIVATE_A, PRIVATE_B], "endpointPrivateAccess": True}


def asked(cluster: dict[str, Any], **changes: Any) -> dict[str, Any]:
    source = {"clusterArn": cluster["arn"], "subnetIds": [PRIVATE_A, PRIVATE_B]}
    return {
        "alias": "c",
        "source": {"eksConfiguration": source},
        "destination": {"ampConfiguration": {"workspaceArn": WORKSPACE_ARN}},
        "scrapeConfiguration": {"configurationBlob": b"scrape_configs: []"},
        "tags": {"team": "a"},
        **changes,
    }


def test_a_collector_is_described_as_given_until_it_is_deleted(account: Account) -> None:
    client = account.client("amp")
    given = asked(account.cluster("c", resourcesVpcConfig=OPEN))
    made = client.create_scraper(**given)["scraperId"]
    found = client.describe_scraper(scraperId=made)["scraper"]
    assert {key: found[key] for key in given} == given
    assert found["status"] == {"statusCode": "ACTIVE"}
    other = {"configurationBlob": b"global: {}"}
    client.update_scraper(scraperId=made, scrapeConfiguration=other)
    assert client.describe_scraper(scraperId=made)["scraper"]["scrapeConfiguration"] == other
    assert [each["scraperId"] for each in client.list_scrapers()["scrapers"]] == [made]
    client.delete_scraper(scraperId=made)
    with refused("ResourceNotFoundException"):
        client.describe_scraper(scraperId=made)


@pytest.mark.parametrize(
    ("network", "subnets", "workspace", "code"),
    [
        ({**OPEN, "endpointPrivateAccess": False}, OPEN["subnetIds"], "", "ValidationException"),
        (OPEN, [PRIVATE_A], "", "ValidationException"),
        (OPEN, OPEN["subnetIds"], "0", "ResourceNotFoundException"),
    ],
)
def test_a_collector_needs_a_private_endpoint_two_zones_and_a_workspace(
    account: Account, network: dict[str, Any], subnets: list[str], workspace: str, code: str
) -> None:
    given = asked(account.cluster("c", resourcesVpcConfig=network))
    given["source"]["eksConfiguration"]["subnetIds"] = subnets
    given["destination"]["ampConfiguration"]["workspaceArn"] += workspace
    with refused(code):
        account.client("amp").create_scraper(**given)
