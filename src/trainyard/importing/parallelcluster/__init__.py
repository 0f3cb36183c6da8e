"""The configuration of AWS ParallelCluster 3.

https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html
"""
