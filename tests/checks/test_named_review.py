"""Named objects that no account can make right."""

import pytest

from tests.support.parallelcluster_configs import raw_p4de
from tests.support.stack_files import changed, p5, plan, plan_problems

KEY = "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize(
    "key", [KEY.replace("us-west-2", "us-east-1"), KEY.replace("arn:aws:", "arn:aws-cn:")]
)
def test_a_key_of_another_region_is_refused(key):
    problem = plan_problems(changed(architecture__secrets_key_arn=key))[
        "architecture.secrets_key_arn"
    ]
    assert problem.found == key
    assert plan(changed(architecture__secrets_key_arn=KEY)).secrets_key_arn == KEY


def test_a_key_of_a_volume_in_another_region_is_refused():
    key = f"{KEY.replace('us-west-2', 'us-east-1')}"
    volume = {"kind": "ebs", "mount_directory": "/apps", "size_gib": 200, "kms_key_arn": key}
    assert "storage.apps.kms_key_arn" in plan_problems(raw_p4de(storage={"apps": volume}))


def test_a_provider_of_another_region_is_refused():
    token = "arn:aws:lambda:us-east-1:123456789012:function:provider"
    raw = raw_p4de(architecture__deployment={"provider_service_token": token})
    assert "architecture.deployment.provider_service_token" in plan_problems(raw)


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("aws-service-role/AmazonEKSServiceRolePolicy", False),
        ("service-role/AmazonEBSCSIDriverPolicy", True),
    ],
)
def test_a_policy_of_a_service_linked_role_is_refused(name, accepted):
    at = "architecture.node_groups.p5.iam_policies[0]"
    assert (at not in plan_problems(p5(iam_policies=[name]))) == accepted
