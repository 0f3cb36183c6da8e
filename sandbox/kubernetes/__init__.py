"""The real Kubernetes of the sandbox: control planes, and the nodes that join them.

Each EKS cluster of the sandbox account gets an API server, etcd, controller manager and scheduler
of its own. Nodes are simulated by kwok, but they come, authenticate and leave as EC2 instances
of the account do.
"""
