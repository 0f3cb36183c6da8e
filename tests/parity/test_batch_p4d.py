"""AWS Batch with p4d against its template, nodes: BAT-01 to BAT-18."""

from __future__ import annotations

import pytest

from tests.config.test_network_outputs import OUTPUTS, reference
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.capacity.plan import PlacementPlan
from trainyard.components.config.network_outputs import network_of_outputs
from trainyard.components.config.problems import ConfigError

STACK = "batch-p4d"
NODES = "architecture__compute_environments__p4d"
GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/p4d"


@pytest.fixture
def p4d(batch):
    return batch(STACK)


@better(
    "BAT-01",
    "`VPCStackParameter`: the name of the VPC's stack, `LargeScaleVPC`",
    why="its name, ids, or a VPC of the stack's own; what the other stack lacks is said at once",
)
def test_the_network_is_that_of_a_stack_of_ids_or_its_own(p4d):
    assert p4d.plan.network.vpc_id == "vpc-0123456789abcdef0"
    taken = network_of_outputs(reference(), OUTPUTS, stack_file="Pulumi.batch-p4d.yaml")
    assert taken.vpc_id == OUTPUTS["vpc_id"]
    own = {"kind": "new-vpc", "availability_zones": ["usw2-az1"], "addresses": "vpc-one-az"}
    assert stack_plan(STACK, network=own).network.is_new


@better("BAT-02", "`AMI`: an image, or none", why="one that does not exist or fit is refused")
def test_an_image_of_ones_own_is_optional(p4d, changed_batch):
    assert p4d.plan.compute_environments[0].config.custom_ami_id is None
    image = {f"{NODES}__image": "custom", f"{NODES}__custom_ami_id": "ami-0ec50000000020232"}
    (configuration,) = changed_batch(STACK, **image).resources["ec2Configurations"]
    assert configuration["imageIdOverride"] == "ami-0ec50000000020232"
    with pytest.raises(ConfigError, match="does not exist"):
        stack_plan(STACK, **image | {f"{NODES}__custom_ami_id": "ami-0123456789abcdef1"})


def target(stack):
    return stack.template["capacityReservationSpecification"]


@same("BAT-03", "`CapacityReservationId`")
def test_nodes_launch_into_a_reservation_by_its_id(p4d):
    assert target(p4d)["capacityReservationTarget"] == {
        "capacityReservationId": "cr-00d00000000000005"
    }


@better(
    "BAT-04",
    "`CapacityReservationResourceGroup`: the ARN of a group",
    why="the group that is there by its ARN, or one that the stack makes of reservations",
)
def test_nodes_launch_into_a_group_of_reservations(changed_batch):
    members = ["cr-00d00000000000005"]
    group = {"kind": "odcr-group", "members": members, "instance_count": 2}
    group |= {"availability_zone": "us-west-2b"}
    made = changed_batch(STACK, reservations__training=group)
    (arn,) = target(made)["capacityReservationTarget"].values()
    assert ":group/" in arn
    assert len(made.cloud.of_type("aws:resourcegroups/group:Group")) == 1


@better(
    "BAT-05",
    "`EC2KeyPair`: required, though its text says that it is not",
    why="optional; without one nodes are reached through Session Manager",
)
def test_the_key_pair_is_optional(p4d, changed_batch):
    assert "keyName" not in p4d.template
    assert "AmazonSSMManagedInstanceCore" in p4d.policies(f"{STACK}-p4d-role")
    made = changed_batch(STACK, **{f"{NODES}__ssh_key_name": "sandbox"})
    assert made.template["keyName"] == "sandbox"


@better(
    "BAT-06",
    "`CreatePlacementGroup`: false or true",
    why="it follows from the capacity, and can be said where that allows it",
)
def test_the_placement_group_follows_from_the_capacity(p4d):
    assert p4d.plan.compute_environments[0].placement.group == "none"
    open_capacity = {f"{NODES}__purchase_option": "on-demand", "reservations": ...}
    zone = {f"{NODES}__availability_zone": "us-west-2b"}
    (nodes,) = stack_plan(STACK, **open_capacity, **zone).compute_environments
    assert nodes.placement.group == "create"


