"""JobSet: its controller, on nodes that stay, and its objects as released."""

from __future__ import annotations

import pytest

from tests.eks.addons.support.addons import program_of
from tests.support.eks import P5, SYSTEM, changed
from tests.support.stack_files import plan_from
from trainyard.components.eks.addons import jobset
from trainyard.components.eks.addons.jobset import JOBSET


@pytest.fixture
def cloud(deploy):
    return deploy(program_of("jobset", JOBSET, groups=(SYSTEM, P5)))


def test_the_controller_has_the_pinned_image_on_nodes_without_accelerators(cloud):
    made = cloud.one("jobset-deployment").inputs
    assert made["metadata"]["namespace"] == "jobset-system"
    spec = made["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["image"] == jobset.IMAGE
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    ((expression,),) = (each["matchExpressions"] for each in required["nodeSelectorTerms"])
    assert (expression["operator"], expression["values"]) == ("NotIn", ["p5.48xlarge"])


def test_it_starts_when_its_objects_exist(cloud):
    deployment = cloud.one("jobset-deployment")
    needed = {made.name for made in cloud.registered if made.urn in deployment.dependencies}
    kind = "jobset-customresourcedefinition-jobsets.jobset.x-k8s.io"
    assert {kind, "jobset-configmap-jobset-manager-config"} <= needed


def test_it_is_installed_where_the_stack_asks_for_it():
    assert "jobset" not in plan_from(changed()).self_managed_addons
    planned = plan_from(changed(architecture__addons={"jobset": True}))
    assert planned.self_managed_addons["jobset"] == ("system", "p5")
