"""A registered ParallelCluster stack of the repository, with shortcuts to its parts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from components.architectures.prepare import prepare
from components.config.load import load_stack_config
from components.parallelcluster.cluster_template import CLUSTER, PROVIDER
from components.parallelcluster.plan import ParallelClusterPlan
from components.parallelcluster.references import resolve
from components.parallelcluster.rendering.cluster import render_cluster
from tests.support.cloud import Cloud
from tests.support.parallelcluster_configs import raw_config
from tests.support.stacks import NOW, account_facts, stack_config


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmStack:
    """One stack."""

    config: dict[str, Any]
    """`config` of the stack file, completed with the ids of the account."""
    plan: ParallelClusterPlan
    cloud: Cloud

    @property
    def deployment(self) -> dict[str, Any]:
        """Inputs of the CloudFormation stack."""
        (made,) = self.cloud.of_type("aws:cloudformation/stack:Stack")
        return made.inputs

    @property
    def template(self) -> dict[str, Any]:
        """Template of that stack."""
        return json.loads(self.deployment["templateBody"])

    @property
    def provider(self) -> dict[str, Any]:
        """Properties of the stack that provides ParallelCluster's custom resource."""
        return self.template["Resources"][PROVIDER]["Properties"]

    @property
    def custom_resource(self) -> dict[str, Any]:
        """Properties of the custom resource."""
        return self.template["Resources"][CLUSTER]["Properties"]

    @property
    def cluster(self) -> dict[str, Any]:
        """The cluster configuration, with ids."""
        return self.custom_resource["ClusterConfiguration"]

    @property
    def head(self) -> dict[str, Any]:
        """The section `HeadNode`."""
        return self.cluster["HeadNode"]

    @property
    def slurm(self) -> dict[str, Any]:
        """The section `SlurmSettings`."""
        return self.cluster["Scheduling"]["SlurmSettings"]

    @property
    def queues(self) -> dict[str, dict[str, Any]]:
        """The queues, by name."""
        return {queue["Name"]: queue for queue in self.cluster["Scheduling"]["SlurmQueues"]}

    @property
    def queue(self) -> dict[str, Any]:
        """The queue for training, which is the first."""
        return self.cluster["Scheduling"]["SlurmQueues"][0]

    @property
    def nodes(self) -> dict[str, Any]:
        """The one compute resource of that queue."""
        (resource,) = self.queue["ComputeResources"]
        return resource

    @property
    def storage(self) -> dict[str, dict[str, Any]]:
        """The shared storage, by name."""
        return {entry["Name"]: entry for entry in self.cluster.get("SharedStorage", [])}

    @property
    def outputs(self) -> dict[str, Any]:
        """What the stack exports."""
        return self.cloud.exports


def scripts(section: dict[str, Any], action: str = "OnNodeConfigured") -> list[dict[str, Any]]:
    """Return the scripts of a head node or a queue, in order."""
    return section.get("CustomActions", {}).get(action, {}).get("Sequence", [])


def policies(section: dict[str, Any]) -> list[str]:
    """Return the names of the managed policies of a head node or a queue."""
    attached = section.get("Iam", {}).get("AdditionalIamPolicies", [])
    return [each["Policy"].rpartition("/")[2] for each in attached]


def planned(stack: str, **changes: Any) -> ParallelClusterPlan:
    """Return the plan of a stack file with some keys changed, as in `raw_config`.

    Raises:
        ConfigError: the stack file or the account does not allow it.
    """
    config, stack_file = stack_config(stack), f"Pulumi.{stack}.yaml"
    plan = prepare(
        load_stack_config(
            raw_config(config["trainyard:cluster"], **changes), stack_file=stack_file
        ),
        account_facts(),
        stack_file=stack_file,
        region=config["aws:region"],
        now=NOW,
    ).plan
    assert isinstance(plan, ParallelClusterPlan)
    return plan


def rendered(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the cluster configuration of a plan, with the target of each reference as text."""
    return resolve(render_cluster(plan), lambda each: f"{each.kind} {each.name}")
