"""Maximum pods per node.

Sources:
    https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/eni_max_pods.go
    (interfaces of the default network card * (IPv4 addresses each - 1) + 2) and
    https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html (110 or 250 pods)
"""

from __future__ import annotations

from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.compute.interface_plan import InterfacePlan

# Pods on the host network, such as kube-proxy and VPC CNI, need no address of their own.
_PODS_WITHOUT_ADDRESS = 2
_MANY_VCPUS = 30
_MOST_PODS = 250
_MOST_PODS_OF_SMALL_TYPES = 110


def plan_maximum_pods(instance_type: InstanceType, interfaces: InterfacePlan | None) -> int | None:
    """Return the maximum number of pods on a node with EFA interfaces; None without EFA.

    VPC CNI uses only interfaces of card 0 for pods, and an `efa-only` interface there takes a slot
    without an address. The table in the AMI ignores this: it would allow 100 pods on a p5.48xlarge,
    49 of which would never get an address.
    """
    if interfaces is None:
        return None
    with_addresses = _interfaces_for_pods(instance_type, interfaces)
    fitting = with_addresses * (instance_type.ipv4_addresses_per_interface - 1)
    limit = _MOST_PODS if instance_type.vcpus > _MANY_VCPUS else _MOST_PODS_OF_SMALL_TYPES
    return min(fitting + _PODS_WITHOUT_ADDRESS, limit)


def pods_of_addresses(instance_type: InstanceType) -> int:
    """Return the maximum number of pods on a node without EFA, from the table in the AMI."""
    interfaces = instance_type.network_cards[0].maximum_interfaces
    return interfaces * (instance_type.ipv4_addresses_per_interface - 1) + _PODS_WITHOUT_ADDRESS


def _interfaces_for_pods(instance_type: InstanceType, interfaces: InterfacePlan) -> int:
    """Return the number of card 0 slots for interfaces with addresses, used or free."""
    efa_only = sum(i.network_card_index == 0 and not i.takes_address for i in interfaces.interfaces)
    return instance_type.network_cards[0].maximum_interfaces - efa_only
