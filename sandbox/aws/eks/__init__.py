"""EKS: clusters, managed node groups, add-ons and access entries; in place of moto's."""