@better(
    "BAT-07",
    "`CapacityReservationTarget`: id, group or nothing, which makes an empty object",
    why="one of the two or no target; nodes never launch beside the reservation",
)
def test_nodes_launch_into_the_reservation_only(p4d, changed_batch):
    assert target(p4d)["capacityReservationPreference"] == "capacity-reservations-only"
    open_capacity = {f"{NODES}__purchase_option": "on-demand", "reservations": ...}
    zone = {f"{NODES}__availability_zone": "us-west-2b"}
    without = changed_batch(STACK, **open_capacity, **zone).template
    assert "capacityReservationTarget" not in without.get("capacityReservationSpecification", {})


@better(
    "BAT-08",
    "Four EFA interfaces, each on a network card of its own, with an address each",
    why="the same four without addresses, beside one interface with one",
)
def test_each_network_card_has_an_efa_interface(p4d, changed_batch):
    assert p4d.efa_cards == [0, 1, 2, 3]
    interfaces = p4d.template["networkInterfaces"]
    assert all(each["deleteOnTermination"] == "true" for each in interfaces)
    groups = {group for each in interfaces for group in each["securityGroups"]}
    assert groups == {f"{STACK}-nodes-group-id"}
    legacy = changed_batch(STACK, **{f"{NODES}__interface_layout": "efa"})
    types = [each["interfaceType"] for each in legacy.template["networkInterfaces"]]
    assert types == ["efa"] * 4


@better(
    "BAT-09",
    "User data with a RAID 0 of the local disks at /scratch, all of it commented out",
    why="it runs, and jobs have /scratch; `local_nvme: none` leaves it out",
)
def test_the_local_disks_are_one_volume_that_jobs_see(p4d, changed_batch):
    assert p4d.user_data.startswith("MIME-Version: 1.0\nContent-Type: multipart/mixed")
    assert "mdadm --create" in p4d.user_data
    (mounted,) = p4d.container("nccl-tests")["mountPoints"]
    assert mounted["containerPath"] == "/scratch"
    without = changed_batch(STACK, **{f"{NODES}__local_nvme": "none"})
    assert "mdadm" not in without.user_data
    assert "mountPoints" not in without.container("nccl-tests")


@better(
    "BAT-10",
    "A cluster placement group, also where nothing uses it",
    why="only where nodes launch into it",
)
def test_a_placement_group_is_made_only_where_it_is_used(p4d, changed_batch):
    assert p4d.cloud.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    open_capacity = {f"{NODES}__purchase_option": "on-demand", "reservations": ...}
    made = changed_batch(STACK, **open_capacity, **{f"{NODES}__availability_zone": "us-west-2b"})
    assert made.inputs("aws:ec2/placementGroup:PlacementGroup")["strategy"] == "cluster"


@better(
    "BAT-11",
    "`BatchInstanceRole`, which is the service role, with AWSBatchServiceRole",
    why="AWS's own service-linked role, with which Batch updates an environment in place",
)
def test_batch_works_with_its_own_role(p4d):
    assert "serviceRole" not in p4d.environment
    trusts = [role.inputs["assumeRolePolicy"] for role in p4d.cloud.of_type("aws:iam/role:Role")]
    assert not [trust for trust in trusts if "batch." in trust]


@better(
    "BAT-12",
    "`ECSTaskServiceRole`, which is the role of the nodes",
    why="the same policy, and Session Manager; jobs have a role of their own that may do nothing",
)
def test_nodes_have_the_policy_of_ecs_and_jobs_none(p4d):
    assert p4d.policies(f"{STACK}-p4d-role") == [
        "AmazonEC2ContainerServiceforEC2Role",
        "AmazonSSMManagedInstanceCore",
    ]
    assert p4d.policies(f"{STACK}-nccl-tests-role") == []
    role = p4d.container("nccl-tests")["jobRoleArn"]
    assert role.endswith(f"/{STACK}-nccl-tests-role")


