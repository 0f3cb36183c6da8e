"""The real ParallelCluster on the sandbox's account: accepted and refused configurations.

One process answers for all configurations of this file, as intended.
"""

from __future__ import annotations

import logging

import pytest

from tests.support.cluster_configs import (
    OLD_IMAGE,
    P4DE_GROUP,
    SCRIPT,
    existing_storage,
    nodes,
    p4de,
    setting,
    trainium,
)
from tests.support.parallelcluster_validators import (
    UpdateCheck,
    Validation,
    update_check,
    update_checks,
    validate,
)
from tests.support.sandbox_aws import AWS_ASSISTED, BLOCK, ODCR
from trainyard.sandbox.aws.server import AwsServer

pytestmark = pytest.mark.parallelcluster

TARGET = "CapacityReservationTarget"
NODES = "Scheduling/SlurmQueues/0/ComputeResources/0"


def reserved_p5(reservation_id: str):
    return setting(
        NODES,
        {
            "Name": "p5",
            "InstanceType": "p5.48xlarge",
            "MinCount": 2,
            "MaxCount": 2,
            "Efa": {"Enabled": True},
            TARGET: {"CapacityReservationId": reservation_id},
        },
    )


ACCEPTED = {
    "p4de": p4de(),
    "official-image": p4de(lambda config: config["Image"].pop("CustomAmi")),
    "reservation-group": p4de(
        setting(f"{NODES}/{TARGET}", {"CapacityReservationResourceGroupArn": P4DE_GROUP})
    ),
    "existing-storage": p4de(existing_storage),
    "trainium": p4de(trainium),
    "aws-assisted": p4de(reserved_p5(AWS_ASSISTED)),
    "capacity-block": p4de(
        reserved_p5(BLOCK), setting("Scheduling/SlurmQueues/0/CapacityType", "CAPACITY_BLOCK")
    ),
    "private-head-node": p4de(
        setting("HeadNode/Networking/SubnetId", "subnet-0b000000000000002"),
        lambda config: config["HeadNode"].pop("Ssh"),
    ),
}
REFUSED = {
    "too-few": (setting(f"{NODES}/MaxCount", 1), {"ComputeResourceSizeValidator"}),
    "no-key": (setting("HeadNode/Ssh/KeyName", "nobody"), {"KeyPairValidator"}),
    "old-image": (setting("Image/CustomAmi", OLD_IMAGE), {"CustomAmiTagValidator"}),
    "other-type": (
        setting(f"{NODES}/{TARGET}", {"CapacityReservationId": ODCR}),
        {"CapacityReservationValidator", "ComputeResourceLaunchTemplateValidator"},
    ),
    "same-directory": (setting("SharedStorage/1/MountDir", "/fsx"), {"DuplicateMountDirValidator"}),
    "odd-size": (
        setting("SharedStorage/0/FsxLustreSettings/StorageCapacity", 1300),
        {"FsxStorageCapacityValidator"},
    ),
    "no-efa": (
        lambda config: nodes(config).update(InstanceType="c5.4xlarge"),
        {"EfaValidator"},
    ),
}
BY_ITSELF = {
    "unknown-key": p4de(setting("HeadNode/Nope", 1)),
    "no-such-type": p4de(setting("HeadNode/InstanceType", "m5.colossal")),
    "no-script": p4de(setting("HeadNode/CustomActions/OnNodeConfigured/Script", SCRIPT + "x")),
    "no-script-again": p4de(
        setting("HeadNode/CustomActions/OnNodeConfigured/Script", SCRIPT + "x")
    ),
    "suppressed": p4de(setting(f"{NODES}/MaxCount", 1)),
    "all-suppressed": p4de(setting("HeadNode/Ssh/KeyName", "nobody")),
}


@pytest.fixture(scope="module")
def answers(server: AwsServer) -> dict[str, Validation]:
    refused = {name: p4de(change) for name, (change, _) in REFUSED.items()}
    return validate(
        ACCEPTED | refused | BY_ITSELF,
        account=server.access,
        region="us-west-2",
        suppress={"suppressed": ["ComputeResourceSizeValidator"], "all-suppressed": ["ALL"]},
    )


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_fits_the_account_passes(name: str, answers: dict[str, Validation]) -> None:
    assert answers[name].loaded
    assert answers[name].errors == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_its_validator(
    name: str, answers: dict[str, Validation]
) -> None:
    assert answers[name].loaded
    assert answers[name].refused_by >= REFUSED[name][1]


