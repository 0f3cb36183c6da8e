"""Modules that the EKS architecture imports after it has registered the control plane.

The Kubernetes API classes take a third of a second to import and the control plane does not need
them. Meanwhile the engine and the plugin of pulumi-eks can start with the control plane.
"""

LATER = (
    "components.architectures.device_plugins",
    "components.architectures.cluster_services",
    "components.architectures.cluster_storage",
)
"""Component modules, in the order of use."""
