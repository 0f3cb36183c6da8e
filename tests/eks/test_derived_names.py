import pytest

from tests.support.eks import changed, p5, refusals

LONGEST_CLUSTER = 37


def with_group(name, **changes):
    raw = p5(**changes)
    raw["architecture"]["node_groups"][name] = raw["architecture"]["node_groups"].pop("p5")
    return raw


def test_a_cluster_name_that_leaves_room_is_planned():
    assert refusals(changed(name="c" * LONGEST_CLUSTER)) == {}


def test_refuses_a_cluster_name_from_which_too_long_names_follow():
    """E17: Pulumi fails during an `up` if its suffix does not fit."""
    problem = refusals(changed(name="c" * (LONGEST_CLUSTER + 3)))["name"]
    assert problem.allowed == f"at most {LONGEST_CLUSTER} characters"


@pytest.mark.parametrize(
    ("management", "longest"),
    [pytest.param("managed", 38, id="managed"), pytest.param("self-managed", 45, id="self")],
)
def test_refuses_a_node_group_name_that_is_too_long_beside_the_clusters(management, longest):
    assert refusals(with_group("g" * longest, management=management)) == {}
    (problem,) = refusals(with_group("g" * (longest + 1), management=management)).values()
    assert problem.allowed == f"at most {longest} characters"


def test_flow_logs_leave_less_room_for_the_clusters_name():
    """Their role is named after the cluster too."""
    network = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
    logged = {**network, "flow_logs": True}
    assert refusals(changed(name="c" * LONGEST_CLUSTER, network=network)) == {}
    problem = refusals(changed(name="c" * LONGEST_CLUSTER, network=logged))["name"]
    assert problem.allowed == "at most 33 characters"
    assert refusals(changed(name="c" * 33, network=logged)) == {}
