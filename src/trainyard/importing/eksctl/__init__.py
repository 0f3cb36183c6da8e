"""The `ClusterConfig` of eksctl, `eksctl.io/v1alpha5`.

https://docs.aws.amazon.com/eks/latest/eksctl/schema.html
"""
