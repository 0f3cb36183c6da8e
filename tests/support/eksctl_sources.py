"""eksctl configurations of other people, as tests import and lint them."""

from __future__ import annotations

from textwrap import indent

SYSTEM = "- {name: sys, instanceType: c5.2xlarge, desiredCapacity: 1}\n"
"""A managed node group for services."""
GPU = """\
- name: gpu
  instanceType: p5.48xlarge
  privateNetworking: true
  efaEnabled: true
  minSize: 0
  desiredCapacity: 2
  maxSize: 4
  availabilityZones: [us-west-2b]
  capacityReservation: {capacityReservationTarget: {capacityReservationID: cr-0123456789abcdef0}}
"""
"""A managed node group of an ODCR."""
ZONES = "availabilityZones: [us-west-2a, us-west-2b]\n"


def cluster_config(managed: str = SYSTEM + GPU, more: str = ZONES, version: str = "1.36") -> str:
    """Return a configuration with these managed node groups, and more at its end."""
    return (
        "apiVersion: eksctl.io/v1alpha5\n"
        "kind: ClusterConfig\n"
        f"metadata: {{name: train, region: us-west-2, version: '{version}'}}\n"
        "managedNodeGroups:\n"
        f"{indent(managed, '  ')}"
        f"{more}"
    )
