"""Labels and taints of nodes in their user data become those of the node group."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, outcomes, read_directory
from tests.trainyard.importing.terraform.test_plan_json import CLUSTER, P5, read, resource, state
from trainyard.importing.imported import Imported
from trainyard.importing.lint import lint
from trainyard.importing.user_data import said_in

NODE_CONFIG = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      maxPods: 100
    flags:
      - "--node-labels=team=vision,eks.amazonaws.com/nodegroup=gpu,zone=${zone}"
      - --register-with-taints=nvidia.com/gpu=true:NoSchedule
  instance:
    localStorage:
      strategy: RAID0
"""
FLAGS = (
    "--kubelet-extra-args '--node-labels=team=vision "
    "--register-with-taints=nvidia.com/gpu=true:NoSchedule'"
)
SCRIPT = f"#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh train {FLAGS}\n"
LABELS = {"team": "vision"}
TAINTS = [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}]
MODULE = """\
module "eks" {{
  source       = "terraform-aws-modules/eks/aws"
  vpc_id       = "vpc-0123456789abcdef0"
  subnet_ids   = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
  name         = "train"
  self_managed_node_groups = {{
    gpu = {{
      instance_type = "p5.48xlarge"
      {}
    }}
  }}
}}
"""
PRE_NODEADM = f"""cloudinit_pre_nodeadm = [{{
  content_type = "application/node.eks.aws"
  content      = <<-EOT
{NODE_CONFIG}
EOT
}}]"""


def gpu(found: Imported) -> dict[str, Any]:
    return at(found, "architecture", "node_groups", "gpu")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (PRE_NODEADM, "cloudinit_pre_nodeadm[0].content"),
        (f'bootstrap_extra_args = "{FLAGS}"', "bootstrap_extra_args"),
        (f"pre_bootstrap_user_data = <<-EOT\n{SCRIPT}\nEOT", "pre_bootstrap_user_data"),
    ],
)
def test_labels_and_taints_of_an_input_of_the_module(tmp_path: Path, text: str, key: str):
    found = read_directory(tmp_path, main=MODULE.format(text))
    assert (gpu(found)["labels"], gpu(found)["taints"]) == (LABELS, TAINTS)
    fate, _ = outcomes(found)[f"module.eks.self_managed_node_groups.gpu.{key}"]
    assert fate == "taken over"
    assert not [each for each in lint(found) if each.level == "error"]


def test_labels_and_taints_of_the_group_itself_come_first(tmp_path: Path):
    own = 'labels = { team = "own" }\ntaints = { a = { key = "a", effect = "NO_EXECUTE" } }\n'
    found = read_directory(tmp_path, main=MODULE.format(own + PRE_NODEADM))
    assert gpu(found)["labels"] == {"team": "own"}
    assert gpu(found)["taints"] == [{"key": "a", "effect": "NoExecute"}]


GROUP = {
    "name": "gpu",
    "tag": [{"key": "kubernetes.io/cluster/train", "value": "owned", "propagate_at_launch": True}],
    "launch_template": [{"id": "lt-1"}],
    "min_size": 1,
    "max_size": 1,
}
MIME = (
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="//"\n\n--//\n'
    f"Content-Type: application/node.eks.aws\n\n{NODE_CONFIG}\n--//\n"
    "Content-Type: text/x-shellscript\n\n#!/bin/bash\nexport TOKEN=secret\n--//--\n"
)


@pytest.mark.parametrize("text", [NODE_CONFIG, SCRIPT, MIME])
def test_labels_and_taints_of_a_launch_template_in_a_state(tmp_path: Path, text: str):
    encoded = b64encode(text.encode()).decode()
    found = read(
        tmp_path,
        state(
            resource("aws_eks_cluster.it", CLUSTER),
            resource("aws_autoscaling_group.gpu", GROUP),
            resource("aws_launch_template.gpu", {**P5, "id": "lt-1", "user_data": encoded}),
        ),
    )
    assert (gpu(found)["labels"], gpu(found)["taints"]) == (LABELS, TAINTS)
    place = "aws_launch_template.gpu.user_data"
    assert outcomes(found)[f"{place}.labels.team"][0] == "taken over"
    if text != NODE_CONFIG:
        assert outcomes(found)[f"{place}.scripts"][0] == "not supported"
    assert not any("secret" in str(each.value) for each in found.entries)


def test_labels_of_a_launch_template_in_files(tmp_path: Path):
    text = f"""
    resource "aws_eks_cluster" "it" {{
      name = "train"
    }}
    resource "aws_autoscaling_group" "gpu" {{
      min_size = 1
      max_size = 1
      launch_template {{
        id = aws_launch_template.gpu.id
      }}
      tag {{
        key                 = "kubernetes.io/cluster/train"
        value               = "owned"
        propagate_at_launch = true
      }}
    }}
    resource "aws_launch_template" "gpu" {{
      instance_type = "p5.48xlarge"
      user_data     = base64encode("{SCRIPT.strip().replace(chr(10), chr(92) + "n")}")
    }}
    """
    found = read_directory(tmp_path, main=text)
    assert (gpu(found)["labels"], gpu(found)["taints"]) == (LABELS, TAINTS)


def test_user_data_that_says_nothing_is_a_script():
    assert said_in("#!/bin/bash\n/etc/eks/bootstrap.sh train\n") == {"scripts": 1}
