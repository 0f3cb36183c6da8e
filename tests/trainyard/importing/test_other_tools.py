"""Files of other tools, and of no cluster: `lint` and `import` say what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.tracked import ROOT
from trainyard.cli.app import app

# The smallest examples of the documents that `formats` names, in the words of those.
RAY = """\
cluster_name: minimal
provider:
    type: aws
    region: us-west-2
"""
SKYPILOT = """\
resources:
  infra: aws
  accelerators: A100:8
workdir: .
setup: |
  echo "Running setup."
run: |
  echo "Hello, SkyPilot!"
"""
DSTACK = "type: fleet\nname: my-fleet\nnodes: 2\nplacement: cluster\n"
HYPERPOD = json.dumps(
    {
        "ClusterName": "ml-cluster",
        "InstanceGroups": [
            {
                "InstanceGroupName": "worker",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": 2,
                "ExecutionRole": "arn:aws:iam::111122223333:role/hyperpod",
                "LifeCycleConfig": {"SourceS3Uri": "s3://b", "OnCreate": "on_create.sh"},
            }
        ],
    }
)
KARPENTER = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
"""
CLUSTER_API = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata:
  name: test1
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSCluster
metadata:
  name: test1
"""
KUBERAY = "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata:\n  name: raycluster\n"
TOOLS = {
    "ray.yaml": (RAY, "a cluster configuration of Ray"),
    "sky.yaml": (SKYPILOT, "a task of SkyPilot"),
    "fleet.dstack.yml": (DSTACK, "a configuration of dstack"),
    "cluster.json": (HYPERPOD, "a cluster of SageMaker HyperPod"),
    "nodes.yaml": (KARPENTER, "a manifest of Karpenter"),
    "capi.yaml": (CLUSTER_API, "a manifest of Cluster API"),
    "kuberay.yaml": (KUBERAY, "a manifest of KubeRay"),
}


def said_by(*arguments: str | Path, code: int = 2) -> str:
    """Return what a command says that refuses its files, or has only a note about them."""
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("name", TOOLS)
def test_a_file_of_another_tool_is_named(name: str, tmp_path: Path) -> None:
    text, title = TOOLS[name]
    path = tmp_path / name
    path.write_text(text)
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    noted = said_by("lint", path, code=0)
    assert f"{path}:1: note schema/not-read: " in noted
    for said in (noted, said_by("--stacks", stacks, "import", path)):
        assert said.count(f"is {title}, which is not read; `./trainyard init` creates a") == 1
    assert not [*stacks.iterdir()]
    skipped = CliRunner().invoke(app, ["lint", "--skip-others", str(path)])
    assert (skipped.exit_code, skipped.output) == (0, "")


def test_what_belongs_to_no_known_tool_is_not_taken_for_one(tmp_path: Path) -> None:
    """A workflow, a service of Compose and an object of another API have some of the keys."""
    others = {
        "action.yml": "name: x\nruns: {using: composite}\nrun: echo\nresources: {}\n",
        "compose.yaml": "name: x\nservices: {a: {image: b}}\n",
        "job.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n",
        "fake.yaml": "apiVersion: notkarpenter.sh/v1\nkind: NodePool\n",
        "task.yaml": "type: task\ncommands: [a]\n",
        "api.json": '{"ClusterName": "a"}',
    }
    for name, text in others.items():
        (tmp_path / name).write_text(text)
        said = said_by("lint", tmp_path / name)
        assert "which is not read" not in said, name
        assert "has no format that can be read" in said


def test_a_stack_file_is_read_with_check(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.dev.yaml"
    path.write_text((ROOT / "Pulumi.dev.yaml").read_text())
    command = f"check dev --stack-file {path}"
    for said in (said_by("lint", path, code=0), said_by("import", path)):
        assert f"is a stack file, which `check` reads: `./trainyard {command}`" in said
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0


def state(*resources: tuple[str, dict[str, object]]) -> str:
    """Return a state as `terraform show -json` prints it.

    https://developer.hashicorp.com/terraform/internals/json-format#state-representation
    """
    listed = [
        {"address": f"{kind}.a", "mode": "managed", "type": kind, "name": "a", "values": values}
        for kind, values in resources
    ]
    root = {"resources": listed} if listed else {}
    return json.dumps({"format_version": "1.0", "values": {"root_module": root}})


TEMPLATE = "Resources:\n  B:\n    Type: AWS::S3::Bucket\n"
EMPTY = {
    "bucket.json": state(("aws_s3_bucket", {"bucket": "x"})),
    "nothing.json": state(),
    "group.json": state(("aws_eks_node_group", {"cluster_name": "x"})),
    "bucket.tf": 'resource "aws_s3_bucket" "b" {\n  bucket = "x"\n}\n',
    "template.yaml": TEMPLATE,
    "eksctl.yaml": "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\n",
}


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_is_written_from_a_file_without_a_cluster(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(EMPTY[name])
    stacks = tmp_path / "stacks"
    stacks.mkdir()
    said = said_by("--stacks", stacks, "import", tmp_path / name)
    assert "nothing of it becomes part of a stack" in said or "has no EKS cluster" in said
    assert not [*stacks.iterdir()]
