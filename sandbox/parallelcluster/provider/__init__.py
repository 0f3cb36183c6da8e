"""Emulation of ParallelCluster's CloudFormation provider, run by CloudFormation's functions.

ParallelCluster's own schema, validators and update checks validate a cluster configuration, as in
the real provider. The created cluster is simplified: a head node, the static compute nodes,
security groups, placement groups and shared storage in the sandbox's account, so that its rules on
capacity and placement apply. No instance boots, and no job runs.
"""
