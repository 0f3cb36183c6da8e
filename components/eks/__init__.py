"""Amazon EKS: control plane, node groups and node authorization."""
