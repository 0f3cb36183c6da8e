"""Jobs and nodes of an EKS cluster."""
