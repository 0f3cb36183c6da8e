"""FSx for Lustre of a cluster: mounted by a pod, protected from mistakes, removed on request.

The commands run once, in the order of `life`; every test asserts one claim about their results.
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
DATA: dict[str, Any] = {
    "kind": "fsx-lustre",
    "per_unit_storage_throughput": 125,
    "storage_capacity_gib": 2400,
    "data_repositories": [{"file_system_path": "/a", "s3_path": "s3://trainyard-sandbox-data/a/"}],
}
REPLACING = DATA | {"storage_capacity_gib": 1200}
GIVEN_UP = DATA | {"deletion_protection": False}
KEPT_KINDS = {
    "ec2:network-interface",
    "ec2:security-group",
    "ec2:security-group-rule",
    "ec2:subnet",
    "fsx:data-repository-association",
    "fsx:file-system",
}


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    node_of_pod: str = ""
    claim_phase: str = ""


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Run the whole life of the file system, and record its state at every relevant step."""
    life, copies = Life(), tmp_path_factory.mktemp("copies")
    files = {
        name: copied_stack_file(copies / f"{name}.yaml", {"storage.data": data})
        for name, data in (("data", DATA), ("replacing", REPLACING), ("given-up", GIVEN_UP))
    }
    life.inventory["before"] = sandbox.inventory()
    at_once = sandbox.without_preview()
    _up(life, at_once, "up", files["data"])
    life.outputs = json.loads(sandbox.must("outputs", STACK, "--sandbox", "--json").stdout)
    _mount(life, sandbox)
    life.done["replacing"] = sandbox.run(
        "preview", STACK, "--sandbox", "--stack-file", files["replacing"]
    )
    _destroy(life, sandbox, "destroy")
    _destroy(life, at_once, "once more")
    _up(life, at_once, "given up", files["given-up"])
    _destroy(life, at_once, "all")
    return life


def _up(life: Life, sandbox: Sandbox, moment: str, stack_file: Path) -> None:
    life.done[moment] = sandbox.must("up", STACK, "--sandbox", "--yes", "--stack-file", stack_file)
    life.inventory[moment] = sandbox.inventory()


def _destroy(life: Life, sandbox: Sandbox, moment: str) -> None:
    life.done[moment] = sandbox.must("destroy", STACK, "--sandbox", "--yes")
    life.inventory[moment] = sandbox.inventory()


def _mount(life: Life, sandbox: Sandbox) -> None:
    """Run a pod that uses the claim until it is scheduled; it remains, like a forgotten one."""
    source = client.V1PersistentVolumeClaimVolumeSource(claim_name="data")
    volume = client.V1Volume(name="data", persistent_volume_claim=source)
    mount = client.V1VolumeMount(name="data", mount_path="/data")
    container = client.V1Container(name="reader", image="busybox:1.37", volume_mounts=[mount])
    pod = client.V1Pod(
        metadata=client.V1ObjectMeta(name="reader"),
        spec=client.V1PodSpec(containers=[container], volumes=[volume]),
    )
    with sandbox.kubernetes(STACK) as api:
        core = client.CoreV1Api(api)
        core.create_namespaced_pod("default", pod)

        def node() -> str:
            return core.read_namespaced_pod("reader", "default").spec.node_name or ""

        until(lambda: node() != "", "the pod with the claim has a node")
        life.node_of_pod = node()
        claim = core.read_namespaced_persistent_volume_claim("data", "default")
        life.claim_phase = claim.status.phase


def _file_systems(life: Life, moment: str) -> list[str]:
    """Return the inventory lines of the new file systems."""
    made = set(life.inventory[moment]) - set(life.inventory["before"])
    return [line for line in made if line.startswith("fsx:file-system")]


def _kinds(lines: list[str]) -> set[str]:
    return {line.split(" ")[0] for line in lines}


def test_a_pod_with_the_claim_gets_a_node(life: Life) -> None:
    assert life.claim_phase == "Bound"
    assert life.node_of_pod


def test_the_outputs_say_how_to_mount_it(life: Life) -> None:
    found = life.outputs["file_systems"]["data"]
    assert found["claim"] == "default/data"
    assert f"{found['file_system_id']}.fsx.us-west-2.amazonaws.com@tcp:/" in found["mount_command"]


def test_it_lies_in_the_subnet_of_the_nodes_with_efa(life: Life) -> None:
    (line,) = _file_systems(life, "up")
    assert "subnets=subnet-0b000000000000002" in line


def test_a_change_that_would_replace_it_is_refused_with_the_reason(life: Life) -> None:
    done = life.done["replacing"]
    assert done.exit_code == 2
    assert "storage.data.storage_capacity_gib" in done.said
    assert "and lose what is in it" in done.said


@pytest.mark.parametrize("moment", ["destroy", "once more"])
def test_destroy_leaves_the_file_system_and_what_it_needs_and_nothing_else(
    life: Life, moment: str
) -> None:
    left = set(life.inventory[moment]) - set(life.inventory["before"])
    assert _kinds(list(left)) == KEPT_KINDS
    (system,) = _file_systems(life, moment)
    assert system in life.inventory["up"]


@pytest.mark.parametrize("moment", ["destroy", "once more"])
def test_destroy_says_what_stays_and_how_to_remove_it(life: Life, moment: str) -> None:
    said = life.done[moment].stdout
    assert life.outputs["file_systems"]["data"]["file_system_id"] in said
    assert "'trainyard:cluster.storage.data.deletion_protection' false" in said


def test_the_next_up_takes_the_file_system_up_again(life: Life) -> None:
    (before,) = _file_systems(life, "up")
    assert before in life.inventory["given up"]


def test_without_protection_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.inventory["all"] == life.inventory["before"]
