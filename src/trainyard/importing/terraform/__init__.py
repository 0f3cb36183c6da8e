"""Terraform: modules and resources in HCL or JSON.

What is read: `terraform-aws-modules/eks/aws` and its submodules, `terraform-aws-modules/vpc/aws`,
and resources of EKS, AWS Batch, VPC, FSx and reservations of the provider `hashicorp/aws`.
"""
