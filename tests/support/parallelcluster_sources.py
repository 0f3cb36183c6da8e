"""ParallelCluster configurations of other people, as tests import and lint them."""

from __future__ import annotations

from textwrap import indent

QUEUE = """\
- Name: gpu
  CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
  Networking: {SubnetIds: [subnet-0123456789abcdef1]}
  ComputeResources:
    - {Name: p5, InstanceType: p5.48xlarge, MinCount: 2, MaxCount: 2, Efa: {Enabled: true}}
"""
"""A queue of an ODCR."""


def cluster(queues: str = QUEUE, more: str = "", head: str = "") -> str:
    """Return a configuration with these entries of `SlurmQueues`, and more at its end."""
    return (
        "Region: us-west-2\n"
        "Image: {Os: alinux2023}\n"
        "HeadNode:\n"
        "  InstanceType: m5.8xlarge\n"
        "  Networking: {SubnetId: subnet-0123456789abcdef0}\n"
        f"{indent(head, '  ')}"
        "Scheduling:\n"
        "  Scheduler: slurm\n"
        "  SlurmQueues:\n"
        f"{indent(queues, '    ')}"
        f"{more}"
    )
