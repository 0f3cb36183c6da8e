"""Configuration of add-ons, as far as the sandbox validates it.

Sources: `values.schema.json` of https://github.com/kubernetes-sigs/aws-ebs-csi-driver and
`charts/configuration.schema.json` of https://github.com/aws/eks-node-monitoring-agent, from which
EKS derives the schema in DescribeAddonConfiguration; `values.yaml` of
https://github.com/aws-observability/helm-charts, which has no schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainyard.sandbox.aws.eks.errors import invalid_parameter

_SCHEMAS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "aws-fsx-csi-driver": {},
    "eks-pod-identity-agent": {},
    "aws-ebs-csi-driver": {
        "controller": frozenset({"affinity", "nodeSelector", "replicaCount", "tolerations"}),
        "node": frozenset({"affinity", "nodeSelector", "tolerateAllTaints", "tolerations"}),
    },
    "amazon-cloudwatch-observability": {
        "agent": frozenset({"config", "resources", "tolerations"}),
        "containerLogs": frozenset({"enabled", "fluentBit"}),
        "manager": frozenset({"applicationSignals", "resources"}),
    },
    "eks-node-monitoring-agent": {
        "nodeAgent": frozenset({"affinity", "monitors", "nodeSelector", "tolerations"}),
        "dcgmAgent": frozenset({"affinity", "nodeSelector", "tolerations"}),
    },
}
"""Sections and their settings, by add-on, that a program may use. Other add-ons accept anything."""


def check_configuration(cluster_name: str, addon: str, text: str | None) -> None:
    """Reject settings that are not JSON, or that are unknown for the add-on.

    Raises:
        InvalidParameterException: With the path of the setting.
    """
    if not text:
        return
    try:
        settings: Any = json.loads(text)
    except ValueError:
        settings = None
    about = {"clusterName": cluster_name, "addonName": addon}
    if not isinstance(settings, dict):
        invalid_parameter("ConfigurationValue provided in request is not an object", **about)
    schema = _SCHEMAS.get(addon)
    if schema is None:
        return
    unknown = [f"$.{section}" for section in settings if section not in schema] + [
        f"$.{section}.{key}"
        for section, values in settings.items()
        if section in schema
        for key in values
        if key not in schema[section]
    ]
    if unknown:
        invalid_parameter(
            "ConfigurationValue provided in request is not supported: Json schema validation "
            f"failed with error: [{unknown[0]}: is not defined in the schema and the schema does "
            "not allow additional properties]",
            **about,
        )
