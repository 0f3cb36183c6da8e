"""Rendering of a plan as ParallelCluster cluster configuration, one module per section.

Keys are those of
https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html and of
`pcluster/schemas/cluster_schema.py` in the package `aws-parallelcluster`, version 3.16.1. The plan
decides the content of the sections. Values of resources that do not exist yet are a `Reference`.
"""
