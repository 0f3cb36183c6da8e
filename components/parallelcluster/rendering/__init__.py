"""The cluster file of ParallelCluster, from a plan: one module a section.

Keys are those of
https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html and of
`pcluster/schemas/cluster_schema.py` in the package `aws-parallelcluster`, version 3.16.1. Nothing
is decided here: what is in a section follows from the plan, and values that only the account
knows are a `Reference`.
"""
