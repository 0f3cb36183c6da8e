"""The arguments of `eks:index:Cluster` that the sandbox knows."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.errors import InputPropertiesError

from sandbox.providers.eks.arguments import check_arguments

WHOLE: dict[str, Any] = {
    "name": "c",
    "version": "1.35",
    "vpcId": "vpc-1",
    "subnetIds": ["subnet-1", "subnet-2"],
    "createInstanceRole": False,
    "skipDefaultNodeGroup": True,
    "skipDefaultSecurityGroups": True,
    "corednsAddonOptions": {"enabled": False, "resolveConflictsOnCreate": "OVERWRITE"},
    "kubeProxyAddonOptions": {"version": "v1"},
    "vpcCniOptions": {"addonVersion": "v1"},
}


def faults(**changes: Any) -> set[str]:
    arguments = {key: value for key, value in {**WHOLE, **changes}.items() if value is not None}
    with pytest.raises(InputPropertiesError) as refusal:
        check_arguments(arguments)
    return {error["property_path"] for error in refusal.value.errors or []}


def test_what_the_program_writes_is_known() -> None:
    check_arguments(WHOLE)


def test_everything_that_would_be_ignored_is_named_at_once() -> None:
    assert faults(
        fargate=True,
        skipDefaultNodeGroup=False,
        version=None,
        vpcCniOptions={"addonVersion": "v1", "enablePodEni": True},
        corednsAddonOptions={"enabled": True},
    ) == {
        "corednsAddonOptions.enabled",
        "fargate",
        "skipDefaultNodeGroup",
        "version",
        "vpcCniOptions.enablePodEni",
    }


def test_a_cluster_without_its_vpc_fails_as_in_an_account_without_a_default_vpc() -> None:
    with pytest.raises(InputPropertiesError) as refusal:
        check_arguments({key: value for key, value in WHOLE.items() if key != "vpcId"})
    (error,) = refusal.value.errors or []
    assert error["property_path"] == "vpcId"
    assert "no matching EC2 VPC found" in error["reason"]


@pytest.mark.parametrize("option", ["skipDefaultSecurityGroups", "corednsAddonOptions"])
def test_what_the_package_would_make_by_default_has_to_be_turned_off(option: str) -> None:
    assert len(faults(**{option: None})) == 1