def test_a_key_that_the_schema_does_not_know_is_named(answers: dict[str, Validation]) -> None:
    answer = answers["unknown-key"]
    assert not answer.loaded
    assert answer.refused_by == {"ConfigSchemaValidator"}
    assert "'Nope': ['Unknown field.']" in answer.errors[0].text


def test_what_makes_parallelcluster_give_up_is_an_answer_too(
    answers: dict[str, Validation],
) -> None:
    assert answers["no-such-type"].refused_by
    assert any("m5.colossal" in each.text for each in answers["no-such-type"].errors)


def test_every_configuration_is_judged_afresh(answers: dict[str, Validation]) -> None:
    """ParallelCluster caches a script's answer for ten seconds, and would warn only once."""
    for name in ("no-script", "no-script-again"):
        (warning,) = [
            it for it in answers[name].messages if it.validator == "AsyncTimedUrlValidator"
        ]
        assert warning.level == "WARNING"
        assert "post-install.shx" in warning.text
    assert "AsyncTimedUrlValidator" not in {it.validator for it in answers["p4de"].messages}


def test_validators_are_left_out_by_name_or_all_of_them(answers: dict[str, Validation]) -> None:
    assert "ComputeResourceSizeValidator" not in answers["suppressed"].refused_by
    assert answers["all-suppressed"].loaded
    assert answers["all-suppressed"].messages == ()


def test_numbers_and_booleans_may_be_strings(server: AwsServer) -> None:
    """CloudFormation turns them into strings on their way to the custom resource."""
    (answer,) = validate(
        {"strings": stringified(p4de())}, account=server.access, region="us-west-2"
    ).values()
    assert answer.loaded
    assert answer.errors == ()


def stringified(value):
    match value:
        case dict():
            return {key: stringified(each) for key, each in value.items()}
        case list():
            return [stringified(each) for each in value]
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def test_the_account_answers_every_call(
    server: AwsServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="sandbox"):
        validate({"c": p4de(existing_storage)}, account=server.access, region="us-west-2")
    assert caplog.messages == []


UPDATES = {
    "more": setting(f"{NODES}/MaxCount", 4),
    "fewer": setting(f"{NODES}/MaxCount", 1),
    "head-node": setting("HeadNode/InstanceType", "m5.4xlarge"),
    "login-storage": setting("SharedStorage/1/EbsSettings/Size", 300),
}


@pytest.fixture(scope="module")
def checks() -> dict[str, UpdateCheck]:
    changes = [(p4de(), p4de(change)) for change in UPDATES.values()]
    return dict(zip(UPDATES, update_checks(changes), strict=True))


def test_more_nodes_are_always_allowed(checks: dict[str, UpdateCheck]) -> None:
    assert checks["more"].allowed
    (row,) = checks["more"].rows
    assert (row.parameter, row.check) == ("MaxCount", "SUCCEEDED")


def test_fewer_nodes_need_a_strategy(checks: dict[str, UpdateCheck]) -> None:
    assert not checks["fewer"].allowed
    (row,) = checks["fewer"].rows
    assert (row.parameter, row.old_value, row.new_value) == ("MaxCount", 2, 1)
    assert row.path == ("Scheduling", "SlurmQueues[train]", "ComputeResources[p4de]")
    assert row.check == "ACTION NEEDED"
    assert "QueueUpdateStrategy:TERMINATE" in row.action_needed


def test_the_head_nodes_type_never_changes(checks: dict[str, UpdateCheck]) -> None:
    assert not checks["head-node"].allowed
    (row,) = checks["head-node"].rows
    assert (row.check, row.update_policy) == ("FAILED", "UNSUPPORTED")


def test_with_the_strategy_fewer_nodes_are_allowed() -> None:
    strategy = setting("Scheduling/SlurmSettings/QueueUpdateStrategy", "TERMINATE")
    assert update_check(p4de(strategy), p4de(strategy, UPDATES["fewer"])).allowed
