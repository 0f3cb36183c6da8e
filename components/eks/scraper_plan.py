"""What the AWS managed collector of a cluster reads, and where it sends it.

It finds the exporters by a label and a port name of their pods, so that an exporter needs no entry
here.

Sources:
    https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-collector-how-to.html: scraper
        configuration and its limitations (30 seconds between reads, `kubernetes_sd_configs` only),
        private access of the endpoint, authentication mode, subnets in two zones
    https://docs.aws.amazon.com/prometheus/latest/APIReference/API_EksConfiguration.html: at most
        five subnets
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from trainyard.components.config.eks import EksStackConfig
from trainyard.components.config.problems import Review
from trainyard.components.eks.addons.exporter import EXPORTER, EXPORTER_PORT
from trainyard.components.monitoring.alert_rules import CLUSTER_LABEL
from trainyard.components.monitoring.review import note_workspace
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.runtime.workload_plan import NAMESPACE

SECONDS = 60
"""Time between two reads of an exporter; as often as the CloudWatch agent of Slurm nodes."""
MAXIMUM_SUBNETS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScraperPlan:
    """The AWS managed collector of a cluster."""

    workspace_arn: str
    configuration: str
    """Configuration of Prometheus, as YAML."""
    subnets: tuple[str, ...]
    """References of the subnets in which it has network interfaces."""


def plan_scraper(config: EksStackConfig, network: NetworkPlan) -> ScraperPlan | None:
    """Return the collector of a stack; None if its nodes send no metrics to Prometheus."""
    workspace = config.monitoring.workspace_arn if config.monitoring else None
    if workspace is None:
        return None
    return ScraperPlan(
        workspace_arn=workspace,
        configuration=_configuration(config.name),
        # Those of the cluster, which are in at least two zones.
        subnets=tuple(
            subnet.name
            for subnet in (*network.private_subnets, *network.public_subnets)[:MAXIMUM_SUBNETS]
        ),
    )


def review_scraper(config: EksStackConfig, review: Review) -> None:
    """Refuse clusters whose metrics the collector cannot read, and note where metrics go."""
    if config.node_metrics != "prometheus":
        return
    note_workspace(review)
    architecture = config.architecture
    if not architecture.endpoint.private_access:
        key = "architecture.endpoint.private_access"
        review.refuse(
            key,
            "is off, and the collector of Amazon Managed Service for Prometheus reads a cluster "
            "through its private endpoint only",
            found=False,
            allowed="true, or no `node_metrics: prometheus`",
            remedy=review.set_command(key, "true"),
        )
    if architecture.authentication_mode == "CONFIG_MAP":
        key = "architecture.authentication_mode"
        review.refuse(
            key,
            "does not allow access entries, with which the collector of Amazon Managed Service for "
            "Prometheus gets access to the cluster",
            found="CONFIG_MAP",
            allowed="API_AND_CONFIG_MAP, API",
            remedy=review.set_command(key, "API_AND_CONFIG_MAP"),
        )


def _configuration(cluster: str) -> str:
    ((label, value),) = EXPORTER.items()
    pod = "__meta_kubernetes_pod"
    job = {
        "job_name": "exporters",
        # Labels of an exporter come first: kube-state-metrics names the node that it describes.
        "honor_labels": True,
        "kubernetes_sd_configs": [{"role": "pod", "namespaces": {"names": [NAMESPACE]}}],
        "relabel_configs": [
            {
                "action": "keep",
                "source_labels": [f"{pod}_label_{_sanitized(label)}"],
                "regex": value,
            },
            {
                "action": "keep",
                "source_labels": [f"{pod}_container_port_name"],
                "regex": EXPORTER_PORT,
            },
            {
                "source_labels": [f"{pod}_label_{_sanitized('app.kubernetes.io/name')}"],
                "target_label": "job",
            },
            {"source_labels": [f"{pod}_node_name"], "target_label": "node"},
        ],
    }
    return yaml.safe_dump(
        {
            "global": {
                "scrape_interval": f"{SECONDS}s",
                "external_labels": {CLUSTER_LABEL: cluster},
            },
            "scrape_configs": [job],
        },
        sort_keys=False,
    )


def _sanitized(label: str) -> str:
    """Return the name of a Kubernetes label in the labels of a target.

    https://prometheus.io/docs/prometheus/latest/configuration/configuration/#kubernetes_sd_config
    """
    return label.replace(".", "_").replace("/", "_").replace("-", "_")
