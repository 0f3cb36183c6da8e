"""Requests of a template to the stand-in of ParallelCluster's provider.

ParallelCluster defines the arguments of an operation, so one process of its environment reads for
all tests of this file.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.cluster_configs import Config
from tests.support.provider_readings import Read

pytestmark = pytest.mark.parallelcluster


def event(request_type: str = "Create", *, physical_id: str = "c", **changes: Any) -> Config:
    """Return a request of CloudFormation; a property that is None is left out."""
    properties = {
        "ServiceToken": "arn",
        "ClusterName": "c",
        "ClusterConfiguration": {"Region": "us-west-2"},
        **changes,
    }
    return {
        "RequestType": request_type,
        "PhysicalResourceId": physical_id,
        "StackId": "arn:stack",
        "ResourceProperties": {k: v for k, v in properties.items() if v is not None},
    }


OWN_TAGS = [{"Key": "team", "Value": "mine"}]
EVENTS = {
    "plain": event(),
    "all": event(
        SuppressValidators=["type:EfaValidator", "ALL"],
        ValidationFailureLevel="WARNING",
        DeletionPolicy="Retain",
        Dryrun="true",
    ),
    "one": event(SuppressValidators="type:EfaValidator"),
    "forced": event("Update", ForceUpdate="true"),
    "tagged": event(ClusterConfiguration={"Region": "us-west-2", "Tags": OWN_TAGS}),
}
REFUSED = {
    "nameless": (event(ClusterName=None), "Couldn't find a ClusterName"),
    "renamed": (event("Update", physical_id="other"), "Cannot update the ClusterName"),
    "empty": (event(ClusterConfiguration={}), "Bad Request: configuration is required"),
    "policy": (event(DeletionPolicy="Keep"), "DeletionPolicy must be one of"),
    "level": (event(ValidationFailureLevel="FATAL"), "Bad Request: 'FATAL' is not one of"),
    "unknown": (event(Nope="1"), "<create-cluster> got unexpected arguments: {'nope'}"),
    "only-at-creation": (event("Update", RollbackOnFailure="true"), "{'rollback_on_failure'}"),
}


@pytest.fixture(scope="module")
def requests(read_by_provider: Read) -> dict[str, Any]:
    events = EVENTS | {name: refused for name, (refused, _) in REFUSED.items()}
    return read_by_provider(events=events)


def test_a_request_has_the_defaults_of_the_provider(requests: dict[str, Any]) -> None:
    plain = requests["plain"]
    assert plain["name"] == "c"
    assert (plain["suppressed"], plain["refused_levels"]) == ([], ["ERROR"])
    assert (plain["is_dry_run"], plain["is_forced"]) == (False, False)


def test_a_request_says_what_to_leave_out_and_what_to_refuse(requests: dict[str, Any]) -> None:
    assert requests["all"]["suppressed"] == ["ALL", "EfaValidator"]
    assert requests["all"]["refused_levels"] == ["ERROR", "WARNING"]
    assert requests["all"]["is_dry_run"] is True
    assert requests["one"]["suppressed"] == ["EfaValidator"]
    assert requests["forced"]["is_forced"] is True


def test_a_cluster_gets_the_tags_of_its_stack_below_its_own(requests: dict[str, Any]) -> None:
    """CloudFormation's own tags are not passed on to it."""
    provider = {"Key": "parallelcluster:custom_resource", "Value": "cluster"}
    of_stack = {"Key": "team", "Value": "a"}
    assert requests["plain"]["configuration"]["Tags"] == [of_stack, provider]
    assert requests["tagged"]["configuration"]["Tags"] == [*OWN_TAGS, provider]


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_is_wrong_is_refused_in_the_providers_words(
    requests: dict[str, Any], name: str
) -> None:
    assert REFUSED[name][1] in requests[name]["refused"]
