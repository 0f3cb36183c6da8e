"""The AWS managed collector of a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.eks.scraper_plan import ScraperPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsScraperArgs:
    """Arguments of `MetricsScraper`."""

    plan: ScraperPlan
    cluster_arn: pulumi.Input[str]
    security_group_id: pulumi.Input[str]
    """Security group of the cluster, which its nodes have too."""
    subnet_ids: Sequence[pulumi.Input[str]]
    tags: Mapping[str, str]


class MetricsScraper(pulumi.ComponentResource):
    """A collector that AWS runs: it reads the exporters and sends their metrics to a workspace.

    AWS creates its service-linked role and the access entry of this role. The collector is deleted
    before the cluster; one that outlived it would read the next cluster of the same name.

    Children: `<name>` (`aws.amp.Scraper`).

    Source:
        https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html
    """

    def __init__(
        self, name: str, args: MetricsScraperArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:eks:MetricsScraper", name, {}, opts)
        aws.amp.Scraper(
            name,
            alias=name,
            destination=aws.amp.ScraperDestinationArgs(
                amp=aws.amp.ScraperDestinationAmpArgs(workspace_arn=args.plan.workspace_arn)
            ),
            source=aws.amp.ScraperSourceArgs(
                eks=aws.amp.ScraperSourceEksArgs(
                    cluster_arn=args.cluster_arn,
                    security_group_ids=[args.security_group_id],
                    subnet_ids=list(args.subnet_ids),
                )
            ),
            scrape_configuration=args.plan.configuration,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
