"""Stand-in for pulumi-eks 4.4.0: the component `eks:index:Cluster`, over the stand-in of aws.

Source: https://github.com/pulumi/pulumi-eks, `nodejs/eks/cluster/cluster.ts`, `createCore`.
"""
