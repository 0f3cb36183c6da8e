"""Access points, functions and container images that a stack file names."""

from __future__ import annotations

from typing import cast

import pytest

from tests.support.account import in_batch, in_slurm, refused
from tests.support.batch import P4D
from tests.support.parallelcluster import raw_p4de
from tests.support.stack_files import raw_config
from trainyard.components.account.reader import AccountReader
from trainyard.components.architectures.lookup import named_readings
from trainyard.components.config.named import Named
from trainyard.components.named.facts import AccessPointFacts, ContainerImageFacts, FunctionFacts


@pytest.mark.parametrize(
    ("found", "accepted"),
    [
        (AccessPointFacts(file_system_id="fs-0ef50000000000001", state="available"), True),
        (AccessPointFacts(file_system_id="fs-0ef50000000000001", state="deleting"), False),
        (AccessPointFacts(file_system_id="fs-0ef50000000000002", state="available"), False),
        (None, False),
    ],
)
def test_an_access_point_is_of_the_file_system_and_available(found, accepted):
    home = {
        "kind": "existing-efs",
        "mount_directory": "/efs",
        "file_system_id": "fs-0ef50000000000001",
        "access_point_id": "fsap-0ef50000000000001",
        "encryption_in_transit": True,
    }
    judgement = in_slurm(
        raw_p4de(storage={"home": home}), {("access-point", "fsap-0ef50000000000001"): found}
    )
    at = "storage.home.access_point_id"
    assert (at not in refused(judgement, "access points")) == accepted


TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-provider"


@pytest.mark.parametrize(
    ("found", "accepted"),
    [(FunctionFacts(state="Active"), True), (FunctionFacts(state="Failed"), False), (None, False)],
)
def test_the_provider_of_parallelcluster_must_answer(found, accepted):
    raw = raw_p4de(architecture__deployment={"provider_service_token": TOKEN})
    judgement = in_slurm(raw, {("lambda-function", TOKEN): found})
    at = "architecture.deployment.provider_service_token"
    assert (at not in refused(judgement, "provider")) == accepted


@pytest.mark.parametrize(("found", "told"), [(None, True), (ContainerImageFacts(), False)])
def test_an_image_that_is_not_pushed_yet_is_a_warning(found, told):
    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    raw = raw_config(P4D, architecture__job_definitions={"own": own})
    judgement = in_batch(raw, {("container-image", image): found})
    assert refused(judgement, "container images") == {}
    assert any("CannotPullContainerError" in each for each in judgement.warnings) == told


def test_an_image_that_was_not_read_is_no_warning():
    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    found = in_batch(raw_config(P4D, architecture__job_definitions={"own": own}), {})
    assert not [each for each in found.warnings if image in each]


def test_every_object_of_a_kind_is_looked_up():
    uses = [Named("iam-policy", name, "architecture") for name in ("one", "two", "one")]
    assert len([*named_readings(cast("AccountReader", None), uses)]) == 2


def test_an_archived_image_is_told_with_the_command_that_restores_it():
    image = "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1.0"
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    raw = raw_config(P4D, architecture__job_definitions={"own": own})
    found = {("container-image", image): ContainerImageFacts(status="ARCHIVED")}
    (told,) = [each for each in in_batch(raw, found).warnings if "ARCHIVED" in each]
    assert "update-image-storage-class" in told


@pytest.mark.parametrize(
    ("account", "said"),
    [
        ("123456789012", None),
        ("210987654321", "must allow account 123456789012"),
        ("111122223333", "write 123456789012.dkr.ecr.us-west-2.amazonaws.com"),
    ],
)
def test_an_image_of_another_account_is_told(account, said):
    image = f"{account}.dkr.ecr.us-west-2.amazonaws.com/training:1.0"
    own = {"compute_environment": "p4d", "image": image, "command": ["true"]}
    raw = raw_config(P4D, architecture__job_definitions={"own": own})
    found = in_batch(raw, {("container-image", image): ContainerImageFacts()})
    told = [each for each in found.warnings if "in the registry of account" in each]
    assert len(told) == (said is not None)
    assert said is None or said in told[0]
