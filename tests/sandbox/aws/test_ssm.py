"""Associations of Systems Manager."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import Account

TARGETS = [{"Key": "tag:trainyard:node-metrics", "Values": ["c/gpu"]}]
SHELL: dict[str, Any] = {
    "Name": "AWS-RunShellScript",
    "Targets": TARGETS,
    "Parameters": {"commands": ["true"]},
}


def refused(call: Any, **arguments: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(**arguments)
    return error.value.response["Error"]["Code"]


def test_an_update_removes_what_it_omits(account: Account) -> None:
    ssm = account.client("ssm")
    made = ssm.create_association(**SHELL, AssociationName="one")["AssociationDescription"]
    id_ = made["AssociationId"]
    ssm.update_association(AssociationId=id_, Parameters={"commands": ["false"]}, Targets=TARGETS)
    found = ssm.describe_association(AssociationId=id_)["AssociationDescription"]
    assert (found["Parameters"], found["AssociationVersion"]) == ({"commands": ["false"]}, "2")
    assert "AssociationName" not in found


def test_two_associations_may_have_one_name(account: Account) -> None:
    ssm = account.client("ssm")
    for _ in range(2):
        ssm.create_association(**SHELL, AssociationName="two")
    named = [{"key": "AssociationName", "value": "two"}]
    assert len(ssm.list_associations(AssociationFilterList=named)["Associations"]) == 2


def test_a_document_takes_its_own_parameters_alone(account: Account) -> None:
    call = account.client("ssm").create_association
    assert refused(call, **{**SHELL, "Parameters": {"comands": ["true"]}}) == "InvalidParameters"
    assert refused(call, **{**SHELL, "Parameters": {}}) == "InvalidParameters"


def test_a_missing_association_has_the_code_that_the_provider_knows(account: Account) -> None:
    ssm, id_ = account.client("ssm"), "00000000-0000-4000-8000-000000000000"
    assert refused(ssm.describe_association, AssociationId=id_) == "AssociationDoesNotExist"
    assert refused(ssm.delete_association, AssociationId=id_) == "AssociationDoesNotExist"


def test_what_the_sandbox_does_not_know_is_said(account: Account) -> None:
    call = account.client("ssm").create_association
    assert refused(call, **{**SHELL, "Name": "AWS-RunPatchBaseline"}) == "SandboxNotImplemented"
    assert refused(call, **SHELL, MaxErrors="1") == "SandboxNotImplemented"
