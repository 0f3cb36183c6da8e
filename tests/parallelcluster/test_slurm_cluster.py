"""The CloudFormation stack of a cluster: ids, timeouts, and the effects of changes."""

import json
from dataclasses import replace

import pulumi
import pytest
import yaml

from tests.support.parallelcluster import compute_resource, head_node, new_vpc_plan, plan, queue
from tests.support.pools import ODCR_GROUP
from tests.support.stack_files import PUBLIC_A
from trainyard.components.parallelcluster.cluster_template import CLUSTER, PROVIDER
from trainyard.components.parallelcluster.slurm_cluster import SlurmCluster, SlurmClusterArgs

STACK = "aws:cloudformation/stack:Stack"
KEY = "aws:ec2/keyPair:KeyPair"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn me"
GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/reservations-pc-g4dn-group"


@pytest.fixture
def made(deploy):
    """Deploy a cluster; ids of subnets are their references with the prefix `id-`."""

    def run(of=None, **given):
        def program():
            cluster = SlurmCluster(
                "pc-g4dn",
                SlurmClusterArgs(
                    plan=of or plan(),
                    subnet_id=lambda name: pulumi.Output.from_input(f"id-{name}"),
                    reservation_ids=given.get("reservations", {}),
                    reservation_group_arns=given.get("groups", {}),
                    open_zfs_volume_ids=given.get("volumes", {}),
                    launch_after=given.get("after", lambda: ())(),
                ),
            )
            pulumi.export("configuration", cluster.configuration)
            pulumi.export("outputs", cluster.outputs)

        return deploy(program)

    return run


def stack(cloud):
    (found,) = cloud.of_type(STACK)
    return found


def cluster_file(cloud):
    """Return the cluster file in the template."""
    body = json.loads(stack(cloud).inputs["templateBody"])
    return body["Resources"][CLUSTER]["Properties"]["ClusterConfiguration"]


def test_the_stack_has_its_own_name_and_the_cluster_another(made):
    """ParallelCluster creates another stack, with the cluster's name."""
    cloud = made()
    assert stack(cloud).inputs["name"] == "pc-g4dn-deployment"
    body = json.loads(stack(cloud).inputs["templateBody"])
    assert body["Resources"][CLUSTER]["Properties"]["ClusterName"] == "pc-g4dn"


def test_it_may_do_what_the_provider_does(made):
    """The provider's template creates roles and has a transform, which require capabilities."""
    assert stack(made()).inputs["capabilities"] == [
        "CAPABILITY_IAM",
        "CAPABILITY_NAMED_IAM",
        "CAPABILITY_AUTO_EXPAND",
    ]


def test_the_template_holds_real_ids(made):
    rendered = cluster_file(made(new_vpc_plan()))
    assert rendered["HeadNode"]["Networking"]["SubnetId"] == "id-public-us-west-2a"
    assert rendered["Scheduling"]["SlurmQueues"][0]["Networking"]["SubnetIds"] == [
        "id-private-us-west-2a",
        "id-private-us-west-2b",
    ]


def test_the_cluster_file_that_is_given_away_is_the_one_that_is_deployed(made):
    """PR-03: `pcluster create-cluster` accepts it unchanged."""
    cloud = made()
    assert yaml.safe_load(cloud.exports["configuration"]) == cluster_file(cloud)


def test_a_public_key_is_imported_and_the_head_node_takes_it(made):
    """PR-02: never a private key."""
    cloud = made(plan(head_node=head_node(key_name=None, public_key=PUBLIC_KEY)))
    (key,) = cloud.of_type(KEY)
    assert key.inputs["publicKey"] == PUBLIC_KEY
    assert key.inputs["tags"] == {
        "Name": "pc-g4dn",
        "team": "vision",
        "trainyard:cluster": "pc-g4dn",
    }
    assert cluster_file(cloud)["HeadNode"]["Ssh"]["KeyName"] == "pc-g4dn-key"
    assert key.urn in stack(cloud).dependencies


def test_a_key_pair_that_exists_is_not_made(made):
    """PC-05."""
    cloud = made()
    assert cloud.of_type(KEY) == []
    assert cluster_file(cloud)["HeadNode"]["Ssh"]["KeyName"] == "sandbox"


def test_a_group_of_the_stack_is_targeted_by_its_arn(made):
    """PR-07."""
    reserved = queue("compute", compute_resource(capacity=ODCR_GROUP), capacity=ODCR_GROUP)
    cloud = made(plan(queues=(reserved,)), groups={"group": GROUP})
    target = cluster_file(cloud)["Scheduling"]["SlurmQueues"][0]["CapacityReservationTarget"]
    assert target == {"CapacityReservationResourceGroupArn": GROUP}


def test_the_engine_waits_longer_than_cloudformation(made):
    """Otherwise the engine gives up before the reason of the failure is available."""
    limited = plan(deployment=replace(plan().deployment, timeout_minutes=60))
    assert stack(made(limited)).inputs["timeoutInMinutes"] == 60
    assert stack(made(limited)).custom_timeouts["create"] == "90m"
    assert stack(made(limited)).custom_timeouts["update"] == "120m"
    assert stack(made(limited)).custom_timeouts["delete"] == "120m"


def test_a_failed_creation_leaves_no_stack_that_blocks_the_next(made):
    """A stack in ROLLBACK_COMPLETE cannot be updated."""
    assert stack(made()).inputs["onFailure"] == "DELETE"


def test_settings_of_the_creation_never_replace_the_cluster(made):
    """pulumi-aws replaces the stack, and with it the cluster, when one of them changes."""
    assert set(stack(made()).ignore_changes) == {"timeoutInMinutes", "onFailure"}


def test_nodes_start_when_what_they_need_is_there(made):
    """PR-61, pain 14: the head node installs packages, and static nodes follow at once."""
    waited_for = []

    def gateway():
        waited_for.append(pulumi.CustomResource("aws:ec2/natGateway:NatGateway", "nat", {}))
        return waited_for

    cloud = made(after=gateway)
    assert cloud.one("nat").urn in stack(cloud).dependencies


def test_tags_of_the_stack(made):
    assert stack(made()).inputs["tags"] == {"team": "vision", "trainyard:cluster": "pc-g4dn"}


def test_a_provider_that_exists_is_called(made):
    token = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn"
    shared = plan(deployment=replace(plan().deployment, provider_service_token=token))
    body = json.loads(stack(made(shared)).inputs["templateBody"])
    assert PROVIDER not in body["Resources"]


def test_nothing_in_it_is_secret(made):
    """Users review the diff of the template before an update."""
    cloud = made(plan(head_node=head_node(key_name=None, public_key=PUBLIC_KEY)))
    assert isinstance(stack(cloud).inputs["templateBody"], str)
    assert "secret" not in cloud.exports["configuration"]


def test_the_outputs_are_those_of_the_template(made):
    assert made().exports["outputs"]["HeadNodeInstanceId"].startswith("i-")


def test_the_subnet_of_the_head_node_is_asked_by_its_reference(made):
    assert cluster_file(made())["HeadNode"]["Networking"]["SubnetId"] == f"id-{PUBLIC_A}"
