"""Options of a node group that do not go together."""

from tests.support.stack_files import p5, plan, plan_problems

KEY = "architecture.node_groups.p5.auto_repair"


def repaired(*, agent, **group):
    raw = p5(auto_repair=True, **group)
    raw["architecture"]["addons"] = {"node_monitoring_agent": agent}
    return raw


def test_refuses_repair_without_the_agent_that_finds_the_faults():
    (path,) = plan_problems(repaired(agent=False, management="managed"))
    assert path == "architecture.addons.node_monitoring_agent"


def test_refuses_repair_of_a_group_that_eks_does_not_manage():
    problem = plan_problems(repaired(agent=True, management="self-managed"))[KEY]
    assert "managed groups only" in problem.problem


def test_repair_with_the_agent_is_planned():
    found = plan(repaired(agent=True, management="managed"))
    assert [group.auto_repair for group in found.node_groups] == [False, True]


def test_who_asks_for_ssh_learns_of_session_manager():
    """EKN-01, DF-15: the old template could do nothing without a key."""
    (note,) = [note for note in plan(p5(ssh_key_name="training")).notes if "training" in note]
    assert "aws ssm start-session" in note


def test_refuses_a_placement_group_for_a_managed_group_in_a_block():
    """B7."""
    raw = p5(management="managed", placement={"group": "create"})
    problem = plan_problems(raw)["architecture.node_groups.p5.placement.group"]
    assert "Capacity Block" in problem.problem
