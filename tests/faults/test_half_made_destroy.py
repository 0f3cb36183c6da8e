"""`destroy` of a stack that was killed half-way names and retains protected objects.

The engine is killed when the file system exists but its creation is not recorded, before the
control plane is begun; or while CloudFormation creates a ParallelCluster. So `destroy` must first
find the objects to retain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.faults.stacks import throw
from tests.support.kills.gate import Moment
from tests.support.kills.harness import KillHarness
from tests.support.remains import remains, untold
from tests.support.sandbox import Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox

STACK, SLURM = "p5-cb", "pc-gpu"
KILLED = "call: 'cloudformation:CreateStack', happens: engine-killed-after"
DATA = {"kind": "fsx-lustre", "per_unit_storage_throughput": 125, "storage_capacity_gib": 2400}
_EKS = f"urn:pulumi:{STACK}::trainyard::trainyard:architectures:EksArchitecture$"
FILE_SYSTEM = (
    f"{_EKS}trainyard:architectures:ClusterStorage$trainyard:storage:FsxLustre$"
    f"aws:fsx/lustreFileSystem:LustreFileSystem::{STACK}-storage-data-file-system"
)
CONTROL_PLANE = (
    f"{_EKS}trainyard:eks:EksCluster$eks:index:Cluster$"
    f"aws:eks/cluster:Cluster::{STACK}-eks-eksCluster"
)
KEPT_KINDS = {
    "ec2:network-interface",
    "ec2:security-group",
    "ec2:security-group-rule",
    "ec2:subnet",  # it has fewer addresses left
    "fsx:file-system",
}


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillHarness]:
    """The stack with a file system, in its own sandbox."""
    folder = tmp_path_factory.mktemp("half")
    sandbox = Sandbox(folder / "sandbox")
    file = copied_stack_file(folder / "data.yaml", {"storage.data": DATA}, STACK)
    sandbox.must("sandbox", "start")
    yield KillHarness(sandbox, STACK, ("--stack-file", str(file)))
    sandbox.must("sandbox", "stop")


def _new(before: list[str], after: list[str], kind: str) -> list[str]:
    """Return the ids of the new objects of a kind."""
    return [line.split()[1] for line in set(after) - set(before) if line.startswith(f"{kind} ")]


def test_destroy_of_a_half_made_stack_keeps_and_names_what_is_protected(
    harness: KillHarness,
) -> None:
    sandbox = harness.sandbox.warm()
    before = sandbox.inventory()
    killed = harness.killed("up", {FILE_SYSTEM: Moment.UNANSWERED, CONTROL_PLANE: Moment.NOT_BEGUN})
    assert FILE_SYSTEM in killed.held, killed.said
    (file_system,) = _new(before, sandbox.inventory(), "fsx:file-system")

    destroy = ("destroy", STACK, "--sandbox", "--yes", *harness.arguments)
    done = sandbox.without_preview().must(*destroy)
    after = sandbox.inventory()
    (group,) = _new(before, after, "ec2:security-group")
    assert _new(before, after, "fsx:file-system") == [file_system]
    assert {line.split()[1] for line in remains(before, after)} == KEPT_KINDS
    assert f"{STACK} was destroyed, except for protected resources:" in done.stdout
    told = done.stdout[done.stdout.index("protected resources:") :]
    assert f"  {file_system}  aws:fsx/lustreFileSystem:LustreFileSystem" in told
    assert f"  {group}  aws:ec2/securityGroup:SecurityGroup" in told
    assert not untold(before, after, done.stdout)
    assert "storage.data.deletion_protection" in told


def test_destroy_of_a_cluster_that_is_being_made_takes_it_up_and_names_what_stays(
    harness: KillHarness, tmp_path: Path
) -> None:
    """PC-11: no output of the stack names its storage, because nothing was exported yet."""
    sandbox = harness.sandbox.without_preview()
    before = sandbox.inventory()
    throw(sandbox, tmp_path, [KILLED])
    # Only the engines of plain processes write the state before the end.
    killed = replace(sandbox, is_warm=False).run("up", SLURM, "--sandbox", "--yes")
    assert f"the engine was killed during the up of {SLURM}" in killed.stderr
    sandbox.must("sandbox", "faults", "--clear")

    done = sandbox.must("destroy", SLURM, "--sandbox", "--yes")
    after = sandbox.inventory()
    # On a fast machine CloudFormation may have finished, so that there is nothing to wait for.
    assert f"added aws:cloudformation/stack:Stack {SLURM}-deployment" in done.stderr
    assert (
        f"{SLURM} is deleted; ParallelCluster has kept the storage with deletion_protection:"
        in (done.stdout)
    )
    kinds = {line.split()[1] for line in remains(before, after)}
    assert kinds == KEPT_KINDS | {"ec2:volume"}
    assert not untold(before, after, done.stdout)
