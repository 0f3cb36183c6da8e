"""What to do about the objects of a template that no stack makes."""

from __future__ import annotations

from collections.abc import Sequence

_UNMADE: Sequence[tuple[str, str]] = (
    ("AWS::CloudFormation::Stack", "import the template of the nested stack on its own"),
    ("AWS::FSx::FileSystem", ("add an entry to `storage` of the stack whose nodes mount it: "
     "`fsx-lustre` for a new one, `existing-fsx-lustre` for this one")),
    ("AWS::FSx::", "add an entry to `storage` of the stack whose nodes mount it"),
    ("AWS::EFS::", ("add an entry to `storage` of the stack whose nodes mount it: `efs` for a new "
     "one, `existing-efs` for this one")),
    ("AWS::EKS::FargateProfile", "pods run on the system node group"),
    ("AWS::EKS::", "create it after `up`, for the cluster of the stack"),
    ("AWS::AutoScaling::AutoScalingGroup", ("nodes that EKS does not manage are read with "
     "`./trainyard import --live CLUSTER`, when the cluster runs")),
    ("AWS::SageMaker::", ("a stack has no SageMaker: for its nodes, begin with `./trainyard init "
     "NAME --kind eks` or `--kind parallelcluster`")),
    ("AWS::PCS::", ("for a cluster of Slurm, begin with `./trainyard init NAME --kind "
     "parallelcluster`")),
    ("Custom::PclusterCluster", "import its `ClusterConfiguration`, as a file of its own"),
    ("AWS::EC2::NetworkAcl", ("the default network ACL allows all traffic: add yours to the VPC "
     "after `up`")),
    ("AWS::EC2::Instance", "a stack has no single instances: keep it in a stack of its own"),
    ("AWS::IAM::", ("keep the policy in a CloudFormation stack of its own, and name its ARN in "
     "`iam_policies`")),
    ("AWS::Batch::", "a stack has no objects of this type: create it after `up`"),
)  # fmt: skip
"""What to do about other resource types, by the beginning of their names."""


def what_to_do(kind: str) -> str:
    """Return what to do about an object of a type that no stack makes."""
    found = next((why for begin, why in _UNMADE if kind.startswith(begin)), "")
    return found or f"a stack creates no {kind}: keep it in a CloudFormation stack of its own"
