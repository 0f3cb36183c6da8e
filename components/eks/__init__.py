"""Amazon EKS: control plane, node groups and who may join."""
