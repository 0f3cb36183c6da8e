"""Amazon Managed Service for Prometheus: collectors of EKS clusters, which moto does not have.

They read nothing. Network interfaces, service-linked roles and access entries that AWS makes for
them are not emulated, nor are sources other than clusters and destinations other than workspaces.

Sources:
    https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateScraper.html and the pages
    of DescribeScraper, UpdateScraper, DeleteScraper and ListScrapers
    https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html: subnets in
    two zones, private access of the cluster
"""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from moto.amp.exceptions import AmpException, ResourceNotFoundException
from moto.amp.responses import PrometheusServiceResponse
from moto.ec2.models import ec2_backends

from trainyard.sandbox.aws.eks.store import eks_stores
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.state import state_of

_ACTIVE = {"statusCode": "ACTIVE"}


@dataclass
class _Scrapers:
    """Descriptions of collectors, by id."""

    by_id: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])


class SandboxPrometheusResponse(PrometheusServiceResponse):
    """Requests of Prometheus, with collectors."""

    def create_scraper(self) -> str:
        """CreateScraper: the collector is there at once."""
        given = json.loads(self.body)
        self._check(given)
        scraper_id = f"s-{uuid.uuid4()}"
        role = f"AWSServiceRoleForAmazonPrometheusScraper_{scraper_id[2:15]}"
        made = {
            "scraperId": scraper_id,
            "arn": f"arn:aws:aps:{self.region}:{ACCOUNT_ID}:scraper/{scraper_id}",
            "roleArn": (
                f"arn:aws:iam::{ACCOUNT_ID}:role/aws-service-role/scraper.aps.amazonaws.com/{role}"
            ),
            "status": _ACTIVE,
            "createdAt": time.time(),
            **{key: given[key] for key in ("source", "destination", "scrapeConfiguration")},
            **({"alias": given["alias"]} if "alias" in given else {}),
        }
        self._scrapers[scraper_id] = made
        self.amp_backend.tag_resource(made["arn"], given.get("tags", {}))
        return json.dumps(self._identity(made))

    def describe_scraper(self) -> str:
        """DescribeScraper."""
        return json.dumps({"scraper": self._described(self._scraper())})

    def list_scrapers(self) -> str:
        """ListScrapers, without filters, whose answers have no configuration."""
        listed = [self._described(each) for each in self._scrapers.values()]
        for each in listed:
            del each["scrapeConfiguration"]
        return json.dumps({"scrapers": listed})

    def update_scraper(self) -> str:
        """UpdateScraper."""
        made, given = self._scraper(), json.loads(self.body)
        made |= {
            key: given[key]
            for key in ("alias", "destination", "scrapeConfiguration")
            if key in given
        }
        return json.dumps(self._identity(made))

    def delete_scraper(self) -> str:
        """DeleteScraper: the collector is gone at once."""
        made = self._scraper()
        del self._scrapers[made["scraperId"]]
        return json.dumps({"scraperId": made["scraperId"], "status": {"statusCode": "DELETING"}})

    @property
    def _scrapers(self) -> dict[str, dict[str, Any]]:
        return state_of(self.amp_backend, _Scrapers).by_id

    def _scraper(self) -> dict[str, Any]:
        scraper_id = self.path.split("/")[-1]
        if scraper_id not in self._scrapers:
            raise _ScraperNotFoundError(scraper_id)
        return self._scrapers[scraper_id]

    def _described(self, made: dict[str, Any]) -> dict[str, Any]:
        return {**made, "tags": self.amp_backend.list_tags_for_resource(made["arn"])}

    def _identity(self, made: dict[str, Any]) -> dict[str, Any]:
        described = self._described(made)
        return {key: described[key] for key in ("scraperId", "arn", "status", "tags")}

    def _check(self, given: dict[str, Any]) -> None:
        source, destination = given["source"], given["destination"]
        if "eksConfiguration" not in source or "ampConfiguration" not in destination:
            raise NotImplementedError("collectors of other sources than EKS, to other destinations")
        workspace = destination["ampConfiguration"]["workspaceArn"].rpartition("/")[2]
        self.amp_backend.describe_workspace(workspace)
        eks = source["eksConfiguration"]
        name = eks["clusterArn"].rpartition("/")[2]
        cluster = eks_stores[ACCOUNT_ID][self.region].cluster(name)
        if not cluster.fields["resourcesVpcConfig"]["endpointPrivateAccess"]:
            raise AmpException("ValidationException", f"{name} has no private endpoint")
        ec2 = ec2_backends[ACCOUNT_ID][self.region]
        zones = {ec2.get_subnet(each).availability_zone for each in eks["subnetIds"]}
        if len(zones) < 2:
            raise AmpException("ValidationException", "subnets must be in at least two zones")


class _ScraperNotFoundError(ResourceNotFoundException):
    code = 404

    def __init__(self, scraper_id: str) -> None:
        super().__init__(
            "Scraper not found", resource_id=scraper_id, resource_type="AWS::APS::Scraper"
        )
