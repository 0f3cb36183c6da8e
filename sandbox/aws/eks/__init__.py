"""EKS: clusters, managed node groups, add-ons and access entries; replaces moto's."""
