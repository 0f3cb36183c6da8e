"""From `CONFIG_MAP` to `API` in the sandbox, one step for each `up`, with nodes that really join.

The commands run once, in the order of `walk`; every test asserts one claim about their results. At
each step the instances are terminated: their replacements join with tokens that are new to the API
server, so that each step is proved by its own nodes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
WORKERS = {
    "management": "self-managed",
    "instance_type": "c5.2xlarge",
    "purchase_option": "on-demand",
    "minimum": 1,
    "desired": 1,
    "maximum": 1,
    "efa_enabled": False,
}
NODES = 2
"""One of the system group, which EKS authorizes, and one that the program authorizes."""
PERSON = "arn:aws:iam::123456789012:role/somebody"
FOREIGN = {
    "mapRoles": f"- rolearn: {PERSON}  # by hand\n  username: somebody\n  groups: [view]\n",
    "mapUsers": "- userarn: arn:aws:iam::123456789012:user/alice\n  groups: [system:masters]\n",
    "mapAccounts": '["210987654321"]',
}
STEPS = {
    "map": ("CONFIG_MAP", "aws-auth"),
    "both": ("API_AND_CONFIG_MAP", "aws-auth"),
    "entry": ("API_AND_CONFIG_MAP", "access-entry"),
    "api": ("API", "access-entry"),
}


@dataclass(slots=True)
class Walk:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    nodes: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    map_roles: dict[str, str] = field(default_factory=dict[str, str])
    entries: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    role: str = ""
    left: list[str] = field(default_factory=list[str])


class Walker:
    """Performs the steps in one sandbox."""

    def __init__(self, sandbox: Sandbox, files: Path) -> None:
        self.sandbox = sandbox
        self.seen = Walk()
        self.eks, self.ec2 = (sandbox.aws(service) for service in ("eks", "ec2"))
        self._files = files

    def file(self, mode: str, how: str) -> Path:
        """Write the stack file of a step."""
        change = {
            "architecture.authentication_mode": mode,
            "architecture.node_authorization": how,
            "architecture.node_groups": {"workers": WORKERS},
            "architecture.system_node_group.addon_policies": [],
            "architecture.addons": {"pod_identity_agent": False, "node_termination_handler": False},
            "reservations": {},
        }
        return copied_stack_file(self._files / f"{mode}-{how}.yaml", change)

    def run(self, moment: str, command: str, mode: str, how: str) -> Done:
        """Run a command with the stack file of a step, whether or not it succeeds."""
        yes = [] if command == "preview" else ["--yes"]
        file = self.file(mode, how)
        done = self.sandbox.run(command, STACK, "--sandbox", *yes, "--stack-file", file)
        self.seen.done[moment] = done
        return done

    def step(self, name: str) -> None:
        """Bring the stack to a step, and verify it with new nodes."""
        done = self.run(name, "up", *STEPS[name])
        assert done.exit_code == 0, done.said
        self.seen.changes[name] = self.sandbox.resource_changes(STACK)
        self.replace_nodes(name)
        self.seen.map_roles[name] = self.map_roles()
        if name != "map":
            self.seen.entries[name] = self.entries()

    def replace_nodes(self, name: str) -> None:
        """Terminate every instance, and wait for the same number of new Ready nodes."""
        before = self.ready_nodes()
        found = self.ec2.describe_instances(
            Filters=[{"Name": "instance-state-name", "Values": ["running"]}]
        )
        instances = [i["InstanceId"] for r in found["Reservations"] for i in r["Instances"]]
        self.ec2.terminate_instances(InstanceIds=instances)
        until(lambda: len(self.ready_nodes() - before) == NODES, f"nodes at {name}")
        self.seen.nodes[name] = self.ready_nodes() - before

    def ready_nodes(self) -> frozenset[str]:
        """Return the names of the Ready nodes."""
        with self.sandbox.kubernetes(STACK) as api:
            nodes = client.CoreV1Api(api).list_node().items
        return frozenset(node.metadata.uid for node in nodes if _ready(node))

    def map_roles(self) -> str:
        """Return `mapRoles` as it is."""
        with self.sandbox.kubernetes(STACK) as api:
            found = client.CoreV1Api(api).read_namespaced_config_map("aws-auth", "kube-system")
        return (found.data or {}).get("mapRoles", "")

    def write_map(self, data: dict[str, Any]) -> None:
        """Change keys of `aws-auth` as in a manual edit."""
        with self.sandbox.kubernetes(STACK) as api:
            core = client.CoreV1Api(api)
            core.patch_namespaced_config_map("aws-auth", "kube-system", {"data": data})

    def entries(self) -> dict[str, str]:
        """Return the types of the access entries, by principal."""
        arns = self.eks.list_access_entries(clusterName=STACK)["accessEntries"]
        described = [
            self.eks.describe_access_entry(clusterName=STACK, principalArn=arn) for arn in arns
        ]
        return {d["accessEntry"]["principalArn"]: d["accessEntry"]["type"] for d in described}


def _ready(node: client.V1Node) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in node.status.conditions or [])


@pytest.fixture(scope="module")
def walk(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Perform the whole migration, with a wrong attempt at every step."""
    before = sandbox.inventory()
    walker = Walker(sandbox.without_preview(), tmp_path_factory.mktemp("steps"))
    try:
        _in_the_map(walker)
        _in_both(walker)
        _to_the_entry(walker)
        _to_the_api(walker)
    finally:
        destroyed = walker.run("destroy", "destroy", *STEPS["api"])
    assert destroyed.exit_code == 0, destroyed.said
    walker.seen.left = [line for line in sandbox.inventory() if line not in before]
    return walker.seen


