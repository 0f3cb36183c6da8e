"""Generate `keys.txt` from the models of botocore.

Run `python -m trainyard.importing.live.eks.generate` when the version of boto3 changes.
"""

from __future__ import annotations

from pathlib import Path

from trainyard.importing.live import roles
from trainyard.importing.live.shapes import Shapes, keys_of_shapes

DATA_FILE = Path(__file__).with_name("keys.txt")

_SHAPES: Shapes = {
    "DescribeCluster": ("eks", "DescribeCluster", "cluster"),
    "DescribeNodegroup": ("eks", "DescribeNodegroup", "nodegroup"),
    "DescribeAddon": ("eks", "DescribeAddon", "addon"),
    "DescribeAccessEntry": ("eks", "DescribeAccessEntry", "accessEntry"),
    "ListFargateProfiles": ("eks", "ListFargateProfiles", "fargateProfileNames"),
    "ListPodIdentityAssociations": ("eks", "ListPodIdentityAssociations", "associations"),
    "ListIdentityProviderConfigs": (
        "eks",
        "ListIdentityProviderConfigs",
        "identityProviderConfigs",
    ),
    "DescribeAutoScalingGroups": ("autoscaling", "DescribeAutoScalingGroups", "AutoScalingGroups"),
    "DescribeLaunchTemplateVersions": (
        "ec2",
        "DescribeLaunchTemplateVersions",
        "LaunchTemplateVersions",
    ),
    "DescribeLogGroups": ("logs", "DescribeLogGroups", "logGroups"),
    "DescribeFileSystems": ("fsx", "DescribeFileSystems", "FileSystems"),
    "DescribeCapacityReservations": ("ec2", "DescribeCapacityReservations", "CapacityReservations"),
}
_DATA = "DescribeLaunchTemplateVersions.LaunchTemplateData"
_ADDED = {
    **dict.fromkeys(("DescribeNodegroup", "DescribeAddon", "DescribeAccessEntry"), "sections"),
    **roles.KEYS,
    "DescribeFileSystems.SecurityGroupIds": "list",
    "DescribeFileSystems.OwnerStack": "text",
    # A backup or an update has the file system again.
    "DescribeFileSystems.AdministrativeActions": "anys",
    **{
        f"DescribeFileSystems.{kind}Configuration": "any"
        for kind in ("Ontap", "OpenZFS", "Windows")
    },
    "DescribeVpcs": "sections",
    "DescribeVpcs.VpcId": "text",
    "DescribeVpcs.Tags": "sections",
    "DescribeVpcs.Tags.Key": "text",
    "DescribeVpcs.Tags.Value": "text",
    "DescribeSubnets": "sections",
    "DescribeSubnets.SubnetId": "text",
    "DescribeSubnets.DefaultRoute": "text",
    # A summary: the user data can have secrets.
    f"{_DATA}.UserData": "section",
    f"{_DATA}.UserData.labels": "map",
    f"{_DATA}.UserData.taints": "sections",
    f"{_DATA}.UserData.taints.key": "text",
    f"{_DATA}.UserData.taints.value": "text",
    f"{_DATA}.UserData.taints.effect": "text",
    f"{_DATA}.UserData.localStorage": "text",
    f"{_DATA}.UserData.nodeConfig": "boolean",
    f"{_DATA}.UserData.scripts": "integer",
}
"""Keys that the program adds to the answers, or writes differently (`answers.py`)."""


if __name__ == "__main__":
    DATA_FILE.write_text(
        "# Fields of the answers about an EKS cluster, from the models of botocore.\n"
        + keys_of_shapes(_SHAPES, _ADDED),
        encoding="utf-8",
    )