@better(
    "BAT-13",
    "An instance profile of a fixed name",
    why="Pulumi makes the name, so that two stacks, or a replacement, never meet",
)
def test_the_instance_profile_has_no_fixed_name(p4d):
    profile = p4d.inputs("aws:iam/instanceProfile:InstanceProfile")
    assert profile["role"] == f"{STACK}-p4d-role"
    assert "name" not in profile


@better(
    "BAT-14",
    "A managed environment with a tag `Name`, which its nodes do not get",
    why="nodes, volumes and interfaces carry the tags of the stack and a name",
)
def test_the_environment_is_managed_and_its_nodes_are_tagged(p4d):
    made = p4d.environment
    assert (made["type"], made["state"]) == ("MANAGED", "ENABLED")
    tagged = {each["resourceType"]: each["tags"] for each in p4d.template["tagSpecifications"]}
    assert set(tagged) == {"instance", "volume", "network-interface"}
    assert tagged["instance"] == {"Name": f"{STACK}-p4d", "trainyard:cluster": STACK}


@better(
    "BAT-15",
    "EC2, BEST_FIT, no vCPU to 100,000, p4d.24xlarge, template `$Latest`, the private subnet",
    why=(
        "BEST_FIT_PROGRESSIVE and the template by number, which Batch updates in place; no more "
        "nodes than the reservation holds; the private subnet in its zone"
    ),
)
def test_the_environment_can_be_updated_in_place(p4d):
    made = p4d.resources
    assert (made["type"], made["allocationStrategy"]) == ("EC2", "BEST_FIT_PROGRESSIVE")
    assert (made["minVcpus"], made["maxVcpus"]) == (0, 2 * 96)
    assert "desiredVcpus" not in made
    assert made["instanceTypes"] == ["p4d.24xlarge"]
    assert made["launchTemplate"]["version"].isdigit()
    assert made["subnets"] == ["subnet-0b000000000000002"]


@better(
    "BAT-16",
    "`ComputeResources.PlacementGroup`, with its switch the wrong way round",
    why="in the launch template, as for every architecture, and only what was decided",
)
def test_the_environment_names_no_placement_group_beside_the_template(p4d, changed_batch):
    assert "placementGroup" not in p4d.resources
    assert "placement" not in p4d.template
    open_capacity = {f"{NODES}__purchase_option": "on-demand", "reservations": ...}
    made = changed_batch(STACK, **open_capacity, **{f"{NODES}__availability_zone": "us-west-2b"})
    assert made.template["placement"]["groupName"]
    assert "placementGroup" not in made.resources


@better("BAT-17", "`Ec2KeyPair`, which cannot be left out", why="in the template, where it is set")
def test_the_environment_names_no_key_pair(p4d):
    assert "ec2KeyPair" not in p4d.resources


@better(
    "BAT-18",
    "`ImageId`: a path of an SSM parameter that nobody resolves",
    why="the kind of image by name; Batch finds the image when a node starts",
)
def test_the_image_is_given_by_its_kind(p4d):
    assert p4d.resources["ec2Configurations"] == [{"imageType": "ECS_AL2023_NVIDIA"}]
    assert "imageId" not in p4d.resources
    assert "imageId" not in p4d.template


def test_a_group_that_the_reservation_was_made_in_is_joined():
    """The shared decision: launches into a reservation of a placement group join that group."""
    reservation = {"kind": "odcr", "provenance": "own", "reservation_id": "cr-00d00000000000001"}
    changes = {
        "reservations__training": reservation | {"placement_group": "p4de-reserved"},
        f"{NODES}__instance_type": "p4de.24xlarge",
    }
    (nodes,) = stack_plan(STACK, **changes).compute_environments
    assert isinstance(nodes.placement, PlacementPlan)
    assert (nodes.placement.group, nodes.placement.name) == ("existing", "p4de-reserved")


def test_group_arn_and_id_together_are_refused():
    """PR-52 in the stack file: each kind of reservation has one of the two."""
    with pytest.raises(ConfigError, match="group_arn"):
        stack_plan(STACK, reservations__training__group_arn=GROUP)
