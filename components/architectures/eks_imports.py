"""What the EKS architecture imports when its control plane is registered, and not before.

The classes of the Kubernetes API take a third of a second to import, and nothing of the control
plane needs them, so that the engine and the package's plugin can begin with it meanwhile.
"""

LATER = (
    "components.architectures.device_plugins",
    "components.architectures.cluster_services",
    "components.architectures.cluster_storage",
)
"""Modules of components, in the order in which they are used."""
