"""Clusters of Amazon EKS.

https://docs.aws.amazon.com/eks/latest/APIReference/API_Operations.html
"""
