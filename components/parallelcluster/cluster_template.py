"""The CloudFormation template with ParallelCluster's custom resource.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html and
`cloudformation/custom_resource/cluster.yaml` of https://github.com/aws/aws-parallelcluster, the
provider that AWS publishes for each version.

The template omits properties of the custom resource that break updates: `RollbackOnFailure` is
valid only for creation and `ForceUpdate` only for updates, but the provider passes every property
to both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.components.parallelcluster.plan import DeploymentPlan, ParallelClusterPlan

CLUSTER = "PclusterCluster"
PROVIDER = "PclusterClusterProvider"
"""Logical ids from the ParallelCluster documentation. They must not change, or CloudFormation would
replace the cluster."""

MAXIMUM_TEMPLATE_BYTES = 51_200
"""Maximum size of a template in an API call, in bytes.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html"""

OUTPUTS: Mapping[str, str] = {
    "ClusterStatus": "clusterStatus",
    "ClusterVersion": "version",
    "ComputeFleetStatus": "computeFleetStatus",
    "ClusterStackArn": "cloudformationStackArn",
    "HeadNodeInstanceId": "headNode.instanceId",
    "HeadNodePrivateIp": "headNode.privateIpAddress",
    "ValidationMessages": "validationMessages",
}
"""Stack outputs, by attribute of the custom resource."""

PUBLIC_ADDRESS = ("HeadNodePublicIp", "headNode.publicIpAddress")
"""Output and attribute of a public head node. A private one does not have the attribute, and
reading it would fail the stack."""


def cluster_template(plan: ParallelClusterPlan, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template of a plan's cluster.

    Args:
        plan: The plan.
        configuration: Its cluster configuration, from `render_cluster`.
    """
    deployment = plan.deployment
    resources: dict[str, Any] = {CLUSTER: _cluster(plan, configuration)}
    if deployment.provider_service_token is None:
        resources = {PROVIDER: _provider(deployment), **resources}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": f"Slurm cluster {plan.name}, made by AWS ParallelCluster {plan.version}",
        "Resources": resources,
        "Outputs": _outputs(plan),
    }


def template_bytes(template: Mapping[str, Any]) -> int:
    """Return the size of a template that counts for CloudFormation."""
    return len(template_body(template).encode())


def template_body(template: Mapping[str, Any]) -> str:
    """Return a template as JSON without whitespace, because the size is limited."""
    return json.dumps(template, separators=(",", ":"), ensure_ascii=False)


def _provider(deployment: DeploymentPlan) -> dict[str, Any]:
    return {
        "Type": "AWS::CloudFormation::Stack",
        "Properties": {"TemplateURL": deployment.provider_template_url},
    }


def _cluster(plan: ParallelClusterPlan, configuration: Mapping[str, Any]) -> dict[str, Any]:
    deployment = plan.deployment
    token = deployment.provider_service_token
    properties: dict[str, Any] = {
        "ServiceToken": token or _attribute(PROVIDER, "Outputs.ServiceToken"),
        "ClusterName": plan.name,
        "ClusterConfiguration": dict(configuration),
        "DeletionPolicy": deployment.deletion_policy,
    }
    if deployment.suppress_validators:
        properties["SuppressValidators"] = list(deployment.suppress_validators)
    return {"Type": "Custom::PclusterCluster", "Properties": properties}


def _outputs(plan: ParallelClusterPlan) -> dict[str, Any]:
    attributes = dict(OUTPUTS)
    if plan.head_node.public:
        attributes.update([PUBLIC_ADDRESS])
    values = {output: _attribute(CLUSTER, attribute) for output, attribute in attributes.items()}
    if plan.deployment.provider_service_token is None:
        values["ProviderLogGroupArn"] = _attribute(PROVIDER, "Outputs.LogGroupArn")
    return {
        "ClusterName": {"Value": {"Ref": CLUSTER}},
        **{output: {"Value": value} for output, value in values.items()},
    }


def _attribute(resource: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [resource, attribute]}
