"""The network architecture: a VPC for other stacks."""
