"""The huge pages that a node with EFA has, and what a pod should ask for of them.

The EKS accelerated AMIs carry the EFA installer. Where an instance has an EFA device, its
`efa-hugepages-reserve` sets 2 MiB pages aside when the instance starts: room for the two endpoints
of 110 MiB that libfabric may open for every CPU of the instance, and one page more. So the number
follows from the CPUs: `kubectl describe node` shows 21122Mi on p4de.24xlarge and 42242Mi on
p5.48xlarge.

Source:
    https://github.com/awslabs/libfabric-ci-scripts/blob/main/efa-check.sh
    https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/141, where AWS repeats the sum
    https://github.com/awslabs/amazon-eks-ami, templates/al2023/provisioners/install-efa.sh
"""

from __future__ import annotations

HUGE_PAGE_MIB = 2
_ENDPOINT_MIB = 110
_ENDPOINTS_PER_CPU = 2

RECOMMENDED_MIB = 5120
"""What a pod that uses EFA asks for in the examples of
https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html"""


def reserved_huge_pages(vcpus: int) -> int:
    """Return how many pages of 2 MiB an instance with EFA sets aside."""
    return vcpus * _ENDPOINTS_PER_CPU * _ENDPOINT_MIB // HUGE_PAGE_MIB + 1


def huge_pages_of_pod_mib(vcpus: int) -> int:
    """Return what one pod a node asks for, in MiB: as recommended, or what the node has.

    A p5.4xlarge has 16 CPUs and 3522 MiB: a pod that asks for 5120 MiB there waits for ever.
    """
    return min(RECOMMENDED_MIB, reserved_huge_pages(vcpus) * HUGE_PAGE_MIB)
