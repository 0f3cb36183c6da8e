"""Add-ons of an EKS cluster, one module each. None of them imports Pulumi."""
