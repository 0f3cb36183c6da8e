"""Messages about arguments of `eks:index:Cluster` that no recording covers."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.errors import InputPropertiesError

from tools.conformance.eks_cluster import BASE
from trainyard.sandbox.providers.eks.arguments import check_arguments


def faults(**changes: Any) -> set[str]:
    arguments = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    with pytest.raises(InputPropertiesError) as refusal:
        check_arguments(arguments)
    return {error["property_path"] for error in refusal.value.errors or []}


def test_everything_that_would_be_ignored_is_named_at_once() -> None:
    assert faults(
        fargate=True,
        skipDefaultNodeGroup=False,
        version=None,
        vpcCniOptions={**BASE["vpcCniOptions"], "enablePodEni": True},
        corednsAddonOptions={**BASE["corednsAddonOptions"], "enabled": True},
    ) == {
        "corednsAddonOptions.enabled",
        "fargate",
        "skipDefaultNodeGroup",
        "version",
        "vpcCniOptions.enablePodEni",
    }


def test_a_cluster_without_its_vpc_fails_as_in_an_account_without_a_default_vpc() -> None:
    with pytest.raises(InputPropertiesError) as refusal:
        check_arguments({key: value for key, value in BASE.items() if key != "vpcId"})
    (error,) = refusal.value.errors or []
    assert error["property_path"] == "vpcId"
    assert "no matching EC2 VPC found" in error["reason"]
