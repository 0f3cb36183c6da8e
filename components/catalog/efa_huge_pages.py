"""Huge pages of a node with EFA, and how many a pod should request.

The EKS accelerated AMIs contain the EFA installer. On an instance with an EFA device, its
`efa-hugepages-reserve` reserves 2 MiB pages at boot: space for two endpoints of 110 MiB that
libfabric can open for every CPU, and one more page. The number therefore depends on the CPUs:
`kubectl describe node` shows 21122Mi on p4de.24xlarge and 42242Mi on p5.48xlarge.

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
"""Request of a pod that uses EFA in the examples of
https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html"""


def reserved_huge_pages(vcpus: int) -> int:
    """Return how many pages of 2 MiB an instance with EFA reserves."""
    return vcpus * _ENDPOINTS_PER_CPU * _ENDPOINT_MIB // HUGE_PAGE_MIB + 1


def huge_pages_of_pod_mib(vcpus: int) -> int:
    """Return the request of a pod that uses a whole node, in MiB: the recommendation or less.

    A p5.4xlarge has 16 CPUs and 3522 MiB: a pod that requests 5120 MiB there stays pending.
    """
    return min(RECOMMENDED_MIB, reserved_huge_pages(vcpus) * HUGE_PAGE_MIB)