def _in_the_map(walker: Walker) -> None:
    walker.step("map")
    walker.write_map(FOREIGN | {"mapRoles": FOREIGN["mapRoles"] + walker.map_roles()})
    outputs = walker.sandbox.must("outputs", STACK, "--sandbox", "--json").stdout
    (walker.seen.role,) = json.loads(outputs)["aws_auth_role_arns"]
    walker.run("two steps", "preview", *STEPS["api"])


def _in_both(walker: Walker) -> None:
    walker.step("both")
    walker.run("way back", "preview", *STEPS["map"])
    walker.run("too early", "preview", *STEPS["api"])
    # A foreign entry for the stack's role: EKS refuses a second one during the `up`.
    entry = {"clusterName": STACK, "principalArn": walker.seen.role}
    walker.eks.create_access_entry(**entry)
    walker.run("entry in the way", "up", *STEPS["entry"])
    walker.seen.map_roles["entry in the way"] = walker.map_roles()
    walker.eks.delete_access_entry(**entry)


def _to_the_entry(walker: Walker) -> None:
    walker.step("entry")
    good = walker.map_roles()
    walker.write_map({"mapRoles": "- rolearn: [broken\n"})
    walker.run("broken map", "up", *STEPS["entry"])
    walker.seen.map_roles["broken map"] = walker.map_roles()
    walker.write_map({"mapRoles": good})


def _to_the_api(walker: Walker) -> None:
    walker.step("api")
    walker.run("again", "up", *STEPS["api"])
    walker.seen.changes["again"] = walker.sandbox.resource_changes(STACK)


@pytest.mark.parametrize("step", STEPS)
def test_new_nodes_of_both_groups_join_at_every_step(walk: Walk, step: str) -> None:
    """EKN-16, PR-25."""
    assert len(walk.nodes[step]) == NODES


def test_no_step_replaces_the_cluster_or_a_node_group(walk: Walk) -> None:
    for step in ("both", "entry", "api"):
        assert "replace" not in walk.changes[step], step
    assert {k: n for k, n in walk.changes["both"].items() if k != "same"} == {"update": 1}


def test_two_steps_at_once_are_refused_with_the_command_of_the_first(walk: Walk) -> None:
    done = walk.done["two steps"]
    assert done.exit_code != 0
    assert "EKS takes one at a time" in done.said
    assert "architecture.authentication_mode` to `API_AND_CONFIG_MAP`" in done.said


def test_the_way_back_is_refused_with_the_reason(walk: Walk) -> None:
    done = walk.done["way back"]
    assert done.exit_code != 0
    assert "EKS never takes access entries away" in done.said


def test_the_last_step_is_refused_while_a_role_has_no_access_entry(walk: Walk) -> None:
    done = walk.done["too early"]
    assert done.exit_code != 0
    assert "the role of the node group workers has no access entry" in done.said
    assert PERSON in done.said


def test_the_line_stays_where_the_access_entry_cannot_be_made(walk: Walk) -> None:
    """Nodes are never locked out: the line is removed last, or not at all."""
    assert walk.done["entry in the way"].exit_code != 0
    assert "ResourceInUseException" in walk.done["entry in the way"].said
    assert walk.role in walk.map_roles["entry in the way"]


def test_the_line_goes_when_the_access_entry_is_there(walk: Walk) -> None:
    assert walk.role in walk.map_roles["both"]
    assert walk.entries["both"].get(walk.role) is None
    assert walk.role not in walk.map_roles["entry"]
    assert walk.entries["entry"][walk.role] == "EC2_LINUX"


def test_eks_makes_the_entry_of_the_managed_group(walk: Walk) -> None:
    nodes = [arn for arn, kind in walk.entries["both"].items() if kind == "EC2_LINUX"]
    assert len(nodes) == 1
    assert "-system-" in nodes[0]


def test_a_broken_map_is_refused_untouched(walk: Walk) -> None:
    done = walk.done["broken map"]
    assert done.exit_code != 0
    assert "is not YAML" in done.said
    assert "kubectl -n kube-system edit configmap aws-auth" in done.said
    assert walk.map_roles["broken map"] == "- rolearn: [broken\n"


def test_the_last_step_lists_who_loses_access(walk: Walk) -> None:
    lines = walk.done["api"].said.splitlines()
    listed = [line for line in lines if "ends the access of 3 that stand in aws-auth" in line]
    assert listed
    for lost in (PERSON, "user/alice", "account 210987654321"):
        assert lost in listed[0], lost
    assert walk.role not in listed[0]


def test_the_map_is_left_to_its_owners_when_nobody_reads_it(walk: Walk) -> None:
    for step in ("both", "entry", "api"):
        assert FOREIGN["mapRoles"] in walk.map_roles[step], step


def test_the_same_command_changes_nothing_at_the_end(walk: Walk) -> None:
    assert set(walk.changes["again"]) == {"same"}


def test_destroy_leaves_nothing(walk: Walk) -> None:
    assert walk.left == []
