"""The repository for the images of jobs."""

import json
from dataclasses import replace

import pulumi
import pytest

from trainyard.components.batch.container_repository import (
    ContainerRepository,
    ContainerRepositoryArgs,
)
from trainyard.components.batch.plan import RepositoryPlan

PLAN = RepositoryPlan(name="batch-p4d", untagged_days=14, kept_images=100, deletion_protection=True)


def deployed(deploy, **changes):
    args = ContainerRepositoryArgs(plan=replace(PLAN, **changes), tags={"team": "vision"})
    return deploy(lambda: pulumi.export("url", ContainerRepository("batch-p4d-images", args).url))


def test_images_are_scanned_encrypted_and_never_overwritten(deploy):
    """BAT-20, DF-12."""
    inputs = deployed(deploy).one("batch-p4d-images-repository").inputs
    assert inputs["imageScanningConfiguration"] == {"scanOnPush": True}
    assert inputs["encryptionConfigurations"] == [{"encryptionType": "AES256"}]
    assert inputs["imageTagMutability"] == "IMMUTABLE"
    assert inputs["name"] == "batch-p4d"


def test_old_images_go(deploy):
    """BAT-20: the template had no rule."""
    policy = deployed(deploy).one("batch-p4d-images-lifecycle").inputs
    untagged, tagged = json.loads(policy["policy"])["rules"]
    assert untagged["selection"] == {
        "tagStatus": "untagged",
        "countType": "sinceImagePushed",
        "countUnit": "days",
        "countNumber": 14,
    }
    assert tagged["selection"]["countNumber"] == 100
    assert tagged["selection"]["countType"] == "imageCountMoreThan"
    assert [rule["rulePriority"] for rule in (untagged, tagged)] == [1, 2]


@pytest.mark.parametrize("protected", [True, False])
def test_images_outlive_the_stack_unless_the_user_gives_them_up(deploy, protected):
    cloud = deployed(deploy, deletion_protection=protected)
    made = [each for each in cloud.registered if not each.is_component]
    assert len(made) == 2
    assert all(each.retain_on_delete is protected for each in made)
    repository = cloud.one("batch-p4d-images-repository")
    assert repository.protect is protected
    assert repository.inputs["forceDelete"] is not protected


def test_the_rules_of_a_protected_repository_can_be_changed(deploy):
    """BAT-20: the provider replaces a policy whose text changes, which `protect` would prevent."""
    assert deployed(deploy).one("batch-p4d-images-lifecycle").protect is False


def test_an_adopted_repository_is_imported_with_its_settings_and_its_images(deploy):
    cloud = deployed(deploy, adopt=True)
    made = cloud.one("batch-p4d-images-repository")
    assert (made.import_id, made.protect, made.retain_on_delete) == ("batch-p4d", True, True)
    kept = {"imageTagMutability", "imageScanningConfiguration", "encryptionConfigurations", "tags"}
    assert kept <= set(made.ignore_changes)
    assert not cloud.of_type("aws:ecr/lifecyclePolicy:LifecyclePolicy")


def test_the_address_is_where_to_push(deploy):
    """BAT-23, BAT5-12: ECRRepositoryUrl."""
    cloud = deployed(deploy)
    assert cloud.exports["url"] == "123456789012.dkr.ecr.us-west-2.amazonaws.com/batch-p4d"
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
