"""The stand-in for ParallelCluster's CloudFormation provider, run by CloudFormation's functions.

What a cluster configuration must be is ParallelCluster's own word: its schema, validators and
update checks judge it here as they do in the real provider. What becomes of it is a sketch: a head
node, the static compute nodes, security groups, placement groups and shared storage in the
sandbox's account, so that its rules on capacity and placement apply. Nothing boots, no job runs.
"""
