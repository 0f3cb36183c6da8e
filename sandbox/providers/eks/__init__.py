"""Emulation of pulumi-eks 4.4.0: the component `eks:index:Cluster`, on the emulated account.

Source: https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts`, `createCore`.
"""
