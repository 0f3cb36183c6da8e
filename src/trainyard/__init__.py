"""Clusters for distributed training on AWS, from one stack file."""
