"""The real Kubernetes of the sandbox: control planes, and the nodes that join them.

Each EKS cluster of the sandbox account has its own API server, etcd, controller manager and
scheduler. kwok simulates the nodes, but they join, authenticate and leave like EC2 instances of the
account.
"""
