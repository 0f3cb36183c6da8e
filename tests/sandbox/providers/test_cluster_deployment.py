"""The template of the program through CloudFormation and the provider of ParallelCluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cloudformation import Stacks, cloudformation
from tests.support.parallelcluster import compute_resource, head_node, plan, queue
from tests.support.provider_plugin import Made, Plugin, RefusedError
from tests.support.sandbox_aws import Account
from tests.support.stack_files import PRIVATE_A
from trainyard.components.parallelcluster.cluster_template import cluster_template, template_body
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.resources import LOG_GROUP_PARAMETER
from trainyard.components.parallelcluster.slurm_cluster import CAPABILITIES, CREATION_ONLY
from trainyard.sandbox.aws.server import AwsServer

pytestmark = pytest.mark.parallelcluster

STACK = "aws:cloudformation/stack:Stack"


@pytest.fixture(scope="module")
def stacks(server: AwsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stacks]:
    """The CloudFormation stacks of an account, shared by the tests of this module."""
    server.reset()
    with cloudformation(server, tmp_path_factory.mktemp("engine")):
        yield Stacks(Account(server))


@pytest.fixture(scope="module")
def plugin(stacks: Stacks, aws_provider: Plugin) -> Plugin:
    return aws_provider


def inputs(made: ParallelClusterPlan) -> dict[str, Any]:
    """Return the registered inputs for a plan, without a time limit.

    The emulated DescribeStacks does not return the limit; the program ignores changes of it.
    """
    configuration = resolve(render_cluster(made), lambda reference: reference.name)
    return {
        "name": made.deployment.stack_name,
        "templateBody": template_body(cluster_template(made, configuration)),
        "capabilities": list(CAPABILITIES),
        "onFailure": "DELETE",
        "tags": dict(made.tags),
    }


def differences(plugin: Plugin, made: Made, wanted: dict[str, Any]) -> set[str]:
    """Return the changed properties, without those that the program ignores; outputs follow."""
    return set(plugin.diff(STACK, made, wanted)[0]) - {"outputs", *CREATION_ONLY}


@pytest.fixture(scope="module")
def cluster(plugin: Plugin) -> Made:
    return plugin.create(STACK, inputs(plan()))


def test_a_cluster_comes_up_with_what_people_ask_for(cluster: Made) -> None:
    """PR-03, PR-63."""
    outputs = cluster.outputs["outputs"]
    assert outputs["ClusterName"] == "pc-g4dn"
    assert outputs["ClusterStatus"] == "CREATE_COMPLETE"
    assert outputs["ComputeFleetStatus"] == "RUNNING"
    assert outputs["HeadNodeInstanceId"].startswith("i-")
    assert outputs["HeadNodePublicIp"]
    assert ":log-group:" in outputs["ProviderLogGroupArn"]


def test_its_log_group_can_be_found(plugin: Plugin, cluster: Made) -> None:
    """PR-10, PR-46: by a parameter of ParallelCluster's own stack."""
    name = cluster.outputs["outputs"]["ClusterName"]
    answer = plugin.invoke("aws:cloudformation/getStack:getStack", {"name": name})
    group = answer["parameters"][LOG_GROUP_PARAMETER]
    assert re.fullmatch(r"/aws/parallelcluster/pc-g4dn-\d{12}", group)


def test_nothing_changes_without_a_change(plugin: Plugin, cluster: Made) -> None:
    assert differences(plugin, cluster, inputs(plan())) == set()


def test_a_larger_queue_is_an_update_in_place(plugin: Plugin, cluster: Made) -> None:
    """PR-04."""
    larger = inputs(plan(queues=(queue("compute", compute_resource(maximum=4)),)))
    assert differences(plugin, cluster, larger) == {"templateBody"}
    updated = plugin.update(STACK, cluster, larger)
    assert updated.outputs["outputs"]["ClusterStatus"] == "UPDATE_COMPLETE"


def test_a_private_head_node_comes_up_too(plugin: Plugin, stacks: Stacks) -> None:
    """PC-04 is public; a template that asked for a public address would fail here."""
    private = head_node(subnets=(PRIVATE_A,), public=False, key_name=None)
    named = plan(name="private", head_node=private)
    wanted = {**inputs(named), "name": "private-deployment"}
    made = plugin.create(STACK, wanted)
    assert "HeadNodePublicIp" not in made.outputs["outputs"]
    plugin.delete(STACK, made)
    assert stacks.status("private") == "DELETE_COMPLETE"


def test_a_failed_creation_says_why_and_leaves_nothing(plugin: Plugin, stacks: Stacks) -> None:
    """PR-10: the next `up` creates a new stack, because it cannot continue a rolled-back one."""
    wrong = plan(name="wrong", head_node=head_node(key_name="nobody"))
    with pytest.raises(RefusedError, match="The key pair 'nobody' does not exist"):
        plugin.create(STACK, {**inputs(wrong), "name": "wrong-deployment"})
    assert stacks.status("wrong-deployment") == "DELETE_COMPLETE"
    assert stacks.status("wrong") == "DELETE_COMPLETE"


def test_the_cluster_goes_with_its_deployment(plugin: Plugin, stacks: Stacks) -> None:
    made = plugin.create(STACK, {**inputs(plan(name="gone")), "name": "gone-deployment"})
    assert stacks.status("gone") == "CREATE_COMPLETE"
    plugin.delete(STACK, made)
    assert plugin.read(STACK, made) is None
    assert stacks.status("gone") == "DELETE_COMPLETE"
