"""Emulated provider plugins for those not built from package registries: eks, kubernetes.

They implement the protocol of the Pulumi engine. The engine, the program, the AWS provider and the
Kubernetes API server are real. Unsupported features are errors that name the feature.
"""
