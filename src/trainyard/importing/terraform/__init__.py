"""Terraform: modules and resources in HCL or JSON.

What is read: `terraform-aws-modules/eks/aws` and its submodules, and resources of EKS and of
reservations of the provider `hashicorp/aws`. `unread.py` has what remains for others.
"""
